#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/products.py — Triton's own matmul and attention tutorials, unmodified: Triton, Tilewright and the libraries in turns.
"""Takes the kernels of tutorials 03, 06, 08 and 09 as they are, with the configs that they list, compiles every config with
`tilewright compile`, checks the results, and times the best config of each side in turns with cuBLAS or cuDNN.

    products.py --tutorials DIR --tilewright bin/tilewright [--only matmul,attention,backward,types,grouped,persistent] [--json out.json]

DIR holds Triton's tutorial files (python/tutorials of its repository); nothing of them is part of this repository.
`types` are products of bf16, fp8, tf32 (tutorial 03) and int8 (int8_product.py) with the error against float64.
Needs a GPU and Python with torch and Triton."""
import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    import torch
    import torch.nn.functional as F
    import triton  # of the tutorials
except ImportError as problem:
    sys.exit(f"products.py: {problem}; it needs Python with torch and Triton")

from product_rows import grouped, persistent, types
from product_tools import Kernel, Report, best_of, compile_all, config_text, contest, error_of, tutorial
from public.ours import Driver

MATMULS = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 16384), (8192, 8192, 512), (4096, 14336, 4096),
           (64, 8192, 8192))
ATTENTION = tuple((n, d, c) for n in (4096, 16384) for d in (128, 64) for c in (False, True))


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
    takes_causal = "CAUSAL" in module._attn_bwd.arg_names  # older versions of the tutorial know causal attention alone
    for n, d, causal in ATTENTION:
        if time.monotonic() > options.deadline:
            break
        if not causal and not takes_causal:
            continue
        types = "*fp16:16, *fp16:16, *fp16:16, fp32, *fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, *fp32:16, i32:16, i32:16, i32:16, 1, i32:16, i32:16"
        constant = f", {'true' if causal else 'false'}" if takes_causal else ""
        kernels, failed = compile_all(options.tilewright, {"": (place, f"{types}, 32, 128, 128, 32, 2, {d}{constant}", 4, 5)})
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
                                   BLOCK_N2=32, BLK_SLICE_FACTOR=2, HEAD_DIM=d, num_warps=4, num_stages=5, **({"CAUSAL": causal} if takes_causal else {}))

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


SECTIONS = {"matmul": matmuls, "attention": attention, "backward": backward, "types": types, "grouped": grouped, "persistent": persistent}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutorials", required=True, type=pathlib.Path)
    parser.add_argument("--tilewright", default="tilewright")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--no-triton", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--budget", type=float, default=420)
    options = parser.parse_args()
    options.deadline = time.monotonic() + options.budget
    needed = ("03-matrix-multiplication.py", "06-fused-attention.py", "08-grouped-gemm.py", "09-persistent-matmul.py")
    missing = [n for n in needed if not (options.tutorials / n).is_file()]
    if missing:
        parser.error(f"--tutorials: '{options.tutorials}' has no {missing[0]}; give the folder python/tutorials of Triton's repository")
    unknown = set(options.only.split(",")) - set(SECTIONS)
    if unknown:
        parser.error(f"--only: there is no '{sorted(unknown)[0]}'; there are {', '.join(SECTIONS)}")
    if not torch.cuda.is_available():
        sys.exit("products.py: no GPU")
    torch.manual_seed(0)
    torch.empty(1, device="cuda")
    Kernel.driver, Kernel.processors = Driver(), torch.cuda.get_device_properties(0).multi_processor_count
    report = Report(options.json)
    for name, run in SECTIONS.items():
        if name in options.only.split(","):
            run(options, report)


if __name__ == "__main__":
    main()
