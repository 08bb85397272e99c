# SPDX-License-Identifier: Apache-2.0
# bench/suite/rivals.py — the helper process of `tilewright bench --rivals`: PyTorch and Triton, one request per line.
#
# It reads JSON objects from its input and answers each with one JSON object on its output:
#   {"do": "versions"}                                          -> {"torch": "2.11.0" or null, "triton": ..., "problem": "..."}
#   {"do": "prepare", "op": .., "way": .., "shape": [..], "dtype": .., "device": .., "file": "kernel.py"}
#                                                               -> {"error": .., "first_seconds": .., "bytes_moved": .., "kernels": ..}
#                                                                  or {"missing": ..} or {"problem": ..}
#   {"do": "call", "function": "torch.nn.functional.gelu", "inputs": [{"file": .., "dtype": ..}], "outputs": [files], "device": ..}
#                                                               -> as prepare; what the function returns is in the files
#   {"do": "prepare_mlp", "op": "mlp step", "way": .., "shape": [width, layers, batch], "dtype": .., "device": .., "steps": n}
#                                                               -> as prepare
#   {"do": "measure", "id": n, "seconds": s, "warmups": n, "trials": n} -> {"samples": [..], "host_seconds": ..}
#   {"do": "quit"}
import importlib.util
import json
import math
import os
import sys
import time

# What libraries print must not get between the answers.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

prepared = {}  # of the work in hand alone: earlier inputs would fill the memory
work_in_hand = None


def answer(**fields):
    answers.write(json.dumps(fields) + "\n")
    answers.flush()


def version_of(name):
    try:
        return __import__(name).__version__, ""
    except Exception as problem:  # a broken installation is as good as none, but says why
        return None, f"{type(problem).__name__}: {problem}"


def inputs_of(request):
    import torch
    shape, device = request["shape"], request["device"]
    dtype = getattr(torch, request["dtype"])
    torch.manual_seed(1)
    normal = lambda *sizes: torch.randn(*sizes, device=device, dtype=dtype)
    op = request["op"]
    if op == "matmul":
        m, n, k = shape
        return [normal(m, k), normal(k, n)], torch.empty(m, n, device=device, dtype=dtype)
    x = normal(*shape)
    out = torch.empty_like(x)
    if op == "add":
        return [x, normal(*shape)], out
    if op == "attention":
        return [x, normal(*shape), normal(*shape)], out
    if op == "layernorm":
        return [x, normal(shape[-1]), normal(shape[-1])], out
    if op == "rmsnorm":
        return [x, normal(shape[-1])], out
    if op == "cross_entropy":
        target = torch.arange(shape[0], device=device) * 7919 % shape[1]
        return [x, target], torch.empty(shape[0], device=device, dtype=torch.float32)
    return [x], out


# ---- The operations as chains of tensor operations.

def manual_of(op):
    import torch

    def gelu(x):
        return 0.5 * x * (1 + torch.tanh(0.79788456 * (x + 0.044715 * x * x * x)))

    def softmax(x):
        power = torch.exp(x - x.max(dim=-1, keepdim=True)[0])
        return power / power.sum(dim=-1, keepdim=True)

    def layernorm(x, weight, bias):
        mean = x.mean(dim=-1, keepdim=True)
        centred = x - mean
        return centred / torch.sqrt((centred * centred).mean(dim=-1, keepdim=True) + 1e-5) * weight + bias

    def rmsnorm(x, weight):
        return x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + 1e-5) * weight

    def cross_entropy(x, target):
        return torch.logsumexp(x.float(), dim=-1) - x.float().gather(1, target[:, None])[:, 0]

    def dropout(x):
        return torch.where(torch.rand_like(x) > 0.25, x / 0.75, 0.0)

    def attention(q, k, v):
        return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v

    def add(x, y):
        return x + y

    def matmul(a, b):
        return a @ b
    return locals()[op]


def builtin_of(op):
    import torch
    import torch.nn.functional as F
    return {
        "add": torch.add,
        "attention": F.scaled_dot_product_attention,
        "cross_entropy": lambda x, target: F.cross_entropy(x, target, reduction="none"),
        "dropout": lambda x: F.dropout(x, 0.25),
        "gelu": lambda x: F.gelu(x, approximate="tanh"),
        "layernorm": lambda x, weight, bias: F.layer_norm(x, x.shape[-1:], weight, bias),
        "matmul": torch.matmul,
        "rmsnorm": lambda x, weight: F.rms_norm(x, x.shape[-1:], weight, 1e-5),
        "softmax": lambda x: torch.softmax(x, dim=-1),
    }[op]


def warps_for(columns):
    return 4 if columns < 2048 else 8 if columns < 4096 else 16 if columns < 65536 else 32


# The same kernel text that Tilewright compiles, with the same blocks and warps (attention: 8 warps, as Triton's own tutorial has it).
def triton_of(request, inputs, out):
    import triton
    spec = importlib.util.spec_from_file_location("tilewright_rival_kernel", request["file"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    op, shape = request["op"], request["shape"]
    kernel = getattr(module, op + "_kernel")
    if op == "matmul":
        (m, n, k), wide = shape, request["dtype"] != "float32"
        block_m, block_n, block_k, warps = (64, 64, 32, 4)
        if wide:
            block_m, block_n, block_k, warps = (128, 256, 64, 8) if m * n >= 2048 * 2048 else (128, 128, 64, 4)
        grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
        return lambda: kernel[grid](*inputs, out, m, n, k, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
                                    GROUP=8, num_warps=warps)
    if op == "attention":
        batch, heads, length, head = shape
        grid = (triton.cdiv(length, 128), batch * heads)
        return lambda: kernel[grid](*inputs, out, length, 1 / math.sqrt(head), HEAD=head, BLOCK_M=128, BLOCK_N=64,
                                    num_warps=8)
    rows, columns = shape
    count = rows * columns
    if op in ("add", "gelu"):
        return lambda: kernel[(triton.cdiv(count, 1024),)](*inputs, out, count, BLOCK=1024)
    if op == "dropout":
        return lambda: kernel[(triton.cdiv(count, 1024),)](*inputs, out, count, 0.25, 123, BLOCK=1024)
    block, warps = triton.next_power_of_2(columns), warps_for(columns)
    if op == "cross_entropy":
        block = min(block, 4096)
        return lambda: kernel[(rows,)](*inputs, out, columns, BLOCK=block, num_warps=warps_for(block))
    if op == "softmax":
        return lambda: kernel[(rows,)](*inputs, out, columns, BLOCK=block, num_warps=warps)
    return lambda: kernel[(rows,)](*inputs, out, columns, 1e-5, BLOCK=block, num_warps=warps)


# What a chain of tensor operations moves: each reads its inputs and writes its results once; views move nothing.
def traffic_of(run):
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    def tensors_in(value):
        if isinstance(value, torch.Tensor):
            return [value]
        if isinstance(value, (list, tuple)):
            return [t for item in value for t in tensors_in(item)]
        return []

    def bytes_of(tensor):  # an expanded tensor is read once
        return min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes())

    class Traffic(TorchDispatchMode):
        bytes_moved = kernels = 0

        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            result = function(*arguments, **(options or {}))
            read, written = tensors_in([*arguments, *(options or {}).values()]), tensors_in(result)
            places = {t.untyped_storage().data_ptr() for t in read}
            if any(t.untyped_storage().data_ptr() not in places for t in written):
                self.bytes_moved += sum(bytes_of(t) for t in read + written)
                self.kernels += 1
            return result
    with Traffic() as traffic:
        run()
    return {"bytes_moved": traffic.bytes_moved, "kernels": traffic.kernels}


# Triton's kernel moves inputs and output once; what torch.compile fuses is not known.
def moved_by(way, run, inputs, out):
    if way == "torch.compile":
        return {}
    if way == "triton":
        return {"bytes_moved": sum(t.numel() * t.element_size() for t in [*inputs, out]), "kernels": 1}
    try:
        return traffic_of(run)
    except ImportError:  # PyTorch before 2.0 cannot be watched
        return {}


def error_of(op, inputs, result):
    import torch
    if op == "dropout":
        return None
    # A part of the rows is enough, and float64 of everything may not fit.
    wide = [t.double() if t.is_floating_point() else t for t in inputs]
    if op == "matmul":
        rows = slice(0, min(64, wide[0].shape[0]))
        expected, got = wide[0][rows] @ wide[1], result[rows]
    elif op == "attention":
        expected, got = manual_of(op)(*[t[:1, :1] for t in wide]), result[:1, :1]
    else:
        rows = slice(0, min(64, wide[0].shape[0]))
        is_rowwise = lambda t: t.dim() > 1 or not t.is_floating_point()  # weights are not
        expected = manual_of(op)(*[t[rows] if is_rowwise(t) else t for t in wide])
        got = result[rows]
    return ((got.double() - expected).abs().max() / expected.abs().max()).item()


def prepare(request):
    import torch
    if request["device"].startswith("cuda") and not torch.cuda.is_available():
        return {"missing": "this PyTorch has no CUDA"}
    op, way = request["op"], request["way"]
    global work_in_hand
    work = [request[key] for key in ("op", "shape", "dtype", "device")]
    if work != work_in_hand:
        prepared.clear()
        work_in_hand = work
    inputs, out = inputs_of(request)
    begin = time.perf_counter()
    if way == "triton":
        if not request["device"].startswith("cuda"):
            return {"missing": "Triton runs on a GPU only"}
        launch = triton_of(request, inputs, out)
        run = lambda: (launch(), out)[1]
    else:
        function = builtin_of(op) if way == "torch builtin" else manual_of(op)
        if way == "torch.compile":
            # Each size as if it were the only one: later ones would be compiled for every size, and slower.
            torch._dynamo.reset()
            function = torch.compile(function, dynamic=False)
        run = lambda: function(*inputs)
    with torch.no_grad():
        result = run()
    synchronize(request["device"])
    first = time.perf_counter() - begin
    number = len(prepared)
    prepared[number] = (run, request["device"])
    with torch.no_grad():
        moved = moved_by(way, run, inputs, out)
    return {"id": number, "first_seconds": first, "error": error_of(op, inputs, result), **moved}


# Layers of linear and GELU, the mean as loss: forward, backward, or a step of AdamW.
def prepare_mlp(request):
    import torch
    device = request["device"]
    if device.startswith("cuda") and not torch.cuda.is_available():
        return {"missing": "this PyTorch has no CUDA"}
    global work_in_hand
    work = [request[key] for key in ("op", "shape", "dtype", "device", "steps")]
    if work != work_in_hand:
        prepared.clear()
        work_in_hand = work
    width, layers, batch = request["shape"]
    dtype = getattr(torch, request["dtype"])
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    model = torch.nn.Sequential(*[part for _ in range(layers) for part in (torch.nn.Linear(width, width), torch.nn.GELU())])
    model = model.to(device=device, dtype=dtype)
    x = torch.randn(batch, width, device=device, dtype=dtype)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-3)
    function, phase = model, request["op"].split()[-1]
    if request["way"] != "torch eager":
        torch._dynamo.reset()
        mode = request["way"].removeprefix("torch.compile").strip()
        function = torch.compile(model, mode=mode or "default", dynamic=False)

    def step():
        if phase == "forward":
            with torch.no_grad():
                return function(x).mean()
        model.zero_grad(set_to_none=True)
        loss = function(x).mean()
        loss.backward()
        if phase == "step":
            adam.step()
        return loss

    def run():
        with torch.enable_grad():
            for _ in range(request["steps"]):
                loss = step()
        return loss
    begin = time.perf_counter()
    run()
    synchronize(device)
    number = len(prepared)
    prepared[number] = (run, device)
    return {"id": number, "first_seconds": time.perf_counter() - begin}


# A function of the user's choice, on the tensors of a kernel of theirs.
def call(request):
    import numpy
    import torch
    device = request["device"]
    if device.startswith("cuda") and not torch.cuda.is_available():
        return {"missing": "this PyTorch has no CUDA"}
    function = eval(request["function"], {"torch": torch, "F": torch.nn.functional, "math": math})
    inputs = [torch.from_numpy(numpy.load(each["file"])).to(device=device, dtype=getattr(torch, each["dtype"]))
              for each in request["inputs"]]
    prepared.clear()
    begin = time.perf_counter()
    with torch.no_grad():
        results = function(*inputs)
    synchronize(device)
    first = time.perf_counter() - begin
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    if len(results) < len(request["outputs"]):
        raise ValueError(f"it returns {len(results)} tensors, and the kernel writes {len(request['outputs'])}")
    for result, file in zip(results, request["outputs"]):
        wide = torch.float64 if result.is_floating_point() else torch.int64
        numpy.save(file, result.detach().cpu().to(wide).numpy())
    prepared[0] = (lambda: function(*inputs), device)
    return {"id": 0, "first_seconds": first}


def synchronize(device):
    if device.startswith("cuda"):
        import torch
        torch.cuda.synchronize()


def events(run, count, flush):
    import torch
    starts = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
    stops = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
    host = []
    for start, stop in zip(starts, stops):
        flush.zero_()
        start.record()
        begin = time.perf_counter()
        run()
        host.append(time.perf_counter() - begin)
        stop.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) * 1e-3 for a, b in zip(starts, stops)], sorted(host)[len(host) // 2]


def wall(run, count, device):
    samples = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        synchronize(device)
        samples.append(time.perf_counter() - begin)
    return samples, 0


def measure(request):
    import torch
    run, device = prepared[request["id"]]
    by_events = device.startswith("cuda") and request["clock"] != "wall"
    flush = torch.empty(256 << 20, dtype=torch.int8, device=device) if by_events else None
    take = (lambda n: events(run, n, flush)) if by_events else (lambda n: wall(run, n, device))
    with torch.no_grad():
        first, _ = wall(run, max(request["warmups"], 1) if request["warmups"] >= 0 else 3, device)
        if request["trials"] > 0:
            samples, host = take(request["trials"])
        else:
            typical = max(min(first), 1e-6)
            samples, host = take(int(min(max(request["seconds"] / typical, 1), 10000)))
    return {"samples": samples, "host_seconds": host, "clock": "device" if by_events else "wall"}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "quit":
                return
            if request["do"] == "versions":
                torch, problem = version_of("torch")
                answer(torch=torch, triton=version_of("triton")[0], problem=problem)
            else:
                answer(**{"call": call, "prepare": prepare, "prepare_mlp": prepare_mlp, "measure": measure}[request["do"]](request))
        except Exception as problem:
            text = str(problem).strip().split("\n")[0]
            answer(problem=f"{type(problem).__name__}: {text}")


main()
