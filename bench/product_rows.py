# SPDX-License-Identifier: Apache-2.0
# bench/product_rows.py — rows of products.py beyond f16: other types with their error against float64, groups (08), persistent (09).
import pathlib
import time

import torch
import triton

from product_tools import best_of, compile_all, config_text, contest, error_of, tutorial

GROUPS = ((4, 4096, 4096, 4096), (8, 2048, 2048, 2048), (16, 1024, 1024, 1024))
PERSISTENT = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 512))


def say(what, problems):
    for label, problem in problems.items():
        print(f"  {what} {label}: {problem}", flush=True)


def float64_error(c, a, b, rows=64):
    """Of the first rows against float64."""
    return error_of(c[:rows], a[:rows].double() @ b.double())


def tiles(m, n, config):
    return (-(-m // config.kwargs["BLOCK_SIZE_M"]) * -(-n // config.kwargs["BLOCK_SIZE_N"]), 1, 1)


def attempt(work, run, *arguments):
    """A row that fails is said, and the others run."""
    try:
        run(*arguments)
    except Exception as problem:
        if isinstance(problem, getattr(torch, "AcceleratorError", ())):  # the context is lost
            raise
        print(f"  FAILED {work}: {type(problem).__name__}: {str(problem).strip().splitlines()[-1][:200] if str(problem).strip() else ''}", flush=True)


def race(options, report, work, flop, job):
    """job: kernels by label, make(label, kernel), check(), output c, operands a and b, library(), triton()."""
    (label, run), wrong = best_of(job["kernels"], job["make"], job["check"])
    say(f"WRONG {work}", wrong)
    ways = {"library": job["library"]}
    if not options.no_triton:
        ways["triton"] = job["triton"]
    if run:
        ways["ours"] = run
        run()
        torch.cuda.synchronize()
    more = {"error": job["error"](), "library_error": job["library_error"]()} if run else {}
    report.add(work, flop, contest(ways), config=label, wrong=len(wrong), **more)
    if more:
        print(f"{'':34s} error against float64: ours {more['error']:.2e}, library {more['library_error']:.2e}", flush=True)


def matrices(kind, m, n, k):
    """A [m, k] and B [k, n], both with lines along the depth unless the type has 16 bits."""
    if kind == "bf16":
        return (torch.randn(s, device="cuda").to(torch.bfloat16) for s in ((m, k), (k, n)))
    if kind == "i8":
        return (torch.randint(-16, 16, s, device="cuda", dtype=torch.int8) for s in ((m, k), (n, k)))
    dtype = {"fp8": torch.float8_e4m3fn, "tf32": torch.float32}[kind]
    return (torch.randn(s, device="cuda").to(dtype) for s in ((m, k), (n, k)))


def library_of(kind, a, b):
    if kind == "fp8":
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.float16, use_fast_accum=True)
    if kind == "i8":
        return lambda: torch._int_mm(a, b)
    return lambda: torch.matmul(a, b)


def types(options, report):
    torch.backends.cuda.matmul.allow_tf32 = True
    for kind, (m, n, k) in (("bf16", (4096,) * 3), ("bf16", (8192,) * 3), ("fp8", (8192,) * 3), ("tf32", (4096,) * 3), ("i8", (8192,) * 3)):
        if time.monotonic() > options.deadline:
            return
        a, b = matrices(kind, m, n, k)
        if kind != "bf16":
            b = b.t()  # [k, n], lines along k
        attempt(f"{kind} {m}x{n}x{k}", int8_row if kind == "i8" else float_row, options, report, kind, a, b)


def float_row(options, report, kind, a, b):
    """Tutorial 03 with its own list; its result is float16."""
    (m, k), n = a.shape, b.shape[1]
    module = tutorial(options.tutorials, "03-matrix-multiplication")
    configs = {config_text(c): c for c in module.get_cuda_autotune_config()}
    pointer = {"bf16": "*bf16:16", "fp8": "*fp8e4nv:16", "tf32": "*fp32:16"}[kind]
    strides = "i32:16, 1, i32:16, 1" if kind == "bf16" else "i32:16, 1, 1, i32:16"
    jobs = {}
    for label, c in configs.items():
        s = c.kwargs
        blocks = f"{s['BLOCK_SIZE_M']}, {s['BLOCK_SIZE_N']}, {s['BLOCK_SIZE_K']}, {s['GROUP_SIZE_M']}, ''"
        jobs[label] = (f"{options.tutorials}/03-matrix-multiplication.py:matmul_kernel",
                       f"{pointer}, {pointer}, *fp16:16, i32:16, i32:16, i32:16, {strides}, i32:16, 1, {blocks}", c.num_warps, c.num_stages)
    kernels, failed = compile_all(options.tilewright, jobs)
    say("not compiled:", failed)
    c = torch.empty((m, n), device="cuda", dtype=torch.float16)
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=c, M=m, N=n, K=k, stride_am=k, stride_bk=n, stride_bn=k, stride_cm=n)
    library = library_of(kind, a, b)

    def make(label, kernel):
        c.fill_(float("nan"))
        return kernel(tiles(m, n, configs[label]), arguments)

    def check():
        error = float64_error(c, a, b)
        return "" if error < 4e-3 else f"error {error:.2e}"

    race(options, report, f"03 {kind} {m}x{n}x{k}", 2.0 * m * n * k, dict(
        kernels=kernels, make=make, check=check, library=library, triton=lambda: module.matmul(a, b),
        error=lambda: float64_error(c, a, b), library_error=lambda: float64_error(library(), a, b)))


def int8_row(options, report, kind, a, b):
    from int8_product import int8_product
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device="cuda", dtype=torch.int32)
    configs = {}
    for bm, bn, bk, warps, stages in ((128, 128, 128, 4, 3), (128, 256, 64, 8, 4), (128, 256, 128, 8, 3), (256, 128, 128, 8, 3), (128, 128, 128, 8, 4)):
        config = triton.Config({"BLOCK_SIZE_M": bm, "BLOCK_SIZE_N": bn, "BLOCK_SIZE_K": bk, "GROUP_SIZE_M": 8}, num_warps=warps, num_stages=stages)
        configs[config_text(config)] = config
    place = f"{pathlib.Path(__file__).resolve().parent}/int8_product.py:int8_product"
    kernels, failed = compile_all(options.tilewright, {label: (
        place, "*i8:16, *i8:16, *i32:16, i32:16, i32:16, i32:16, i32:16, i32:16, i32:16, " + ", ".join(map(str, config.kwargs.values())),
        config.num_warps, config.num_stages) for label, config in configs.items()})
    say("not compiled:", failed)
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=c, M=m, N=n, K=k, stride_am=k, stride_bn=k, stride_cm=n)
    tuned = triton.autotune(configs=list(configs.values()), key=["M", "N", "K"])(int8_product)
    library = library_of(kind, a, b)

    def make(label, kernel):
        c.fill_(-1)
        return kernel(tiles(m, n, configs[label]), arguments)

    race(options, report, f"int8 {m}x{n}x{k}", 2.0 * m * n * k, dict(
        kernels=kernels, make=make, check=lambda: "" if torch.equal(c, library()) else "differs", library=library,
        triton=lambda: tuned[lambda meta: tiles(m, n, triton.Config(meta))](a, b, c, m, n, k, k, k, n),
        error=lambda: float64_error(c, a, b), library_error=lambda: float64_error(library(), a, b)))


def grouped(options, report):
    """Tutorial 08: its kernel of plain pointers, one launch for all; the library is called once for each product."""
    module = tutorial(options.tutorials, "08-grouped-gemm")
    place = f"{options.tutorials}/08-grouped-gemm.py:grouped_matmul_kernel"
    configs = {config_text(c): c for c in module.grouped_matmul_kernel.configs}
    kernels, failed = compile_all(options.tilewright, {label: (
        place, "*i64:16, *i64:16, *i64:16, *i32:16, *i32:16, i32, " + ", ".join(str(c.kwargs[n]) for n in ("NUM_SM", "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")),
        c.num_warps, c.num_stages) for label, c in configs.items()})
    say("not compiled:", failed)
    for count, m, n, k in GROUPS:
        if time.monotonic() > options.deadline:
            return
        a, b, c = ([torch.randn(s, device="cuda", dtype=torch.float16) for _ in range(count)] for s in ((m, k), (k, n), (m, n)))
        pointers = [torch.tensor([x.data_ptr() for x in xs], device="cuda") for xs in (a, b, c)]
        sizes, lines = (torch.tensor(x * count, dtype=torch.int32, device="cuda") for x in ([m, n, k], [k, n, n]))
        arguments = dict(group_a_ptrs=pointers[0], group_b_ptrs=pointers[1], group_c_ptrs=pointers[2], group_gemm_sizes=sizes, g_lds=lines, group_size=count)

        def make(label, kernel):
            for x in c:
                x.fill_(float("nan"))
            return kernel((configs[label].kwargs["NUM_SM"], 1, 1), arguments)

        def check():
            worst = max(float64_error(z, x, y) for x, y, z in zip(a, b, c))
            return "" if worst < 2e-3 else f"error {worst:.2e}"

        def library():
            for x, y, z in zip(a, b, c):
                torch.matmul(x, y, out=z)

        def triton_kernel():
            module.grouped_matmul_kernel[lambda meta: (meta["NUM_SM"],)](*pointers, sizes, lines, count)

        work = f"08 f16 {count} of {m}x{n}x{k}"
        attempt(work, race, options, report, work, 2.0 * count * m * n * k, dict(
            kernels=kernels, make=make, check=check, library=library, triton=triton_kernel,
            error=lambda: float64_error(c[0], a[0], b[0]), library_error=lambda: (library(), float64_error(c[0], a[0], b[0]))[1]))


def persistent(options, report):
    """Tutorial 09: its persistent kernel of plain pointers, f16, B as [n, k] transposed, as the tutorial has it."""
    module = tutorial(options.tutorials, "09-persistent-matmul")
    place = f"{options.tutorials}/09-persistent-matmul.py:matmul_kernel_persistent"
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    configs = {config_text(c): c for c in module.matmul_get_configs()}
    names = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M")
    kernels, failed = compile_all(options.tilewright, {label: (
        place, "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, 1, 1, i32:16, i32:16, 1, "
        + ", ".join(str(c.kwargs[n]) for n in names) + f", {processors}", c.num_warps, c.num_stages) for label, c in configs.items()})
    say("not compiled:", failed)
    for m, n, k in PERSISTENT:
        if time.monotonic() > options.deadline:
            return
        a, b = torch.randn((m, k), device="cuda", dtype=torch.float16), torch.randn((n, k), device="cuda", dtype=torch.float16).t()
        c = torch.empty((m, n), device="cuda", dtype=torch.float16)
        arguments = dict(a_ptr=a, b_ptr=b, c_ptr=c, M=m, N=n, K=k, stride_am=k, stride_bn=k, stride_cm=n)

        def make(label, kernel):
            c.fill_(float("nan"))
            return kernel((min(processors, tiles(m, n, configs[label])[0]), 1, 1), arguments)

        def check():
            error = float64_error(c, a, b)
            return "" if error < 2e-3 else f"error {error:.2e}"

        attempt(f"09 f16 {m}x{n}x{k}", race, options, report, f"09 f16 {m}x{n}x{k}", 2.0 * m * n * k, dict(
            kernels=kernels, make=make, check=check, library=lambda: torch.matmul(a, b, out=c), triton=lambda: module.matmul_persistent(a, b),
            error=lambda: float64_error(c, a, b), library_error=lambda: float64_error(torch.matmul(a, b), a, b)))
