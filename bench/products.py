#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/products.py — Triton's own matmul and attention tutorials, unmodified: Triton, Tilewright and the libraries in turns.
"""Takes the kernels of tutorials 03 and 06 as they are, with the configs that they list, compiles every config with
`tilewright compile`, checks the results, and times the best config of each side in turns with cuBLAS or cuDNN.

    products.py --tutorials DIR --tilewright bin/tilewright [--only matmul,attention,backward] [--json out.json]

DIR holds Triton's tutorial files (python/tutorials of its repository); nothing of them is part of this repository.
Needs a GPU and Python with torch and Triton."""
import argparse
import ast
import concurrent.futures
import ctypes
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    import torch
    import torch.nn.functional as F
    import triton  # of the tutorials
except ImportError as problem:
    sys.exit(f"products.py: {problem}; it needs Python with torch and Triton")

from public.ours import Driver, first_line, launch_facts, launch_sizes, C_TYPES

MATMULS = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 16384), (8192, 8192, 512), (4096, 14336, 4096),
           (64, 8192, 8192))
ATTENTION = tuple((n, d, c) for n in (4096, 16384) for d in (128, 64) for c in (False, True))


def tutorial(folder, name):
    """The definitions of a tutorial without what it runs when it is loaded."""
    tree = ast.parse((folder / f"{name}.py").read_text())
    runs = ("torch.rand", "torch_output", "Benchmark", "triton_output", "allclose", "__main__")

    def is_definition(node):
        if isinstance(node, ast.FunctionDef):
            return not any("perf_report" in ast.unparse(d) or "pytest" in ast.unparse(d) for d in node.decorator_list)
        return isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef, ast.Assign, ast.If)) and not any(r in ast.unparse(node) for r in runs)

    tree.body = [node for node in tree.body if is_definition(node)]
    path = pathlib.Path(tempfile.mkdtemp()) / f"tutorial_{name[:2]}.py"
    path.write_text(ast.unparse(tree))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


class Kernel:
    """One config of a kernel, compiled by tilewright."""

    driver, processors = None, 0

    def __init__(self, command, place, signature, warps, stages):
        self.place, self.name = place, place.split(":")[1]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([command, "compile", place, "--signature", signature, "--target", "sm_90a", "--emit", "cubin,header", "--json",
                                   "--num-warps", str(warps), "--num-stages", str(stages), "-o", folder], capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise RuntimeError(first_line(done.stderr))
            row = json.loads(done.stdout)["compiled"][0]
            files = row.pop("emitted")
            self.facts = {n: row[n] for n in ("threads", "registers", "spill_bytes", "shared_bytes")}
            self.facts |= launch_facts(pathlib.Path(files["header"]).read_text(), self.name)
            self.code = pathlib.Path(files["cubin"]).read_bytes()
        self.key = f"{place} {signature} {warps} {stages}"

    def __call__(self, grid, arguments):
        """A call without arguments."""
        function = Kernel.driver.function(self.key, self.facts, self.code)
        values = []
        for name, kind in self.facts["parameters"]:
            value = arguments[name] if not name.startswith("grid.") else grid["xyz".index(name[-1])]
            if hasattr(value, "data_ptr"):
                value = value.data_ptr()
            values.append(ctypes.c_uint64(value) if kind.endswith("*") else C_TYPES.get(kind, ctypes.c_int32)(value))
        pointers = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(v) for v in values))
        sizes = launch_sizes(self.facts, grid, Kernel.processors)
        launch, shared, check = Kernel.driver.cuda.cuLaunchKernel, self.facts["dynamic_shared"], Kernel.driver.check

        def run(keep=(values, arguments)):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            code = launch(function, *sizes, shared, stream, pointers, None)
            if code:
                check(code, "cuLaunchKernel")

        return run


def compile_all(command, jobs):
    """jobs: label -> (place, signature, warps, stages); kernels by label, and what failed."""
    kernels, failed = {}, {}
    with concurrent.futures.ThreadPoolExecutor(14) as pool:
        for label, future in [(label, pool.submit(Kernel, command, *job)) for label, job in jobs.items()]:
            try:
                kernels[label] = future.result()
            except Exception as problem:
                failed[label] = str(problem)[:200]
    return kernels, failed


def elapsed(run, count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / count


def repeated(run, count):
    """`count` runs as one CUDA graph: what a host needs for a launch is not what is compared."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            run()
    return graph.replay


def contest(ways, seconds=0.6):
    """Milliseconds of each way, rounds in turns: {name: list}."""
    for run in ways.values():
        run()
    torch.cuda.synchronize()
    once = {name: max(elapsed(run, 2), 1e-3) for name, run in ways.items()}
    inner = {name: max(1, min(200, int(8 / t))) for name, t in once.items()}
    calls = {name: repeated(run, inner[name]) for name, run in ways.items()}
    rounds = max(8, int(seconds * 1000 / sum(inner[n] * once[n] for n in ways)))
    times = {name: [] for name in ways}
    for turn in range(rounds + 2):
        for name in (list(ways) if turn % 2 == 0 else reversed(list(ways))):
            t = elapsed(calls[name], 1) / inner[name]
            if turn >= 2:
                times[name].append(t)
    return times


def error_of(got, want):
    return float((got.double() - want.double()).norm() / want.double().norm())


def best_of(kernels, make, check):
    """The fastest right config: label and call, and what was wrong. The GPU's clock falls while it works: the best few are timed
    in turns once more."""
    found, wrong = [], {}
    for label, kernel in kernels.items():
        try:
            run = make(label, kernel)
            run()
            torch.cuda.synchronize()
            problem = check()
            if problem:
                wrong[label] = problem
                continue
            run()
            t = min(elapsed(run, 3) for _ in range(2))
        except Exception as error:
            wrong[label] = str(error)[:120]
            continue
        found.append((t, label, run))
    found.sort(key=lambda item: item[0])
    if not found:
        return (None, None), wrong
    runs = {label: run for _, label, run in found[:4]}
    times = {label: statistics.median(ts) for label, ts in contest(runs, 0.3).items()}
    label = min(times, key=times.get)
    return (label, runs[label]), wrong


def config_text(config):
    return " ".join(f"{k.replace('BLOCK_SIZE_', 'B').replace('BLOCK_', 'B')}={v}" for k, v in config.kwargs.items()) + f" w={config.num_warps} s={config.num_stages}"


class Report:
    def __init__(self, path):
        self.rows, self.path = [], path

    def add(self, work, flop, rounds, **more):
        times = {name: statistics.median(ts) for name, ts in rounds.items()}
        spread = {name: sorted(a / b for a, b in zip(ts, rounds["ours"])) for name, ts in rounds.items() if name != "ours" and "ours" in rounds}
        more |= {f"spread_{name}": [r[len(r) // 10], r[len(r) * 9 // 10]] for name, r in spread.items()}
        row = {"work": work, **{f"{n}_tflops": flop / t * 1e-9 for n, t in times.items()}, **more}
        self.rows.append(row)
        text = "  ".join(f"{n} {flop / t * 1e-9:7.1f}" for n, t in times.items())
        rivals = {n: t for n, t in times.items() if n != "ours"}
        ratios = "  ".join(f"/{n} {t / times['ours']:.3f}" for n, t in rivals.items()) if "ours" in times else "no right config of ours"
        print(f"{work:34s} {text}   {ratios}   {more.get('config', '')}", flush=True)
        if self.path:
            pathlib.Path(self.path).write_text(json.dumps(self.rows, indent=1))


def matmuls(options, report):
    module = tutorial(options.tutorials, "03-matrix-multiplication")
    place = f"{options.tutorials}/03-matrix-multiplication.py:matmul_kernel"
    configs = {config_text(c): c for c in module.get_cuda_autotune_config()}
    jobs = {}
    for label, c in configs.items():
        k = c.kwargs
        blocks = f"{k['BLOCK_SIZE_M']}, {k['BLOCK_SIZE_N']}, {k['BLOCK_SIZE_K']}, {k['GROUP_SIZE_M']}, ''"
        jobs[label] = (place, f"*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, 1, i32:16, 1, i32:16, 1, {blocks}", c.num_warps, c.num_stages)
    kernels, failed = compile_all(options.tilewright, jobs)
    for label, problem in failed.items():
        print(f"  not compiled: {label}: {problem}", flush=True)
    for m, n, k in MATMULS:
        if time.monotonic() > options.deadline:
            break
        a, b = (torch.randn(s, device="cuda", dtype=torch.float16) for s in ((m, k), (k, n)))
        want = torch.matmul(a, b)
        c = torch.empty_like(want)
        arguments = dict(a_ptr=a, b_ptr=b, c_ptr=c, M=m, N=n, K=k, stride_am=k, stride_bk=n, stride_cm=n)

        def make(label, kernel):
            c.fill_(float("nan"))
            bm, bn = (configs[label].kwargs[f"BLOCK_SIZE_{x}"] for x in "MN")
            return kernel((-(-m // bm) * -(-n // bn), 1, 1), arguments)

        def check():
            error = error_of(c, want)
            return "" if error < 2e-3 else f"error {error:.2e}"

        (label, run), wrong = best_of(kernels, make, check)
        for config, problem in wrong.items():
            print(f"  WRONG {m}x{n}x{k} {config}: {problem}", flush=True)
        ways = {"cublas": lambda: torch.matmul(a, b, out=c)}
        if not options.no_triton:
            ways["triton"] = lambda: module.matmul(a, b)
        if run:
            ways["ours"] = run
        report.add(f"03 f16 {m}x{n}x{k}", 2.0 * m * n * k, contest(ways), config=label, wrong=len(wrong))


def attention(options, report):
    module = tutorial(options.tutorials, "06-fused-attention")
    place = f"{options.tutorials}/06-fused-attention.py:_attn_fwd"
    listed = {config_text(c): c for c in module._attn_fwd.configs}
    batch, heads = 4, 16
    for n, d, causal in ATTENTION:
        if time.monotonic() > options.deadline:
            break
        configs = {t: c for t, c in listed.items() if c.kwargs["BLOCK_N"] <= d and (not causal or c.kwargs["BLOCK_M"] >= c.kwargs["BLOCK_N"])}
        stage = 3 if causal else 1
        jobs = {label: (place, f"fp32, *fp32:16, i32, i32:16, *fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, {d}, {c.kwargs['BLOCK_M']}, "
                        f"{c.kwargs['BLOCK_N']}, false, {stage}, false, true", c.num_warps, c.num_stages) for label, c in configs.items()}
        kernels, failed = compile_all(options.tilewright, jobs)
        for label, problem in failed.items():
            print(f"  not compiled: {label}: {problem}", flush=True)
        q, k, v = (torch.randn((batch, heads, n, d), device="cuda", dtype=torch.float16) for _ in range(3))
        scale = 1.3 / d**0.5
        want = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)
        out = torch.empty_like(q)
        sums = torch.empty((batch, heads, n), device="cuda", dtype=torch.float32)
        arguments = dict(sm_scale=scale, M=sums, Z=batch, H=heads, desc_q=q, desc_k=k, desc_v=v, desc_o=out, N_CTX=n)

        def make(label, kernel):
            out.fill_(float("nan"))
            return kernel((-(-n // configs[label].kwargs["BLOCK_M"]), batch * heads, 1), arguments)

        def check():
            error = error_of(out, want)
            return "" if error < 4e-3 else f"error {error:.2e}"

        (label, run), wrong = best_of(kernels, make, check)
        for config, problem in wrong.items():
            print(f"  WRONG {n} {d} {causal} {config}: {problem}", flush=True)

        def cudnn():
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
                F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)

        ways = {"cudnn": cudnn}
        if not options.no_triton:
            ways["triton"] = lambda: module.attention(q, k, v, causal, scale, False)
        if run:
            ways["ours"] = run
        flop = 4.0 * batch * heads * n * n * d * (0.5 if causal else 1)
        report.add(f"06 f16 forward {n} hd{d} {'causal' if causal else 'full'}", flop, contest(ways), config=label, wrong=len(wrong))


def backward(options, report):
    """The one kernel with the gradients, with the blocks that the tutorial has."""
    module = tutorial(options.tutorials, "06-fused-attention")
    place = f"{options.tutorials}/06-fused-attention.py:_attn_bwd"
    batch, heads = 4, 16
    for n, d, causal in ATTENTION:
        if time.monotonic() > options.deadline:
            break
        types = "*fp16:16, *fp16:16, *fp16:16, fp32, *fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, *fp32:16, i32:16, i32:16, i32:16, 1, i32:16, i32:16"
        kernels, failed = compile_all(options.tilewright, {"": (place, f"{types}, 32, 128, 128, 32, 2, {d}, {'true' if causal else 'false'}", 4, 5)})
        for problem in failed.values():
            print(f"  not compiled: {problem}", flush=True)
        q, k, v, o, do = (torch.randn((batch, heads, n, d), device="cuda", dtype=torch.float16) for _ in range(5))
        m, delta = (torch.randn((batch, heads, n), device="cuda", dtype=torch.float32) for _ in range(2))
        m += 20  # the logarithms of sums are large
        k *= 0.05
        want, got = ([torch.empty_like(q) for _ in range(3)] for _ in range(2))
        grid = (n // 128, 1, batch * heads)

        def triton(to=want):
            module._attn_bwd[grid](q, k, v, 0.5, do, *to, m, delta, *q.stride(), heads, n, BLOCK_M1=32, BLOCK_N1=128, BLOCK_M2=128,
                                   BLOCK_N2=32, BLK_SLICE_FACTOR=2, HEAD_DIM=d, num_warps=4, num_stages=5, CAUSAL=causal)

        triton()
        arguments = dict(Q=q, K=k, V=v, sm_scale=0.5, DO=do, DQ=got[0], DK=got[1], DV=got[2], M=m, D=delta, stride_z=q.stride(0),
                         stride_h=q.stride(1), stride_tok=q.stride(2), H=heads, N_CTX=n)

        def make(label, kernel):
            for g in got:
                g.fill_(float("nan"))
            return kernel(grid, arguments)

        def check():
            worst = max(error_of(g, w) for g, w in zip(got, want))
            return "" if worst < 4e-3 else f"error {worst:.2e}"

        (_, run), wrong = best_of(kernels, make, check)
        for problem in wrong.values():
            print(f"  WRONG backward {n} {d} {causal}: {problem}", flush=True)
        ways = {"triton": triton} | ({"ours": run} if run else {})
        report.add(f"06 f16 backward {n} hd{d} {'causal' if causal else 'full'}", 10.0 * batch * heads * n * n * d * (0.5 if causal else 1), contest(ways))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutorials", required=True, type=pathlib.Path)
    parser.add_argument("--tilewright", default="tilewright")
    parser.add_argument("--only", default="matmul,attention,backward")
    parser.add_argument("--no-triton", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--budget", type=float, default=420)
    options = parser.parse_args()
    options.deadline = time.monotonic() + options.budget
    missing = [n for n in ("03-matrix-multiplication.py", "06-fused-attention.py") if not (options.tutorials / n).is_file()]
    if missing:
        parser.error(f"--tutorials: '{options.tutorials}' has no {missing[0]}; give the folder python/tutorials of Triton's repository")
    unknown = set(options.only.split(",")) - {"matmul", "attention", "backward"}
    if unknown:
        parser.error(f"--only: there is no '{sorted(unknown)[0]}'; there are matmul, attention, backward")
    if not torch.cuda.is_available():
        sys.exit("products.py: no GPU")
    torch.manual_seed(0)
    torch.empty(1, device="cuda")
    Kernel.driver, Kernel.processors = Driver(), torch.cuda.get_device_properties(0).multi_processor_count
    report = Report(options.json)
    for name, run in (("matmul", matmuls), ("attention", attention), ("backward", backward)):
        if name in options.only.split(","):
            run(options, report)


if __name__ == "__main__":
    main()
