#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/simt_numba.py — thread-level Python by numba-cuda and by us, in one process, on one GPU: what arrays hold, and
# what launches take on the device.
#
#   bench/simt_numba.py [--tool build/dev/bin/tilewright] [--target sm_90a]
#
# Needs numba-cuda (with cuda-core and cuda-bindings) and a numpy that it takes (numpy 2.5 has no row_stack). Our side of a row is the cubin that `tilewright compile`
# writes for the same file, launched by the driver on the same arrays; both take turns. Then all launches of
# test/numba/cases.py by numba-cuda, compared with expected.json, which numba_kernels_test compares ours with.
# Without a GPU, NUMBA_ENABLE_CUDASIM=1 runs the small sizes in Numba's simulator and only compiles ours.
import argparse
import ctypes
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from numba import cuda

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = os.path.join(ROOT, "test", "numba")
IS_SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
F, I = np.float32, np.int32


def floats(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(F)


def integers(count, high):
    return np.random.default_rng(2).integers(0, high, count).astype(I)


def rows():
    """name, file, kernel, grid, block, arrays, tolerance (0: the same bits)"""
    n = 1 << 10 if IS_SIMULATED else 1 << 26
    m = 1 << 9 if IS_SIMULATED else 1 << 22  # of atomics
    side = 16 if IS_SIMULATED else 2048
    height, width = (2, 64) if IS_SIMULATED else (1 << 14, 1 << 12)
    tests, suite = os.path.join(TESTS, "kernels"), os.path.join(ROOT, "src", "bench", "kernels")
    elementwise, shared, atomics = (os.path.join(tests, f + ".py") for f in ("elementwise", "shared", "atomics"))
    x, y = floats(n), floats(n)
    table, a, b = floats(height, width), floats(side, side), floats(side, side)
    zeros = np.zeros
    yield "numba_square", elementwise, "numba_square", n // 256, 256, [x, zeros(n, F)], 0
    yield "add", os.path.join(suite, "add_simt.py"), "add_kernel", n // 256, 256, [x, y, zeros(n, F)], 0
    yield "GELU", os.path.join(suite, "gelu_simt.py"), "gelu_kernel", n // 256, 256, [x, zeros(n, F)], 1e-5
    yield "relu", elementwise, "relu", n // 256, 256, [x, zeros(n, F)], 0
    yield "softmax", os.path.join(suite, "softmax_simt.py"), "softmax_kernel", height, 256, [table, zeros((height, width), F)], 1e-5
    yield "tiled matmul 16", os.path.join(suite, "matmul_simt.py"), "matmul_kernel", (side // 16, side // 16), (16, 16), [a, b, zeros((side, side), F)], 1e-3
    yield "tiled matmul 8", shared, "fast_matmul", (side // 8, side // 8), (8, 8), [a, b, zeros((side, side), F)], 1e-3
    yield "transpose", shared, "transpose_tile", (side // 8, side // 8), (8, 8), [a, zeros((side, side), F)], 0
    yield "block sum", shared, "block_sum", n // 32, 32, [x, zeros(n // 32, F)], 0
    yield "block maximum", shared, "block_max", n // 32, 32, [integers(n, 1000), zeros(n // 32, I)], 0
    yield "neighbours", shared, "neighbours", n // 32, 32, [x, zeros(n, F)], 0
    yield "histogram", atomics, "histogram", m // 256, 256, [integers(m, 1 << 20), zeros(1024, I)], 0
    yield "shared histogram", atomics, "shared_histogram", m // 256, 256, [integers(m, 1 << 20), zeros(8, I)], 0
    yield "atomic maximum", atomics, "largest", m // 256, 256, [integers(m, 1 << 20), zeros(2, I)], 0


def three(sizes):
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    return list(sizes) + [1] * (3 - len(sizes))


def module_of(file):
    spec = importlib.util.spec_from_file_location(os.path.basename(file)[:-3], file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Ours:
    """The kernel as `tilewright compile` makes it. Its text says which parameters it takes: x, x_shape0, x_stride1."""

    def __init__(self, tool, target, file, kernel, arrays):
        types = ", ".join(f"{a.dtype.name}[{', '.join(':' * a.ndim)}]" for a in arrays)
        command = [tool, "compile", f"{file}:{kernel}", "--signature", types, "--target", target, "--emit"]
        text = subprocess.run(command + ["cuda"], check=True, capture_output=True, text=True, timeout=60).stdout
        head = re.search(r"__global__ void " + kernel + r"\((.*?)\)", text).group(1)
        self.parameters = [re.sub(r".*[ *]", "", each.strip()) for each in head.split(",")]
        names = self.argument_names(file, kernel)
        self.sources = [self.source_of(each, names) for each in self.parameters]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(command + ["cubin", "-o", folder], check=True, capture_output=True, timeout=60)
            (cubin,) = (f for f in os.listdir(folder) if f.endswith(".cubin"))
            with open(os.path.join(folder, cubin), "rb") as f:
                self.code = f.read()
        if IS_SIMULATED:
            return
        self.driver = ctypes.CDLL("libcuda.so.1")
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.driver.cuModuleLoadData(ctypes.byref(module), self.code))
        self.check(self.driver.cuModuleGetFunction(ctypes.byref(self.function), module, kernel.encode()))

    @staticmethod
    def argument_names(file, kernel):
        with open(file, encoding="utf-8") as f:
            return re.search(r"def " + kernel + r"\((.*?)\)", f.read()).group(1).replace(" ", "").split(",")

    @staticmethod
    def source_of(parameter, names):
        if parameter in names:
            return names.index(parameter), None
        name, what, dimension = re.fullmatch(r"(.*)_(shape|stride)(\d+)", parameter).groups()
        return names.index(name), (what, int(dimension))

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"the CUDA driver says {status}")

    def bind(self, grid, block, arrays):
        """A launch with these device arrays."""
        values = []
        for argument, part in self.sources:
            array = arrays[argument]
            if part is None:
                values.append(ctypes.c_uint64(array.__cuda_array_interface__["data"][0]))
            else:
                what, at = part
                values.append(ctypes.c_int32(array.shape[at] if what == "shape" else array.strides[at] // array.dtype.itemsize))
        addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        sizes = three(grid) + three(block)

        def launch():
            assert values
            self.check(self.driver.cuLaunchKernel(self.function, *sizes, 0, None, addresses, None))
        return launch


def milliseconds(launch, count):
    begin, end = cuda.event(), cuda.event()
    begin.record()
    for _ in range(count):
        launch()
    end.record()
    end.synchronize()
    return cuda.event_elapsed_time(begin, end) / count


def first_line(error):
    lines = [re.sub(r"\x1b\[\d+m", "", each).strip() for each in str(error).splitlines()]
    return next((each for each in lines if each), type(error).__name__)


def difference(got, wanted, tolerance):
    """How many elements differ."""
    if tolerance == 0:
        return int((got != wanted).sum())
    return int((~np.isclose(got, wanted, rtol=tolerance, atol=tolerance)).sum())


def compare_row(options, name, file, kernel, grid, block, arrays, tolerance):
    theirs = getattr(module_of(file), kernel)
    ours = Ours(options.tool, options.target, file, kernel, arrays)
    device = [cuda.to_device(a) for a in arrays]
    try:
        theirs[grid, block](*device)
    except Exception as error:  # one kernel that numba-cuda does not take must not end the table
        print(f"| {name} | refused: {first_line(error)} | | | |", flush=True)
        return True
    wanted = [d.copy_to_host() for d in device]
    if IS_SIMULATED:
        print(f"| {name} | simulated, {len(ours.code)} bytes of cubin, takes {', '.join(ours.parameters)} |")
        return True
    again = [cuda.to_device(a) for a in arrays]
    launch = ours.bind(grid, block, again)
    launch()
    cuda.synchronize()
    wrong = sum(difference(d.copy_to_host(), w, tolerance) for d, w in zip(again, wanted))
    best = [1e30, 1e30]
    for _ in range(15):
        best[0] = min(best[0], milliseconds(lambda: theirs[grid, block](*device), 10))
        best[1] = min(best[1], milliseconds(launch, 10))
    print(f"| {name} | {best[0]:.4f} | {best[1]:.4f} | {best[0] / best[1]:.2f} | {wrong} |", flush=True)
    return wrong == 0


def run_cases():
    """The launches of cases.py by numba-cuda: the same, different, refused."""
    sys.path[:0] = [TESTS, os.path.join(TESTS, "kernels")]
    from cases import CASES
    with open(os.path.join(TESTS, "expected.json"), encoding="utf-8") as f:
        expected = json.load(f)
    counts = {"same": 0, "different": 0, "refused": 0}
    for case, record in zip(CASES, expected):
        file, kernel, grid, block, make = case[:5]
        arguments = make()
        try:
            device = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
            getattr(module_of(os.path.join(TESTS, "kernels", file + ".py")), kernel)[grid, block](*device)
            after = [d.copy_to_host() for d, a in zip(device, arguments) if isinstance(a, np.ndarray)]
        except Exception as error:  # one kernel that numba-cuda does not take must not end the table
            print(f"{file}.{kernel}: refused by numba-cuda: {first_line(error)}")
            counts["refused"] += 1
            continue
        wanted = [np.array([float(v) for v in d["after"]]) for d in record["arguments"] if "after" in d]
        is_same = all(np.allclose(got.reshape(-1).astype(np.float64), w, rtol=1e-5, atol=1e-6, equal_nan=True)
                      for got, w in zip(after, wanted))
        counts["same" if is_same else "different"] += 1
        if not is_same:
            print(f"{file}.{kernel}: numba-cuda differs from its simulator")
    print(f"cases.py by numba-cuda: {counts}")


def main():
    parser = argparse.ArgumentParser(description="thread-level Python by numba-cuda and by us on one GPU")
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "dev", "bin", "tilewright"))
    parser.add_argument("--target", default="sm_90a")
    options = parser.parse_args()
    print("| kernel | numba-cuda ms | ours ms | numba-cuda / ours | elements that differ |\n|---|---|---|---|---|")
    if not IS_SIMULATED:
        cuda.current_context()  # the driver is asked for our modules before numba-cuda launches anything
    are_right = all([compare_row(options, *row) for row in rows()])
    run_cases()
    sys.exit(0 if are_right else 1)


if __name__ == "__main__":
    main()
