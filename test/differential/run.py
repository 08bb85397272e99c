#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# differential/run.py — runs kernels with Triton and with Tilewright on the same inputs; a table.
"""Needs Python 3.10 or newer with torch, Triton and NumPy; without a GPU Triton interprets."""
import argparse
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
OWN = (HERE, HERE.parent.parent)  # kernels of the tests, and of the examples
sys.path.insert(0, str(HERE))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tilewright", help="the program to test; without it only Triton runs")
    parser.add_argument("--device", default="interpret,cpu",
                        help="interpret, cpu, cuda: one or several, with commas")
    parser.add_argument("--oracle", choices=("interpreter", "compiler"), default="interpreter",
                        help="without a GPU: what Triton interprets, or what its compiler makes")
    parser.add_argument("--filter", default="", help="only cases whose FILE:KERNEL contains this")
    parser.add_argument("--repos", help="folder with the public repositories")
    parser.add_argument("--cases", nargs="*", help="case files instead of cases/*.txt")
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="keep inputs and outputs of each case in this folder")
    parser.add_argument("--collect", help="copy the repository files that the cases need to this "
                        "folder (for --repos on another machine) and stop")
    return parser.parse_args()


def selected_cases(options):
    from case_file import read_cases

    files = options.cases or sorted((HERE / "cases").glob("*.txt"))
    cases = [case for file in files for case in read_cases(file)]
    return [c for c in cases if options.filter in f"{c.file}:{c.kernel}"]


def root_of(case, options):
    for root in OWN:
        if (root / case.file).is_file():
            return root
    if options.repos and (pathlib.Path(options.repos) / case.file).is_file():
        return pathlib.Path(options.repos)
    return None


def run_in_fork(work, folder, timeout):
    """Starts `work(folder)` in a process of its own group; returns its id and its deadline."""
    process = os.fork()
    if process:
        return process, time.time() + timeout
    os.setpgid(0, 0)
    status = 1
    try:
        work(folder)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def finish(process, folder, deadline):
    """The result a finished process left; None while it still runs."""
    done, status = os.waitpid(process, os.WNOHANG)
    if not done and time.time() < deadline:
        return None
    if not done:
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return {"verdict": "timeout", "reason": "the case ran past its time limit"}
    result = folder / "result.json"
    if result.is_file():
        return json.loads(result.read_text())
    return {"verdict": "crashed", "reason": f"the process of the case ended with status {status}"}


def run_all(cases, options):
    """Results in the order of the cases; at most --jobs at a time."""
    from one_case import run_case

    base = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="tilewright-differential-"))
    waiting, running, results = list(enumerate(cases)), {}, {}
    while waiting or running:
        while waiting and len(running) < options.jobs:
            index, case = waiting.pop(0)
            root = root_of(case, options)
            if root is None:
                results[index] = {"verdict": "absent", "reason": f"no file '{case.file}'"}
                continue
            folder = base / f"{index:03d}-{case.kernel}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            process, deadline = run_in_fork(
                lambda where, c=case, r=root: run_case(c, r, where, options), folder,
                options.timeout)
            running[index] = process, folder, deadline, time.time()
        for index, (process, folder, deadline, start) in list(running.items()):
            result = finish(process, folder, deadline)
            if result is None:
                continue
            result["seconds"] = round(time.time() - start, 2)
            results[index] = result
            del running[index]
            print_line(cases[index], result)
        time.sleep(0.02)
    if not options.keep:
        shutil.rmtree(base, ignore_errors=True)
    return [results[i] for i in range(len(cases))]


def print_line(case, result):
    parts = [f"{result['verdict']:<9} {case.repository:<22} {case.kernel:<40}"]
    for device, entry in result.get("devices", {}).items():
        parts.append(f"{device} {entry['verdict']} {entry['error']:.3g}/"
                     f"{entry['triton_error']:.3g} ulp")
    if result.get("reason"):
        parts.append(result["reason"])
    print("  ".join(parts), flush=True)


def collect(cases, options):
    from extract import Extractor

    target = pathlib.Path(options.collect)
    for case in cases:
        root = root_of(case, options)
        if root is None or root in OWN:
            continue
        extractor = Extractor(root)
        extractor.extract(case.file, case.kernel)
        for file in extractor.files():
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root.resolve() / file, target / file)


def summary(cases, results):
    by_verdict = {}
    for result in results:
        by_verdict[result["verdict"]] = by_verdict.get(result["verdict"], 0) + 1
    public = [r for c, r in zip(cases, results) if c.repository != "own"]
    agreeing = sum(r["verdict"] in ("equal", "close") for r in public)
    print(f"{len(cases)} cases: " + ", ".join(f"{n} {w}" for w, n in sorted(by_verdict.items())) +
          f"; of {len(public)} kernels from public repositories {agreeing} agree")


def main():
    options = parse_options()
    options.device = options.device.split(",")
    if "cuda" not in options.device and options.oracle == "interpreter":
        os.environ["TRITON_INTERPRET"] = "1"
    cases = selected_cases(options)
    if options.collect:
        collect(cases, options)
        return 0
    results = run_all(cases, options)
    summary(cases, results)
    if options.json:
        rows = [{"file": c.file, "kernel": c.kernel, "repository": c.repository,
                 "case": c.where, **r} for c, r in zip(cases, results)]
        pathlib.Path(options.json).write_text(json.dumps({"cases": rows}, indent=1) + "\n")
    return 0 if all(r["verdict"] in ("equal", "close", "absent", "ran") for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
