#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# kernel_diff/without_loops.py — without_loops.py TILEWRIGHT: how many CPU kernels of the tree have no lowering to stage Final yet, and
# are written by ProgramWriter as a whole, counted by the reason that `compile --emit ir` gives. The number of those that have one only rises: it is LEAST, or LEAST is to be made larger. Every lowered
# kernel is valid.
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import corpus

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST = 234
HEADING = "// ---- stage Final\n"
REFUSAL = re.compile(r"^// ---- no stage Final: (.+)$", re.M)
NAME = re.compile(r"indices '[^']*'")


class Tool:
    def __init__(self, path):
        self.path = path

    def run(self, arguments, cache=None):
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, errors="replace", check=False)


def judge(tool, folder, number, file, kernel, signature):
    """loops, (reason,) where there are none, or what is wrong."""
    types = ["--signature", signature] if signature else ["--guess"]
    shown = tool.run(["compile", f"{file}:{kernel}", *types, "--target", "avx2", "--emit", "ir"])
    if shown.returncode != 0:
        return "refused"
    _, heading, text = shown.stdout.partition(HEADING)
    if not heading:
        refusal = REFUSAL.search(shown.stdout)
        return (NAME.sub("indices", refusal[1]),) if refusal else f"{file}:{kernel}: no word on why there are no loops"
    path = folder / f"{number}.tir"
    path.write_text(text)
    read = tool.run(["opt", str(path)])
    if read.returncode != 0:
        return f"{file}:{kernel}: {read.stderr.strip()}"
    return "loops" if read.stdout == text else f"{file}:{kernel}: its text changes when it is read back"


def main():
    tool = Tool(os.path.realpath(sys.argv[1]))
    with tempfile.TemporaryDirectory(prefix="without_loops_") as name:
        folder = pathlib.Path(name)
        corpus.extract_texts(ROOT, folder)
        kernels = [(file, kernel, "") for file, kernel in sorted(set(corpus.triton_kernels(ROOT, folder, [], tool)))]
        kernels += corpus.signed_kernels(ROOT)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda one: judge(tool, folder, one[0], *one[1]), enumerate(kernels)))
    loops, reasons = found.count("loops"), collections.Counter(one[0] for one in found if isinstance(one, tuple))
    print(f"{loops} kernels are lowered to loops, {reasons.total()} are not, {found.count('refused')} are refused")
    for reason, count in reasons.most_common():
        print(f"{count:6}  {reason}")
    wrong = [one for one in found if one not in ("loops", "refused") and not isinstance(one, tuple)]
    for one in wrong:
        print(one)
    if loops != LEAST:
        print(f"{loops} kernels are lowered; there were {LEAST}" + (": make LEAST larger" if loops > LEAST else ""))
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
