# SPDX-License-Identifier: Apache-2.0
# numba/oracle.py — runs the kernels of cases.py in Numba's simulator and writes what the arrays hold before and after
# to expected.json, which numba_kernels_test reads. Needs the Python packages numba and numpy:
#   NUMBA_ENABLE_CUDASIM=1 python3 test/numba/oracle.py
import importlib
import json
import os
import sys
import warnings

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "kernels"))

import numpy as np

from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

from cases import CASES

warnings.simplefilter("ignore")


def three(sizes):
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    return list(sizes) + [1] * (3 - len(sizes))


def numbers(array):
    """Row-major; what JSON has no number for is a text."""
    flat = array.reshape(-1).tolist()
    if array.dtype.kind == "f":
        return [v if np.isfinite(v) else str(v) for v in flat]
    return [int(v) for v in flat]


def described(value):
    if isinstance(value, np.ndarray):
        strides = [s // value.itemsize for s in value.strides]
        return {"dtype": value.dtype.name, "shape": list(value.shape), "strides": strides, "before": numbers(value)}
    if isinstance(value, (bool, np.bool_)):
        return {"dtype": "bool", "value": int(value)}
    name = value.dtype.name if isinstance(value, np.generic) else "int64" if isinstance(value, int) else "float64"
    return {"dtype": name, "value": value.item() if isinstance(value, np.generic) else value}


def on_device(value):
    """Arrays as they are: the simulator would refuse to copy one with gaps."""
    return FakeCUDAArray(value) if isinstance(value, np.ndarray) else value


def run_case(file, kernel, grid, block, make):
    module = importlib.import_module(file)
    arguments = make()
    record = {"file": file, "kernel": kernel, "grid": three(grid), "block": three(block),
              "arguments": [described(a) for a in arguments]}
    getattr(module, kernel)[grid, block](*[on_device(a) for a in arguments])
    for description, value in zip(record["arguments"], arguments):
        if isinstance(value, np.ndarray):
            description["after"] = numbers(value)
    return record


if __name__ == "__main__":
    records = [run_case(*case) for case in CASES]
    with open(os.path.join(HERE, "expected.json"), "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(r) for r in records) + "\n]\n")
    print(f"{len(records)} launches of {len(set((r['file'], r['kernel']) for r in records))} kernels")
