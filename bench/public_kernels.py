#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/public_kernels.py — public Triton kernels with Triton and with Tilewright in turns, worst first.
"""Runs the host code of Liger-Kernel, flash-linear-attention, unsloth and TritonBench's performance set as it
is, sees each kernel that it launches, and runs that launch with Triton's and with Tilewright's machine code on
the same tensors: results are compared, then both are timed in turns.

    public_kernels.py --repos DIR --tilewright bin/tilewright --prepare codes.zip    (no GPU needed)
    public_kernels.py --repos DIR --codes codes.zip --budget 480 --json out.json --markdown out.md

DIR holds checkouts named Liger-Kernel, flash-linear-attention, unsloth and TritonBench; nothing of them is part
of this repository. Needs Python with torch and Triton."""
import argparse
import gc
import json
import os
import pathlib
import subprocess
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", required=True, help="folder with the checkouts")
    parser.add_argument("--prepare", metavar="ZIP", help="compile all launches with tilewright into ZIP; runs nothing")
    parser.add_argument("--tilewright", default="tilewright", help="the command, for --prepare")
    parser.add_argument("--target", default="sm_90a", help="for --prepare (default sm_90a)")
    parser.add_argument("--codes", metavar="ZIP", help="what --prepare made")
    parser.add_argument("--budget", type=float, default=480, help="seconds that the whole run may take (default 480)")
    parser.add_argument("--seconds", type=float, default=0.2, help="timing per row (default 0.2)")
    parser.add_argument("--only", default="", help="cases whose project/name contains this")
    parser.add_argument("--json", help="file for all rows")
    parser.add_argument("--markdown", help="file for the table")
    parser.add_argument("--warm", metavar="I/N", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.prepare and not options.codes and not options.warm:
        parser.error("give --prepare ZIP on a machine with tilewright, or --codes ZIP on one with a GPU")
    if not pathlib.Path(options.repos).is_dir():
        parser.error(f"--repos: '{options.repos}' is no folder; clone the projects into one")
    if options.codes and not pathlib.Path(options.codes).is_file():
        parser.error(f"--codes: there is no file '{options.codes}'; make it with --prepare")
    return options


def chosen_cases(options, repos):
    from public.cases import all_cases
    return [(case, size) for case in all_cases(repos) if options.only in f"{case.project}/{case.name}" for size in case.sizes]


def reason(problem):
    lines = [line for line in str(problem).strip().splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0][:200] if lines else ''}"


def run_case(case, size, left_out):
    """The case's host code; what goes wrong is a reason to leave it out."""
    import torch
    from public.cases import Maker
    torch.manual_seed(0)
    try:
        case.function(Maker(), *size)
    except Exception as problem:  # noqa: BLE001 — public code may fail in any way
        if os.environ.get("PUBLIC_KERNELS_TRACE"):
            traceback.print_exc()
        left_out.append({"project": case.project, "case": case.name, "size": list(size), "why": reason(problem)})
    gc.collect()


def prepare(options):
    from public.checkouts import make_importable
    from public.pretend_cuda import pretend_cuda
    pretend_cuda()
    repos = make_importable(options.repos)
    from public.launches import see_launches
    from public.ours import Archive, Compiler
    archive, compiler = Archive(options.prepare), Compiler(options.tilewright, options.target)
    archive.index, archive.codes = {}, {}
    left_out, failed = [], {}

    def compile_launch(launch, _):
        key = launch.key(repos)
        if archive.find(key)[0] is None:
            facts, code = compiler.compile(launch)
            archive.add(key, facts, code)
            if "error" in facts:
                failed[key[0]] = facts["error"]

    see_launches(compile_launch)
    for case, size in chosen_cases(options, repos):
        before = len(archive.index)
        run_case(case, size, left_out)
        print(f"{case.project} {case.name} {size}: {len(archive.index) - before} more", flush=True)
    archive.write()
    kernels = {facts["kernel"] for facts in archive.index.values() if "error" not in facts}
    print(f"{len(kernels)} kernels, {len(archive.codes)} codes, {pathlib.Path(options.prepare).stat().st_size >> 10} KiB")
    for kernel, why in failed.items():
        print(f"not compiled: {kernel}: {why}")
    for row in left_out:
        print(f"left out: {row['project']} {row['case']} {row['size']}: {row['why']}")


def warm(options):
    """Compiles a share of the launches with Triton into its cache; the GPU is not used."""
    from public.checkouts import make_importable
    from public.pretend_cuda import pretend_cuda
    pretend_cuda()
    repos = make_importable(options.repos)
    from public.launches import see_launches
    share, shares = map(int, options.warm.split("/"))
    seen = set()

    def compile_launch(launch, original):
        key = launch.key(repos)
        if key not in seen:
            seen.add(key)
            original(True)

    see_launches(compile_launch)
    cases = chosen_cases(options, repos)
    for case, size in cases[share::shares]:
        run_case(case, size, [])


def start_warming(options, workers):
    base = [sys.executable, __file__, "--repos", options.repos, "--only", options.only]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return [subprocess.Popen(base + ["--warm", f"{i}/{workers}"], **quiet) for i in range(workers)]


def contest(options):
    begin = time.monotonic()
    workers = start_warming(options, max(1, (os.cpu_count() or 2) - 2))
    import torch
    import triton
    from public.checkouts import make_importable
    repos = make_importable(options.repos)
    from public.launches import see_launches
    from public.measure import Contest
    from public.ours import Archive, Driver
    torch.autograd.set_multithreading_enabled(False)
    torch.empty(1, device="cuda")
    deadline = begin + options.budget - 15
    both = Contest(Archive(options.codes), Driver(), repos, options.seconds, deadline)
    for worker in workers:
        worker.wait(timeout=max(1, deadline - time.monotonic()))
    print(f"Triton's compiler was warmed after {time.monotonic() - begin:.0f} s", flush=True)
    see_launches(both)
    left_out = []
    for case, size in chosen_cases(options, repos):
        if time.monotonic() > deadline:
            left_out.append({"project": case.project, "case": case.name, "size": list(size), "why": "no time was left"})
            continue
        both.begin(case, size)
        rows, start = len(both.rows), time.monotonic()
        run_case(case, size, left_out)
        torch.cuda.empty_cache()
        told = " ".join(f"{r['ratio']:.2f}" if "ratio" in r else "-" for r in both.rows[rows:])
        print(f"{case.project} {case.name} {size}: {told} ({time.monotonic() - start:.1f} s)", flush=True)
    machine = (f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, Triton {triton.__version__}; "
               f"{time.monotonic() - begin:.0f} s")
    return {"machine": machine, "command": " ".join(["bench/public_kernels.py", *sys.argv[1:]]), "rows": both.rows,
            "left_out": left_out}


def main():
    options = arguments()
    if options.prepare:
        return prepare(options)
    if options.warm:
        return warm(options)
    result = contest(options)
    from public.table import markdown
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    text = markdown(result)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    print(text)


if __name__ == "__main__":
    main()
