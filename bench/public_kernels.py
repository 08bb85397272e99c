#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/public_kernels.py — public Triton kernels with Triton and with Tilewright in turns, worst first.
"""Runs the host code of Liger-Kernel, flash-linear-attention, unsloth and TritonBench's performance set as it
is, sees each kernel that it launches, and runs that launch with Triton's and with Tilewright's machine code on
the same tensors: results are compared, then both are timed in turns.

    public_kernels.py --repos DIR --tilewright bin/tilewright --budget 480 --json out.json --markdown out.md

or in two steps, of which only the second needs the GPU and only the first one Tilewright:

    public_kernels.py --repos DIR --tilewright bin/tilewright --prepare codes.zip
    public_kernels.py --repos DIR --codes codes.zip --budget 480 --json out.json --markdown out.md

DIR holds checkouts named Liger-Kernel, flash-linear-attention, unsloth and TritonBench; nothing of them is part
of this repository. Needs Python with torch and Triton."""
import argparse
import contextlib
import gc
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
CASE_SECONDS = 60
RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "public-kernels-h200.md"
warnings.simplefilter("ignore")  # of public code


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", required=True, help="folder with the checkouts")
    parser.add_argument("--prepare", metavar="ZIP", help="compile all launches with tilewright into ZIP; runs nothing")
    parser.add_argument("--tilewright", default="tilewright", help="the command (default: tilewright)")
    parser.add_argument("--target", default="sm_90a", help="of Tilewright's code (default sm_90a)")
    parser.add_argument("--codes", metavar="ZIP", help="what --prepare made (default: compiled by --tilewright)")
    parser.add_argument("--budget", type=float, default=480, help="seconds that the whole run may take (default 480)")
    parser.add_argument("--seconds", type=float, default=0.2, help="timing per row (default 0.2)")
    parser.add_argument("--only", default="", help="cases whose project/name contains one of these, separated by commas")
    parser.add_argument("--below", type=float, metavar="RATIO", help="only cases with a row below this ratio in --table")
    parser.add_argument("--table", default=str(RESULTS), help="of an earlier run (default: the one of bench/results)")
    parser.add_argument("--json", help="file for all rows")
    parser.add_argument("--markdown", help="file for the table")
    parser.add_argument("--dry-run", action="store_true", help="everything but launching and timing, on the CPU")
    # Of the processes that it starts itself:
    parser.add_argument("--warm", metavar="I/N", help=argparse.SUPPRESS)
    parser.add_argument("--rows", help=argparse.SUPPRESS)
    parser.add_argument("--deadline", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--from", dest="first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.dry_run and not options.codes:
        parser.error("--dry-run needs --codes ZIP; make it with --prepare")
    if not pathlib.Path(options.repos).is_dir():
        parser.error(f"--repos: '{options.repos}' is no folder; clone the projects into one")
    for path in (options.codes or "").split(os.pathsep) if options.codes else ():
        if not pathlib.Path(path).is_file():
            parser.error(f"--codes: there is no file '{path}'; make it with --prepare")
    if options.below is not None:
        from public.table import cases_below
        slow = cases_below(pathlib.Path(options.table).read_text(encoding="utf-8"), options.below)
        if not slow:
            parser.error(f"--below: no row of '{options.table}' is below {options.below}")
        options.only = ",".join(name for name in slow if any(part in name for part in options.only.split(",")))
    return options


def chosen_cases(options, repos):
    from public.cases import all_cases
    wanted = options.only.split(",")
    return [(case, size) for case in all_cases(repos) if any(part in f"{case.project}/{case.name}" for part in wanted) for size in case.sizes]


def reason(problem):
    lines = [line for line in str(problem).strip().splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0][:200] if lines else ''}"


def out_of_time(*_):
    raise TimeoutError(f"its host code takes more than {CASE_SECONDS} s")


def run_case(case, size, left_out):
    """The case's host code; what goes wrong is a reason to leave it out."""
    import torch
    from public.cases import Maker
    torch.manual_seed(0)
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(CASE_SECONDS)
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # some print whole tensors
            case.function(Maker(), *size)
    except Exception as problem:  # noqa: BLE001 — public code may fail in any way
        if os.environ.get("PUBLIC_KERNELS_TRACE"):
            traceback.print_exc()
        left_out.append({"project": case.project, "case": case.name, "size": list(size), "why": reason(problem)})
    finally:
        signal.alarm(0)
    gc.collect()


def prepare(options):
    """Compiles all launches with Tilewright into the zip file, and with --warm I/N a share of them, with Triton
    into its cache too. The GPU is not used."""
    from public.checkouts import make_importable
    from public.pretend_cuda import pretend_cuda
    pretend_cuda()
    repos = make_importable(options.repos)
    from public.launches import see_launches
    from public.ours import Archive, Compiler
    archive, compiler = Archive(), Compiler(options.tilewright, options.target)
    left_out, seen = [], set()

    def compile_launch(launch, original):
        key = launch.key(repos)
        if key in seen:
            return
        seen.add(key)
        if options.prepare:
            archive.add(key, *compiler.compile(launch))
        if options.warm:
            original(True)

    see_launches(compile_launch)
    share, shares = map(int, (options.warm or "0/1").split("/"))
    for case, size in chosen_cases(options, repos)[share::shares]:
        before, known, begin = len(seen), len(left_out), time.monotonic()
        run_case(case, size, left_out)
        problem = "".join(r["why"] for r in left_out[known:])
        print(f"{case.project} {case.name} {size}: {len(seen) - before} more, "
              f"{time.monotonic() - begin:.1f} s {problem}", flush=True)
        if options.prepare and options.warm:
            archive.write(options.prepare)  # as far as it is: this process may be ended
    if options.prepare:
        archive.write(options.prepare)
        tell_prepared(archive, left_out, pathlib.Path(options.prepare))


def tell_prepared(archive, left_out, path):
    compiled = {facts["kernel"] for facts in archive.index.values() if "error" not in facts}
    print(f"{len(compiled)} kernels, {len(archive.codes)} codes, {path.stat().st_size >> 10} KiB")
    for kernel, why in sorted({(f["kernel"], f["error"]) for f in archive.index.values() if "error" in f}):
        print(f"not compiled: {kernel}: {why}")
    for row in left_out:
        print(f"left out: {row['project']} {row['case']} {row['size']}: {row['why']}")


def warm_up(options, folder, until):
    """All cores compile with Triton, and with Tilewright where no --codes were given; what is not ready by then is
    made when it is needed."""
    workers = max(1, (os.cpu_count() or 2) - 2)
    base = [sys.executable, __file__, "--repos", options.repos, "--only", options.only, "--target", options.target]
    started = []
    for share in range(workers):
        command = base + ["--warm", f"{share}/{workers}"]
        if not options.codes:
            command += ["--prepare", f"{folder}/{share}.zip", "--tilewright", options.tilewright]
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for worker in started:
        try:
            worker.wait(timeout=max(1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.kill()
    return options.codes or os.pathsep.join(str(p) for p in sorted(pathlib.Path(folder).glob("*.zip")))


def contestant(options):
    """Runs cases from --from on and appends what it finds to --rows, a line of JSON each: a kernel that breaks
    the process's use of the GPU costs the rest of its case, not of the run."""
    from public.checkouts import make_importable
    if options.dry_run:
        from public.pretend_cuda import pretend_cuda
        pretend_cuda()
    import torch
    import triton
    repos = make_importable(options.repos)
    from public.launches import see_launches
    from public.measure import Contest, DryContest
    from public.ours import Archive, Compiler, Driver
    torch.autograd.set_multithreading_enabled(False)
    driver = None if options.dry_run else Driver()
    torch.empty(1, device="cuda")
    compiler = Compiler(options.tilewright, options.target) if shutil.which(options.tilewright) else None
    both = (DryContest if options.dry_run else Contest)(
        Archive(*filter(None, options.codes.split(os.pathsep))), compiler, driver, repos, options.seconds, options.deadline)
    see_launches(both)
    cases = chosen_cases(options, repos)
    with open(options.rows, "a", buffering=1) as out:
        def tell(**line):
            out.write(json.dumps(line) + "\n")

        tell(machine=f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, Triton {triton.__version__}")
        for number in range(options.first, len(cases)):
            case, size = cases[number]
            left_out, begin = [], time.monotonic()
            both.begin(case, size)
            tell(begins=number)
            if begin > options.deadline:
                left_out.append({"project": case.project, "case": case.name, "size": list(size), "why": "no time was left"})
            else:
                run_case(case, size, left_out)
            told = " ".join(f"{r['ratio']:.2f}" if "ratio" in r else "-" for r in both.rows)
            print(f"{case.project} {case.name} {size}: {told} ({time.monotonic() - begin:.1f} s)", flush=True)
            tell(ends=number, rows=both.rows, left_out=left_out)
            both.rows = []
            if not options.dry_run:
                try:
                    torch.cuda.synchronize()
                    torch.cuda.empty_cache()
                except RuntimeError as problem:
                    print(f"starting again: {reason(problem)}", flush=True)
                    return 3
    return 0


def contest(options):
    """Starts contestants until all cases are done or the time is."""
    begin = time.monotonic()
    deadline = begin + options.budget - 15
    with tempfile.TemporaryDirectory() as folder:
        codes = options.codes
        if not options.dry_run:
            codes = warm_up(options, folder, begin + options.budget * 0.4)
            print(f"compiled after {time.monotonic() - begin:.0f} s", flush=True)
        rows = pathlib.Path(folder) / "rows"
        rows.touch()
        command = [sys.executable, __file__, "--repos", options.repos, "--only", options.only, "--codes", codes,
                   "--tilewright", options.tilewright, "--target", options.target,
                   "--seconds", str(options.seconds), "--rows", str(rows), "--deadline", str(deadline)]
        command += ["--dry-run"] if options.dry_run else []
        first = 0
        while True:
            ended = run_contestant(command + ["--from", str(first)], rows, deadline)
            lines = [json.loads(line) for line in rows.read_text().splitlines()]
            begun = [line["begins"] for line in lines if "begins" in line]
            if ended or not begun or begun[-1] < first:
                break
            first = begun[-1] + 1
    result = gather(lines, options)
    result["machine"] += f"; {time.monotonic() - begin:.0f} s"
    return result


def run_contestant(command, rows, deadline):
    """Whether it went through all cases; one that hangs is ended."""
    process = subprocess.Popen(command)
    size, since = rows.stat().st_size, time.monotonic()
    while process.poll() is None:
        time.sleep(0.5)
        now = time.monotonic()
        if rows.stat().st_size != size:
            size, since = rows.stat().st_size, now
        if now - since > 2 * CASE_SECONDS or now > deadline + 10:
            process.kill()
            process.wait()
            return now > deadline
    return process.returncode == 0


def gather(lines, options):
    result = {"machine": "", "command": " ".join(["bench/public_kernels.py", *sys.argv[1:]]), "rows": [], "left_out": []}
    ended = set()
    for line in lines:
        result["machine"] = line.get("machine", result["machine"])
        result["rows"] += line.get("rows", [])
        result["left_out"] += line.get("left_out", [])
        ended |= {line["ends"]} if "ends" in line else set()
    result["died"] = [line["begins"] for line in lines if "begins" in line and line["begins"] not in ended]
    if result["died"]:
        cases = chosen_cases(options, pathlib.Path(options.repos).resolve())
        result["left_out"] += [{"project": cases[n][0].project, "case": cases[n][0].name, "size": list(cases[n][1]),
                                "why": "the process died or hung"} for n in result["died"]]
    return result


def main():
    options = arguments()
    if options.prepare or options.warm:
        return prepare(options)
    if options.rows:
        return contestant(options)
    result = contest(options)
    from public.table import markdown
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    text = markdown(result)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    print(text)
    return 0 if result["rows"] else 1


if __name__ == "__main__":
    sys.exit(main())
