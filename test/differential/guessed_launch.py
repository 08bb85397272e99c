# SPDX-License-Identifier: Apache-2.0
# differential/guessed_launch.py — one launch that `tilewright run --guess --keep` wrote, by Triton's compiler.
"""The verdict on what our interpreter left: equal (bit for bit), close (floats within what rounding
explains), differs, trivial (nothing is written), refused (Triton does not compile it), undefined (it
does what Triton leaves open), no oracle (the harness cannot run it).
"""
import dataclasses
import inspect
import json
import pathlib
import traceback

import numpy
import triton.language as tl

from case_file import DTYPES
from compare import bits
from compiled_side import ARRAYS, SIGNATURES, ttir_of
from inputs import NUMPY_TYPES
from rounding_bounds import wrong_places
from triton_side import TL_NAMES, load_kernel
from ttir_machine import Machine, UndefinedError
from ttir_memory import DescribedArray


@dataclasses.dataclass
class Launch:
    """launch.json with its tensors, and the places of the arguments by their names."""

    folder: pathlib.Path
    text: dict

    @classmethod
    def read(cls, folder):
        folder = pathlib.Path(folder)
        return cls(folder, json.loads((folder / "launch.json").read_text()))

    def arguments(self):
        return {argument["name"]: argument for argument in self.text["arguments"]}

    def tensor(self, argument, moment):
        """An array; bf16 and fp8 as float32."""
        return numpy.load(self.folder / f"{argument['tensor']}.{moment}.npy")

    def rounded(self, argument):
        return [self.tensor(argument, f"rounded{i}") for i in range(self.text["rounded_runs"])]

    def tensors(self):
        return [a for a in self.text["arguments"] if "tensor" in a]


def constant(value):
    if isinstance(value, dict):
        if "float" in value:
            return float(value["float"])
        if "type" not in value:
            raise NotImplementedError("a constant that is a function")
        dtype = getattr(tl, TL_NAMES[DTYPES[value["type"]]])
        return tl.pointer_type(dtype) if value["is_pointer"] else dtype
    return value


class SignatureMaker:
    """A launch as the compiler wants it: types by name, constants by place, and values."""

    def __init__(self, launch):
        self.launch, self.arguments = launch, launch.arguments()
        self.constants, self.values = {}, []

    def make(self, kernel):
        signature = {}
        for place, (name, parameter) in enumerate(inspect.signature(kernel.fn).parameters.items()):
            given = self.launch.text["parameters"].get(name)
            if given is None:
                given = {"constant": parameter.default}
            signature[name] = self.type_of(given, name, (place,))
        return signature

    def type_of(self, given, name, path):
        if "constant" in given:
            self.constants[path] = constant(given["constant"])
            return "constexpr"
        if "tuple" in given:
            return tuple(self.type_of(item, f"{name}.{i}", (*path, i))
                         for i, item in enumerate(given["tuple"]))
        argument = self.arguments[name]
        if "pointer" in given:
            dtype = DTYPES[given["pointer"]]
            self.values.append(self.array(argument, dtype))
            return "*" + SIGNATURES.get(dtype, dtype)
        if "descriptor" in given:
            return self.descriptor(given, name, argument)
        dtype = DTYPES[given["scalar"]]
        value = numpy.array(constant(argument["value"]))
        self.values.append(value.astype(NUMPY_TYPES[dtype.replace("u", "i")])[()])
        return SIGNATURES.get(dtype, dtype)

    def array(self, argument, dtype):
        array = self.launch.tensor(argument, "before")
        return array.astype(ARRAYS.get(dtype, array.dtype))

    def descriptor(self, given, name, argument):
        dtype, rank = DTYPES[given["descriptor"]], len(given["block"])

        def numbers(part, usual):
            keys = [f"{name}.{part}.{i}" for i in range(rank)]
            return [self.arguments[k]["value"] if k in self.arguments else usual for k in keys]

        shape, strides = numbers("shape", None), numbers("strides", 1)
        self.values.append(DescribedArray(self.array(argument, dtype), shape, strides,
                                          tuple(given["block"])))
        self.values += [numpy.int32(n) for n in shape] + [numpy.int64(n) for n in strides]
        block = ",".join(str(size) for size in given["block"])
        return f"tensordesc<{SIGNATURES.get(dtype, dtype)}[{block}]>"


def run_triton(launch, root):
    """The tensors after the launch, in its order; None and why when Triton does not compile it."""
    file = pathlib.Path(launch.text["file"]).relative_to(root)
    kernel = load_kernel(root, file, launch.text["kernel"], launch.folder, False)
    maker = SignatureMaker(launch)
    signature = maker.make(kernel)
    try:
        text = ttir_of(kernel, signature, maker.constants, launch.text["num_warps"])
    except Exception as error:  # whatever the compiler says no with
        return None, last_line(error)
    (launch.folder / "triton.ttir").write_text(text)
    after = Machine(text).run(maker.values, launch.text["grid"])
    dtypes = [DTYPES[a["dtype"]] for a in launch.tensors()]
    return [a.astype(numpy.float32) if d in ARRAYS else a for a, d in zip(after, dtypes)], ""


def last_line(error):
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    lines = [line for line in str(cause).splitlines() if line.strip()]
    return f"{type(cause).__name__}: {lines[-1].strip() if lines else ''}"[:200]


def judge(launch, theirs):
    word, changed = "equal", False
    for argument, array in zip(launch.tensors(), theirs):
        dtype = DTYPES[argument["dtype"]]
        ours, before = (launch.tensor(argument, m) for m in ("after", "before"))
        changed |= bool((bits(ours) != bits(before)).any())
        array = array.reshape(ours.shape)
        places = bits(ours) != bits(array)
        if not places.any():
            continue
        written = places | (bits(ours) != bits(before))
        some = [x[written] for x in (before, ours, array, *launch.rounded(argument))]
        with numpy.errstate(all="ignore"):
            wrong = wrong_places(*some[:3], some[3:], dtype)
        if wrong.any():
            at = numpy.flatnonzero(written)[int(numpy.argmax(wrong))]
            return "differs", f"{argument['name']}: {int(wrong.sum())} elements, first [{at}] " \
                f"is {ours.ravel()[at]}, Triton has {array.ravel()[at]}"
        word = "close"
    return (word, "") if changed else ("trivial", "the kernel changes no tensor")


def run_launch(folder, root):
    """Writes result.json into the folder of a launch."""
    launch = Launch.read(folder)
    try:
        theirs, reason = run_triton(launch, pathlib.Path(root).resolve())
        word, reason = judge(launch, theirs) if theirs is not None else ("refused", reason)
    except UndefinedError as error:
        word, reason = "undefined", str(error)
    except IndexError as error:
        word, reason = "differs", last_line(error)
        traceback.print_exc()
    except Exception as error:  # of the harness, which lacks something
        word, reason = "no oracle", last_line(error)
        traceback.print_exc()
    (pathlib.Path(folder) / "result.json").write_text(
        json.dumps({"verdict": word, "reason": reason}))
