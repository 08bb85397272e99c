#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/rivals.py — the works of tile_kernels.cpp by Triton (from the same kernel text), PyTorch and torch.compile.
#
#   rivals.py [--device cuda|cpu] [--quick] [--seconds S] [--json FILE]
# On a GPU times are medians of device events with the cache flushed between repetitions; on a CPU wall-clock medians,
# into a new output and (as tile_kernels does) into an existing one. GB/s count every input and output once; matrix products
# (--only matmul for them alone) are in GFLOP/s.
import argparse
import json
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels"))

WORKS = [
    ("gelu", "f32", 16384, 16384), ("gelu", "bf16", 16384, 16384),
    *[("softmax", d, r, c) for d in ("f32", "bf16") for r, c in (
        (262144, 256), (262144, 781), (262144, 1024), (65536, 4096), (32768, 8192), (16384, 16384), (8192, 32768), (2048, 131072))],
    *[("layer_norm", "bf16", r, c) for r, c in ((65536, 1024), (16384, 4096), (8192, 8192))],
]
CPU_WORKS = [
    ("gelu", "f32", 8192, 4096), ("gelu", "bf16", 8192, 4096), ("softmax", "f32", 131072, 256), ("softmax", "f32", 32768, 781),
    ("softmax", "f32", 8192, 4096), ("softmax", "f32", 256, 131072), ("softmax", "bf16", 8192, 4096),
    ("layer_norm", "f32", 8192, 4096), ("layer_norm", "bf16", 8192, 4096),
]
PRODUCTS = [("f16", 4096), ("bf16", 4096)]
CPU_PRODUCTS = [("f32", 1024), ("bf16", 1024)]
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def warps_for(columns):
    return 4 if columns < 2048 else 8 if columns < 4096 else 16 if columns < 65536 else 32


def torch_way(work, x, weight, bias):
    if work == "gelu":
        return lambda: torch.nn.functional.gelu(x, approximate="tanh")
    if work == "softmax":
        return lambda: torch.softmax(x, dim=1)
    return lambda: torch.nn.functional.layer_norm(x, (x.shape[1],), weight, bias)


def torch_reuse_way(work, x, y, weight, bias):
    if work == "gelu":
        return lambda: torch._C._nn.gelu(x, approximate="tanh", out=y)
    if work == "softmax":
        return lambda: torch.softmax(x, dim=1, out=y)
    rows = torch.empty(x.shape[0], 1, dtype=x.dtype), torch.empty(x.shape[0], 1, dtype=x.dtype)
    return lambda: torch.ops.aten.native_layer_norm.out(x, (x.shape[1],), weight, bias, 1e-5, out0=y, out1=rows[0], out2=rows[1])


def triton_way(work, x, y, weight, bias):
    import rows as kernels
    import triton
    m, n = x.shape
    if work == "gelu":
        return lambda: kernels.gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    block, warps = triton.next_power_of_2(n), warps_for(n)
    if work == "softmax":
        return lambda: kernels.softmax_kernel[(m,)](x, y, n, n, n, BLOCK=block, num_warps=warps)
    return lambda: kernels.layer_norm_kernel[(m,)](x, y, weight, bias, n, n, 1e-5, BLOCK=block, num_warps=warps)


def seconds_on(device, run, seconds):
    if device == "cuda":
        import triton.testing
        q = triton.testing.do_bench(run, warmup=25, rep=150, quantiles=[0.5, 0.1, 0.9])
        return [t * 1e-3 for t in q]
    for _ in range(3):
        run()
    samples, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples) < 5:
        begin = time.perf_counter()
        run()
        samples.append(time.perf_counter() - begin)
    samples.sort()
    return [statistics.median(samples), samples[len(samples) // 10], samples[len(samples) * 9 // 10]]


def measure(device, work, dtype, m, n, ways, seconds):
    torch.manual_seed(0)
    x = torch.randn(m, n, device=device, dtype=DTYPES[dtype])
    y = torch.empty_like(x)
    weight = torch.randn(n, device=device, dtype=x.dtype)
    bias = torch.randn(n, device=device, dtype=x.dtype)
    eager = torch_way(work, x, weight, bias)
    runs = {"pytorch": eager}
    if "compile" in ways:
        torch._dynamo.reset()  # each size as if it were the only one
        compiled = torch.compile(lambda a: eager(), dynamic=False)
        runs["torch.compile"] = lambda: compiled(x)
    if device == "cuda":
        runs["triton"] = triton_way(work, x, y, weight, bias)
    else:
        runs["pytorch out="] = torch_reuse_way(work, x, y, weight, bias)
    moved = 2 * x.numel() * x.element_size()
    for way, run in runs.items():
        begin = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        first = time.perf_counter() - begin
        median, low, high = seconds_on(device, run, seconds)
        yield {"work": work, "dtype": dtype, "rows": m, "columns": n, "way": way, "gbps": moved / median / 1e9,
               "gbps_p10": moved / high / 1e9, "gbps_p90": moved / low / 1e9, "first_call_s": first}


def triton_matmul(a, b, c):
    import tile_matmul as kernels
    import triton
    n = a.shape[0]
    grid = (triton.cdiv(n, 128) * triton.cdiv(n, 256),)
    return lambda: kernels.matmul_kernel[grid](a, b, c, n, n, n, n, 1, n, 1, n, 1, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP=8,
                                               num_warps=8, num_stages=3)


def measure_product(device, dtype, n, seconds):
    torch.manual_seed(0)
    a, b = (torch.randn(n, n, device=device, dtype=DTYPES[dtype]) for _ in range(2))
    c = torch.empty_like(a)
    runs = {"pytorch out=": lambda: torch.mm(a, b, out=c)}
    if device == "cuda":
        runs["triton"] = triton_matmul(a, b, c)
    for way, run in runs.items():
        run()
        median, low, high = seconds_on(device, run, seconds)
        flops = 2 * n ** 3 / 1e9
        yield {"work": "matmul", "dtype": dtype, "rows": n, "columns": n, "way": way, "gflops": flops / median,
               "gflops_p10": flops / high, "gflops_p90": flops / low}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--quick", action="store_true", help="without torch.compile")
    parser.add_argument("--only", choices=["rows", "matmul"], help="leave the other kind of work out")
    parser.add_argument("--seconds", type=float, default=1.0, help="per way, on a CPU")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    results = []
    is_cuda = arguments.device == "cuda"
    for dtype, n in () if arguments.only == "rows" else PRODUCTS if is_cuda else CPU_PRODUCTS:
        for row in measure_product(arguments.device, dtype, n, arguments.seconds):
            results.append(row)
            print("{work:10} {dtype:4} {rows}x{columns} {way:14} {gflops:8.1f} GFLOP/s ({gflops_p10:.1f}..{gflops_p90:.1f})".format(**row), flush=True)
    for work in () if arguments.only == "matmul" else WORKS if is_cuda else CPU_WORKS:
        for row in measure(arguments.device, *work, () if arguments.quick else ("compile",), arguments.seconds):
            results.append(row)
            print("{work:10} {dtype:4} {rows}x{columns} {way:14} {gbps:8.1f} GB/s ({gbps_p10:.1f}..{gbps_p90:.1f})".format(**row), flush=True)
    if arguments.json:
        with open(arguments.json, "w") as f:
            json.dump({"torch": torch.__version__, "rows": results}, f, indent=1)


if __name__ == "__main__":
    main()
