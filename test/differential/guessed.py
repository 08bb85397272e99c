#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# differential/guessed.py — public kernels on guessed inputs: our interpreter against Triton's compiler.
"""guessed.py --tilewright PROGRAM PATH... [--json OUT] [--keep DIR]

Every kernel of the files under each PATH (a clone of a project) that `tilewright run --guess` finds
a launch for is also compiled by Triton, whose IR (TTIR) is run on the same inputs. Needs torch,
Triton and ml_dtypes, no GPU. What could not be compared is counted by its reason.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from run import finish, run_in_fork

BAD = ("differs", "crashed")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", help="folders of projects, or files in them")
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("--root", help="what imports are looked up under (default: each PATH)")
    parser.add_argument("--filter", default="", help="only files whose path contains this")
    parser.add_argument("--timeout", type=float, default=60, help="seconds of each kernel, by each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", help="write a line for each kernel here, as it ends")
    parser.add_argument("--keep", help="keep the launches that differ in this folder")
    return parser.parse_args()


def source_files(path):
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return [f for f in files if "triton" in f.read_text(errors="replace")]


def keep_launches(file, folder, options):
    """A row of `run --guess` for each kernel, with the folder of its launch when there is one."""
    command = [options.tilewright, "run", str(file), "--guess", "--device", "emulate", "--json",
               "--jobs", str(options.jobs), "--limit", str(options.timeout), "--keep", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode and re.search("there is no (Triton )?kernel", done.stderr):
        return []
    if done.returncode:
        return [{"file": str(file), "kernel": "", "result": "cannot be read", "folder": None,
                 "reason": done.stderr.strip().partition("\n")[0]}]
    rows = json.loads(done.stdout)["kernels"]
    kept = {path.name.partition("-")[0]: path for path in folder.iterdir()} if folder.is_dir() else {}
    unreadable = sum(not row["kernel"] for row in rows)
    for number, row in enumerate(rows):
        row["folder"] = kept.get(f"{number - unreadable:04}") if row["result"] == "kept" else None
    return rows


def run_rows(rows, root, options):
    """Adds a verdict and its reason to each row; at most --jobs at a time."""
    from guessed_launch import run_launch

    waiting, running = list(rows), {}
    while waiting or running:
        while waiting and len(running) < options.jobs:
            row = waiting.pop(0)
            if not row["folder"]:
                row.update(verdict="no launch", reason=f"{row['result']}: {row['reason']}")
                continue
            folder = row["folder"]
            started = run_in_fork(lambda where: quietly(run_launch, where, root), folder,
                                  options.timeout)
            running[started[0]] = row, folder, started[1]
        for process, (row, folder, deadline) in list(running.items()):
            result = finish(process, folder, deadline)
            if result:
                row.update(result)
                del running[process]
        time.sleep(0.02)


def quietly(work, folder, root):
    """What the compiler prints goes to a file."""
    log = os.open(folder / "log.txt", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    work(folder, root)


def keep_for_a_look(rows, options):
    for row in rows:
        if options.keep and row["verdict"] in BAD and row["folder"]:
            target = pathlib.Path(options.keep) / f"{row['file'].replace('/', '+')}+{row['kernel']}"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(row["folder"], target)
        row["folder"] = None


def class_of(row):
    """What reasons are counted by: without names and numbers of one kernel."""
    words = row["reason"].split(": ")
    return ": ".join(words[:1 if row["verdict"] == "no launch" else 2])[:90]


def report(rows):
    counts = collections.Counter(row["verdict"] for row in rows)
    compared = sum(counts[word] for word in ("equal", "close", "differs"))
    print(f"{len(rows)} kernels, {compared} compared: " +
          ", ".join(f"{n} {word}" for word, n in counts.most_common()))
    reasons = collections.Counter((row["verdict"], class_of(row)) for row in rows
                                  if row["verdict"] not in ("equal", "close", "differs"))
    for (word, reason), count in reasons.most_common():
        print(f"  {count:4} {word}: {reason}")


def main():
    options = parse_options()
    everything = []
    for path in (pathlib.Path(p).resolve() for p in options.paths):
        root = pathlib.Path(options.root).resolve() if options.root else path
        for file in source_files(path):
            if options.filter not in str(file):
                continue
            folder = pathlib.Path(tempfile.mkdtemp(prefix="tilewright-guessed-"))
            rows = keep_launches(file, folder, options)
            run_rows(rows, root if root.is_dir() else root.parent, options)
            keep_for_a_look(rows, options)
            shutil.rmtree(folder, ignore_errors=True)
            for row in rows:
                if row["verdict"] not in ("equal", "close", "no launch"):
                    print(f"{row['verdict']:<9} {row['file']}:{row['kernel']}  {row['reason']}",
                          flush=True)
                if options.json:
                    with open(options.json, "a") as out:
                        out.write(json.dumps(row) + "\n")
            everything += rows
    report(everything)
    return 1 if any(row["verdict"] in BAD for row in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
