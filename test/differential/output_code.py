# SPDX-License-Identifier: Apache-2.0
# test/differential/output_code.py — Triton runs the output_code of compiled functions, and its results are compared with ours.
#
#   build/dev/bin/output_code_cases DIR
#   TRITON_INTERPRET=1 python3 test/differential/output_code.py DIR          on a machine without a GPU
#   python3 test/differential/output_code.py DIR --device cuda               compiled by Triton
#
# Each folder of DIR has code.py, the Triton text; launches.json, the launches in order; and the memory of every tensor argument after
# our own launch. Exit code 1 where a result differs, or where Triton does not take the text.
import argparse
import importlib.util
import inspect
import json
import os
import pathlib
import sys

import numpy
import torch
import triton.language as tl

import interpreter_patches

is_interpreted = os.environ.get("TRITON_INTERPRET") == "1"
if is_interpreted:
    interpreter_patches.patch_interpreter()


def module_of(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tolerance_of(dtype):
    return {"float32": 2e-6, "bfloat16": 1e-2, "float16": 2e-3, "float64": 1e-14}.get(dtype, 0.0)


# Where a result is further off than rounding explains; None: nowhere.
def difference(found, expected, dtype):
    found, expected = found.double().cpu(), expected.double().cpu()
    allowed = tolerance_of(dtype) * (1 + expected.abs())
    differs = ~((found - expected).abs() <= allowed) & ~(found.isnan() & expected.isnan()) & (found != expected)
    if not differs.any():
        return None
    at = int(differs.nonzero()[0])
    return f"element {at} is {float(found[at])}, here it was {float(expected[at])}"


def run_launch(kernel, launch, folder, device):
    arguments, written = [], []
    parameters = list(inspect.signature(kernel.fn).parameters.values())
    for parameter, argument in zip(parameters, launch["arguments"], strict=True):
        if "number" in argument:
            number = argument["number"]
            number = float(number) if isinstance(number, str) else number
            is_float = is_interpreted and isinstance(number, float)
            is_double = parameter.annotation is tl.float64
            arguments.append(interpreter_patches.float_argument(number, tl.float64 if is_double else tl.float32) if is_float else number)
            continue
        dtype = argument["dtype"]
        memory = torch.from_numpy(numpy.load(folder / argument["file"])).to(dtype=getattr(torch, dtype), device=device)
        if argument["written"]:
            expected, memory = memory, torch.full_like(memory, 7)
            written.append((memory, expected, dtype))
        arguments.append(memory[argument["offset"]:])
    kernel[(launch["programs"],)](*arguments)
    return [difference(memory, expected, dtype) for memory, expected, dtype in written]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    failures = launches = 0
    for folder in sorted(p for p in options.folder.iterdir() if (p / "code.py").exists()):
        try:
            module = module_of(folder / "code.py", f"output_code_{folder.name}")
            for number, launch in enumerate(json.loads((folder / "launches.json").read_text())):
                launches += 1
                for problem in filter(None, run_launch(getattr(module, launch["kernel"]), launch, folder, options.device)):
                    failures += 1
                    print(f"{folder.name}: launch {number} of {launch['kernel']}: {problem}")
        except Exception as problem:
            failures += 1
            print(f"{folder.name}: {type(problem).__name__}: {str(problem).strip().splitlines()[-1] if str(problem) else ''}")
    print(f"{launches} launches, {failures} differ")
    sys.exit(1 if failures or not launches else 0)


main()
