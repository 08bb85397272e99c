#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# differential/random_kernels.py — the kernels of test/fuzz/kernels, by Triton's compiler and by our interpreter.
"""random_kernels.py --program build/dev/bin/random_kernels [--first SEED] [--count N]

Integers and floats must agree bit for bit: the kernels compute nothing that rounds. Left out is the
one element that tells the sign of zeros (of Triton -x is 0 - x, and -0.0 is 0.0). What Triton does
not define is counted as that: steps below 0 that are no constants. Needs torch, Triton and
ml_dtypes, no GPU.
"""
import argparse
import collections
import importlib.util
import inspect
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import numpy

from case_file import DTYPES
from compare import bits
from compiled_side import ARRAYS, SIGNATURES, scalar, ttir_of
from guessed_launch import last_line
from inputs import NUMPY_TYPES
from ttir_machine import Machine, UndefinedError
from ttir_memory import ArrayPart


class RandomLaunch:
    def __init__(self, folder):
        self.folder, self.text = folder, json.loads((folder / "launch.json").read_text())
        self.dtypes = [DTYPES[memory["dtype"]] for memory in self.text["memory"]]

    def images(self, moment):
        return [numpy.fromfile(self.folder / f"{i}.{moment}.bin", ARRAYS.get(d, NUMPY_TYPES[d]))
                for i, d in enumerate(self.dtypes)]

    def kernel(self):
        spec = importlib.util.spec_from_file_location(self.text["kernel"],
                                                      self.folder / "kernel.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, self.text["kernel"])

    def arguments(self, kernel, images):
        """The signature, the constants by place, and the values of all others."""
        signature, constants, values = {}, {}, []
        for place, name in enumerate(inspect.signature(kernel.fn).parameters):
            if name in self.text["pointers"]:
                pointer = self.text["pointers"][name]
                dtype = self.dtypes[pointer["memory"]]
                signature[name] = "*" + SIGNATURES.get(dtype, dtype)
                values.append(ArrayPart(images[pointer["memory"]], pointer["start"]))
                continue
            integer = self.text["integers"][name]
            if integer["is_constant"] or integer["value"] == 1:
                signature[name], constants[(place,)] = "constexpr", integer["value"]
            else:
                signature[name], value = scalar(integer["value"])
                values.append(value)
        return signature, constants, values

    def sign_of_zeros(self, memory):
        """The elements of a memory that tell it: one of each program."""
        text, out = (self.folder / "kernel.py").read_text(), self.text["pointers"].get("out")
        place = re.search(r"tl\.store\(out \+ (\d+), .*1\.0 / zeros < 0", text)
        if not place or out is None or out["memory"] != memory:
            return []
        step = re.search(r"^    out \+= pid \* (\d+)", text, re.M)
        return [out["start"] + int(place[1]) + program * int(step[1] if step else 0)
                for program in range(self.text["grid"])]

    def compare(self):
        kernel, images = self.kernel(), self.images("before")
        signature, constants, values = self.arguments(kernel, images)
        try:
            text = ttir_of(kernel, signature, constants, self.text["num_warps"])
        except Exception as error:  # whatever the compiler says no with
            return "refused", last_line(error)
        machine = Machine(text)
        machine.run(values, (self.text["grid"],))
        for i, (before, ours) in enumerate(zip(images, self.images("after"))):
            theirs = machine.memory.after(before)
            wrong = bits(ours) != bits(theirs)
            wrong[self.sign_of_zeros(i)] = False
            if wrong.any():
                at = int(numpy.argmax(wrong))
                return "differs", f"{int(wrong.sum())} elements of memory {i}, first [{at}] is " \
                    f"{ours[at]}, Triton has {theirs[at]}"
        return "equal", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--first", default="0")
    parser.add_argument("--count", default="100")
    parser.add_argument("--keep", help="folder for the kernels (else one that is removed)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tilewright-random-") as temporary:
        folder = pathlib.Path(options.keep or temporary)
        subprocess.run([options.program, "--first", options.first, "--count", options.count,
                        "--keep", str(folder)], check=True, stdout=subprocess.DEVNULL)
        counts = collections.Counter()
        for path in sorted(folder.iterdir(), key=lambda p: int(p.name[1:])):
            try:
                word, reason = RandomLaunch(path).compare()
            except UndefinedError as error:
                word, reason = "undefined", str(error)
            except Exception as error:  # of the machine, which lacks something
                word, reason = "no oracle", last_line(error)
            counts[word] += 1
            if word not in ("equal", "undefined"):
                print(f"{word} {path.name}: {reason}", flush=True)
    print(", ".join(f"{n} {word}" for word, n in counts.most_common()))
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
