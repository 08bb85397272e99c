#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# kernel_diff/run.py — run.py BASE HEAD: two tools write every kernel of the corpus; what each text is, compared, in three grades.
#
#   same tokens         the texts, device headers included, differ in comments, #line and names of variables alone
#   same machine code   the compilers make the same of both: code, constants, registers, spills, shared memory
#   differs             listed, with the numbers that changed and the first line
# Kernels in the IR's text form are compared as `opt` prints them in sweeps, with their layouts for CUDA; they have no second grade.
# A kernel that only one refuses differs; what both refuse is counted apart (--refused lists it, with what either says).
import argparse
import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import corpus
import machine_code
import tokens

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A name, and what is given to `compile`. Rows of few elements take one warp unless more are asked for, so one target has both.
CONFIGURATIONS = {
    "sm_80": ["--target", "sm_80", "--emit", "cuda"],
    "sm_90a": ["--target", "sm_90a", "--emit", "cuda"],
    "sm_90a with 8 warps": ["--target", "sm_90a", "--emit", "cuda", "--num-warps", "8"],
    "avx2": ["--target", "avx2", "--emit", "cpp"],
    "avx512": ["--target", "avx512", "--emit", "cpp"],
}
SAME, SAME_CODE, DIFFERS = "same tokens", "same machine code", "differs"

Difference = collections.namedtuple("Difference", "kernel configuration grade reasons refused", defaults=[False])


class Tool:
    def __init__(self, path, cache):
        self.path = path
        self.cache = cache

    def run(self, arguments, cache=None):
        environment = dict(os.environ, TILEWRIGHT_CACHE_DIR=cache or self.cache)
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, errors="replace", env=environment,
                              check=False)

    def text(self, arguments):
        """What is printed, and whether it is a refusal."""
        done = self.run(arguments)
        if done.returncode == 0:
            return done.stdout, False
        # Where in our own sources an internal error was found changes with every edit.
        return re.sub(r"internal error at \S+", "internal error", done.stderr.strip()), True


def line_of(text, number):
    return text.splitlines()[number - 1].strip() if text else ""


def refusals(a, b):
    return [a] if a == b else [f"{a} -> {b}"]


def compare_triton(base, head, file, kernel, signature, configuration, only_tokens=False):
    types = ["--signature", signature] if signature else ["--guess"]
    arguments = [f"{file}:{kernel}", *types, *CONFIGURATIONS[configuration]]
    (a, a_refused), (b, b_refused) = (tool.text(["compile", *arguments, "--self-contained"]) for tool in (base, head))
    name = f"{file}:{kernel}" + (f" ({signature})" if signature else "")
    if a_refused != b_refused:
        return Difference(name, configuration, DIFFERS, [f"only {'BASE' if a_refused else 'HEAD'} refuses: {a if a_refused else b}"])
    if a_refused:
        return Difference(name, configuration, SAME, refusals(a, b), True)
    if a == b:
        return Difference(name, configuration, SAME, [])
    (a_headers, a), (b_headers, b) = (tokens.split_headers(whole, tool.text(["compile", *arguments])[0])
                                      for whole, tool in ((a, base), (b, head)))
    place = tokens.first_difference(a, b, kept=[kernel])
    if place is not None:
        lines = f"{line_of(a, place[0])} -> {line_of(b, place[1])}"
    elif not only_tokens and tokens.headers_differ(a_headers, b_headers):
        lines = "the device library differs"
    else:
        return Difference(name, configuration, SAME, [])
    if only_tokens:
        return Difference(name, configuration, DIFFERS, [lines])
    try:
        codes = [machine_code.compile_kernel(tool, arguments) for tool in (base, head)]
    except machine_code.Unreadable as problem:
        return Difference(name, configuration, DIFFERS, [f"no machine code: {problem}", lines])
    if codes[0].is_same_as(codes[1]):
        return Difference(name, configuration, SAME_CODE, [lines])
    return Difference(name, configuration, DIFFERS, codes[0].differences(codes[1]) + [lines])


def compare_ir(base, head, file, configuration):
    target = CONFIGURATIONS[configuration][1]
    for shown in ([["--sweeps"], ["--layouts"]] if target.startswith("sm_") else [["--sweeps"]]):
        a, b = (tool.text(["opt", file, "--target", target, *shown]) for tool in (base, head))
        if a[1] and b[1]:
            return Difference(file, configuration, SAME, refusals(a[0], b[0]), True)
        if a != b:
            pairs = zip(a[0].splitlines() + [""], b[0].splitlines() + [""])
            first = next((f"{x.strip()} -> {y.strip()}" for x, y in pairs if x != y), "one has more lines")
            return Difference(file, configuration, DIFFERS, [f"opt {shown[0]}: {first}"])
    return Difference(file, configuration, SAME, [])


def random_program(head):
    return os.path.join(os.path.dirname(os.path.realpath(head.path)), "random_kernels")


def compare_all(base, head, options, extracted):
    corpus.extract_texts(ROOT, extracted)
    if options.random:
        corpus.write_random(random_program(head), options.random, extracted)
    if options.only:
        guessed = sorted({found for path in options.only for found in corpus.list_kernels(base, path)})
        signed, in_ir = [], []
    else:
        guessed = sorted({found for tool in (base, head)
                          for found in corpus.triton_kernels(ROOT, extracted, options.public, tool)})
        signed, in_ir = corpus.signed_kernels(ROOT), corpus.ir_kernels(ROOT, extracted)
    triton = [(file, kernel, "") for file, kernel in guessed] + signed
    names = options.target or list(CONFIGURATIONS)
    compare = functools.partial(compare_triton, only_tokens=options.tokens)
    jobs = [(compare, base, head, *one, name) for one in triton for name in names]
    jobs += [(compare_ir, base, head, file, name) for file in in_ir for name in names if "warps" not in name]
    if options.filter:
        jobs = [job for job in jobs if options.filter in ":".join(job[3:-1])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda job: job[0](*job[1:]), jobs))
    return [shortened(one, (f"{extracted}/", f"{ROOT}/")) for one in found]


def shortened(one, prefixes):
    """With paths as they are in the tree, or below triton/ and ir/ for texts inside of tests."""
    for prefix in prefixes:
        one = one._replace(kernel=one.kernel.replace(prefix, ""), reasons=[text.replace(prefix, "") for text in one.reasons])
    return one


def report(found, shown):
    for grade in (SAME_CODE, DIFFERS):
        those = [one for one in found if one.grade == grade]
        for one in those[:shown]:
            print(f"{grade}: {one.kernel} for {one.configuration}")
            for reason in one.reasons:
                print(f"    {reason}")
        if len(those) > shown:
            print(f"{grade}: {len(those) - shown} more (--show N)")
    width = max(len(name) for name in CONFIGURATIONS)
    print(f"{'':{width}}  {SAME:>17}  {SAME_CODE:>17}  {DIFFERS:>17}  {'refused by both':>17}")
    names = {one.configuration for one in found}
    for name in [*(name for name in CONFIGURATIONS if name in names), "all"]:
        those = [one for one in found if name in ("all", one.configuration)]
        counts = collections.Counter(one.grade for one in those if not one.refused)
        refused = sum(one.refused for one in those)
        print(f"{name:{width}}  {counts[SAME]:>17}  {counts[SAME_CODE]:>17}  {counts[DIFFERS]:>17}  {refused:>17}")


def main():
    parser = argparse.ArgumentParser(prog="kernel_diff", description="compares the kernels that two builds of tilewright write")
    parser.add_argument("base", help="a tilewright program")
    parser.add_argument("head", help="another one")
    parser.add_argument("--public", action="append", default=[], metavar="DIR", help="kernels of public projects too")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random kernels too (random_kernels beside HEAD)")
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="the Triton kernels of this file or folder alone")
    parser.add_argument("--target", action="append", default=[], choices=list(CONFIGURATIONS), help="for this alone")
    parser.add_argument("--filter", default="", metavar="TEXT", help="kernels with this in FILE:KERNEL")
    parser.add_argument("--tokens", action="store_true",
                        help="compare texts alone, compile nothing; what changed in the device library is not looked at")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="how many kernels of a grade are listed (default 20)")
    parser.add_argument("--refused", action="store_true", help="list what both refuse too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="kernels at a time (default: processors)")
    options = parser.parse_args()
    for program in (options.base, options.head):
        if not os.access(program, os.X_OK) or os.path.isdir(program):
            parser.error(f"{program} is no program; build one with scripts/build dev tilewright_cli")
    if options.random and not os.access(random_program(Tool(options.head, "")), os.X_OK):
        parser.error(f"--random needs random_kernels beside {options.head}; build it with scripts/build dev random_kernels")
    for folder in [*options.public, *options.only]:
        if not os.path.exists(folder):
            parser.error(f"there is no {folder}")
    with tempfile.TemporaryDirectory(prefix="kernel_diff_") as folder:
        base, head = Tool(options.base, f"{folder}/base"), Tool(options.head, f"{folder}/head")
        found = compare_all(base, head, options, pathlib.Path(folder) / "texts")
    if not found:
        parser.error("there is no kernel to compare; look at --filter and --only")
    kernels = len({one.kernel for one in found})
    print(f"{kernels} kernel{'s' if kernels > 1 else ''}")
    if options.refused:
        for one in found:
            if one.refused:
                print(f"refused by both: {one.kernel} for {one.configuration}: {' '.join(one.reasons[0].split())}")
    report(found, options.show)
    return 1 if any(one.grade == DIFFERS for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
