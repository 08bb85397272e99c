# SPDX-License-Identifier: Apache-2.0
# numba/record_launches.py — runs tests of an installed Numba (or numba-cuda) in its simulator and keeps each kernel with its
# launch: source, arguments before and after. replay_launches.py gives them to tilewright.
#   python3 test/numba/record_launches.py FOLDER [MODULE ...]
# MODULE is one of Numba's test modules (numba.cuda.tests.cudapy.test_matmul); without any, all of them.
import ast
import builtins
import hashlib
import inspect
import itertools
import json
import linecache
import os
import pkgutil
import sys
import textwrap
import types
import unittest
import warnings

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numpy as np

import numba
import numba.cuda
from numba import cuda
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray
from numba.cuda.simulator.kernel import FakeCUDAKernel

warnings.simplefilter("ignore")

MOST_ELEMENTS = 1 << 20  # a larger launch is of no more use
MOST_OF_A_KERNEL = 3  # launches with other types or sizes


class NotWritable(Exception):
    """Something that a module's text cannot say."""


class Module:
    """The text of a kernel and of all that it uses."""

    def __init__(self):
        self.lines = []
        self.names = {}

    def add_name(self, name, value):
        if name in self.names:
            if self.names[name] is not value:
                raise NotWritable(f"two meanings of {name}")
            return
        self.names[name] = value
        if isinstance(value, FakeCUDAKernel):
            self.add_function(value.fn, name, value._device or True)
        elif isinstance(value, types.ModuleType):
            self.lines.append(f"import {value.__name__} as {name}")
        elif isinstance(value, (bool, int, float, complex)) or value is None:
            self.lines.append(f"{name} = {value!r}" if np.isfinite(value or 0) else f"{name} = float('{value}')")
        elif isinstance(value, np.generic) and value.dtype.kind in "iufb":
            self.lines.append(f"import numpy as np\n{name} = np.{value.dtype.name}({value.item()!r})")
        elif isinstance(value, tuple) and all(isinstance(v, (int, float)) for v in value):
            self.lines.append(f"{name} = {value!r}")
        elif isinstance(value, np.ndarray) and value.dtype.kind in "iufbc" and value.size < 5000:
            self.lines.append(f"import numpy as np\n{name} = np.array({value.tolist()!r}, dtype=np.{value.dtype.name})")
        elif isinstance(value, type) and issubclass(value, np.generic):
            self.lines.append(f"from numpy import {value.__name__} as {name}")
        elif isinstance(value, np.dtype) and value.names is None:
            self.lines.append(f"import numpy as np\n{name} = np.{value.name}")
        elif isinstance(value, numba.core.types.abstract.Type) and isinstance(value, numba.types.Number):
            self.lines.append(f"from numba import {value} as {name}")
        elif getattr(value, "__module__", "") in ("math", "operator", "cmath"):
            self.lines.append(f"from {value.__module__} import {value.__name__} as {name}")
        elif isinstance(value, types.FunctionType) and value.__module__.startswith("numba.cuda"):
            self.lines.append(f"from {value.__module__} import {value.__name__} as {name}")
        elif name in dir(builtins):
            pass
        else:
            raise NotWritable(f"{name} is a {type(value).__name__}")

    def add_function(self, function, name, is_device):
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        node = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), None)
        if node is None:
            raise NotWritable("a lambda")
        node.decorator_list = []
        node.name = name
        inside = inspect.getclosurevars(function)
        for other, value in {**inside.globals, **inside.nonlocals}.items():
            self.add_name(other, value)
        self.lines.append("\n@cuda.jit(device=True)" if is_device else "\n@cuda.jit")
        self.lines.append(ast.unparse(node))

    def text(self):
        return "\n".join(["from numba import cuda"] + self.lines) + "\n"


def host_array(value):
    if isinstance(value, FakeCUDAArray):
        return value._ary
    return getattr(value, "value", value) if not isinstance(value, np.ndarray) else value


def describe(value, path):
    """An argument for launch.json; arrays go to `path`."""
    array = host_array(value)
    if isinstance(array, np.ndarray) and array.ndim > 0:
        if array.dtype.kind not in "iufbc":
            raise NotWritable(f"an array of {array.dtype}")
        if array.size > MOST_ELEMENTS:
            raise NotWritable("large")
        np.save(path, np.ascontiguousarray(array))
        return {"array": os.path.basename(path), "is_contiguous": bool(array.flags.c_contiguous)}
    if isinstance(value, (bool, np.bool_)):
        return {"dtype": "bool", "value": bool(value)}
    if isinstance(value, np.generic) and value.dtype.kind in "iuf":
        return {"dtype": value.dtype.name, "value": value.item()}
    if isinstance(value, int):
        return {"dtype": "int64", "value": value}
    if isinstance(value, float):
        return {"dtype": "float64", "value": value}
    raise NotWritable(f"an argument of type {type(value).__name__}")


class Recorder:
    def __init__(self, folder):
        self.folder = folder
        self.test = ""
        self.kernels = {}
        self.count = 0
        self.refused = []

    def begin(self, kernel, arguments):
        module = Module()
        module.names["cuda"] = cuda
        name = kernel.fn.__name__
        module.names[name] = kernel
        module.add_function(kernel.fn, name, False)
        text = module.text()
        key = hashlib.sha1(text.encode()).hexdigest()
        if self.kernels.get(key, 0) >= MOST_OF_A_KERNEL:
            return None
        self.kernels[key] = self.kernels.get(key, 0) + 1
        place = os.path.join(self.folder, f"{self.count:04d}")
        os.makedirs(place, exist_ok=True)
        record = {"test": self.test, "kernel": name, "grid": list(kernel.grid_dim), "block": list(kernel.block_dim),
                  "shared": kernel.dynshared_size,
                  "parameters": list(inspect.signature(kernel.fn).parameters),
                  "arguments": [describe(a, os.path.join(place, f"before{i}.npy")) for i, a in enumerate(arguments)]}
        self.count += 1
        with open(os.path.join(place, "kernel.py"), "w") as out:
            out.write(text)
        return place, record

    def end(self, begun, arguments):
        place, record = begun
        for i, value in enumerate(arguments):
            array = host_array(value)
            if isinstance(array, np.ndarray) and array.ndim > 0:
                np.save(os.path.join(place, f"after{i}.npy"), np.ascontiguousarray(array))
        with open(os.path.join(place, "launch.json"), "w") as out:
            json.dump(record, out)


def install(recorder):
    launch = FakeCUDAKernel.__call__

    def recorded(self, *arguments):
        if self._device:
            return launch(self, *arguments)
        begun = None
        try:
            begun = recorder.begin(self, arguments)
        except (NotWritable, OSError, TypeError, SyntaxError, ValueError) as reason:
            recorder.refused.append((recorder.test, self.fn.__name__, str(reason)))
        result = launch(self, *arguments)
        if begun is not None:
            recorder.end(begun, arguments)
        return result

    FakeCUDAKernel.__call__ = recorded


def keep_sources_of_exec():
    """Functions that tests make of texts have a source then."""
    run, numbers = builtins.exec, itertools.count()

    def kept(text, namespace=None, inner=None):
        frame = sys._getframe(1)
        namespace = frame.f_globals if namespace is None else namespace
        inner = (frame.f_locals if namespace is frame.f_globals else namespace) if inner is None else inner
        if isinstance(text, str):
            name = f"<kept {next(numbers)}>"
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
            text = compile(text, name, "exec")
        run(text, namespace, inner)

    builtins.exec = kept


class Result(unittest.TestResult):
    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def startTest(self, test):
        self.recorder.test = test.id()
        super().startTest(test)


def all_modules():
    for package in ("cudapy", "doc_examples"):
        path = [os.path.join(os.path.dirname(numba.cuda.__file__), "tests", package)]
        for _, name, _ in pkgutil.iter_modules(path):
            if name.startswith("test_"):
                yield f"numba.cuda.tests.{package}.{name}"


if __name__ == "__main__":
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    recorder = Recorder(folder)
    install(recorder)
    keep_sources_of_exec()
    for module in sys.argv[2:] or all_modules():
        try:
            suite = unittest.defaultTestLoader.loadTestsFromName(module)
            suite.run(Result(recorder))
        except Exception as reason:
            print(f"{module}: {reason}")
    with open(os.path.join(folder, "refused.json"), "w") as out:
        json.dump(sorted(set(recorder.refused)), out, indent=1)
    print(f"{recorder.count} launches of {len(recorder.kernels)} kernels; {len(set(recorder.refused))} not written")
