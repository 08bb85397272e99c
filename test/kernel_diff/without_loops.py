#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# kernel_diff/without_loops.py — without_loops.py TILEWRIGHT: every CPU kernel of the tree is lowered to stage Final, is valid there, and is
# the same when its text is read back.
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import corpus

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADING = "// ---- stage Final\n"


class Tool:
    def __init__(self, path):
        self.path = path

    def run(self, arguments, cache=None):
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, errors="replace", check=False)


def judge(tool, folder, number, file, kernel, signature):
    """loops, refused, or what is wrong."""
    types = ["--signature", signature] if signature else ["--guess"]
    shown = tool.run(["compile", f"{file}:{kernel}", *types, "--target", "avx2", "--emit", "ir"])
    if shown.returncode != 0:
        return "refused"
    _, heading, text = shown.stdout.partition(HEADING)
    if not heading:
        return f"{file}:{kernel}: has no loops"
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
    print(f"{found.count('loops')} kernels are lowered to loops, {found.count('refused')} are refused")
    wrong = [one for one in found if one not in ("loops", "refused")]
    for one in wrong:
        print(one)
    return 1 if wrong or "loops" not in found else 0


if __name__ == "__main__":
    sys.exit(main())
