#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# differential/expressions.py — each operator with each pair of types, by Triton's compiler and by us.
"""expressions.py --tilewright PROGRAM [--filter F] [--device interpret|cpu]

Types of results, values and refusals must agree; we may take what Triton refuses. Needs NumPy,
ml_dtypes and Triton, no GPU. The sign of zeros is not compared: Triton takes the literal -0.0 for
0.0 and makes 0 - x of -x.
"""
import argparse
import importlib
import itertools
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import ml_dtypes
import numpy

from compiled_side import ARRAYS, SIGNATURES, ttir_of
from inputs import NUMPY_TYPES
from ttir_machine import Machine

COUNT = 64
TYPES = ("bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64",
         "f8e4m3", "f8e5m2")
PAIRS = ("a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a & b", "a | b", "a ^ b", "a >> b",
         "a < b", "a != b", "tl.where(c > 0, a, b)", "tl.maximum(a, b)", "tl.minimum(a, b)",
         "tl.cdiv(a, b)", "tl.fma(a, b, b)", "tl.clamp(a, b, 3.0)", "max(a, b)")
LITERALS = ("1", "-3", "200", "40000", "3000000000", "-3000000000", "10000000000000000000", "True",
            "0.5", "1e300", 'float("inf")')
WITH_LITERALS = ("a + L", "L - a", "a * L", "L // a", "a % L", "L >> a", "a & L", "L <= a",
                 "tl.where(c > 0, a, L)", "tl.maximum(a, L)", "min(L, a)")
SINGLE = ("-a", "~a", "not a", "tl.abs(a)", "a.to(tl.int1)", "tl.sum(a, 0) + c", "tl.max(a, 0) + c",
          "tl.argmin(a, 0) + c", "tl.cumsum(a, 0)", "tl.sum(a, 0, dtype=tl.int64) + c",
          "tl.sum(a > 0, 0) + c", "tl.full([64], 3, a.dtype)", "tl.sort(a)", "tl.umulhi(a, 7)",
          "tl.floor(a)", "tl.cast(a, tl.int8, bitcast=True)", "tl.xor_sum(a, 0) + c")
CASTS = tuple(f"a.to(tl.{name})" for name in (
    "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16",
    "float32", "float64", "float8e4nv", "float8e5"))
SOURCE = """import triton
import triton.language as tl

@triton.jit
def k(x, y, z, out, kind):
    i = tl.arange(0, 64)
    a = tl.load(x + i)
    b = tl.load(y + i)
    c = tl.load(z + i)
    r = {}
    tl.store(out.to(tl.pointer_type(r.dtype)) + i, r)
    tl.store(kind, r.dtype.primitive_bitwidth + 100 * r.dtype.is_floating())
    tl.store(kind + 1, r.dtype.is_int_signed() + 2 * r.dtype.is_bf16() + 4 * r.dtype.is_fp8e5())
"""
FLOATS = {(8, 0): ml_dtypes.float8_e4m3fn, (8, 4): ml_dtypes.float8_e5m2, (16, 0): numpy.float16,
          (16, 2): ml_dtypes.bfloat16, (32, 0): numpy.float32, (64, 0): numpy.float64}


def table():
    """(expression, type of a, type of b) of everything that Triton has machine code for."""
    rows = [*itertools.product(PAIRS, TYPES, TYPES)]
    with_literals = [e.replace("L", literal) for e in WITH_LITERALS for literal in LITERALS]
    rows += [(e, t, "i32") for e in (*with_literals, *SINGLE, *CASTS) for t in TYPES]
    divides = ("/", "%", "cdiv", "fma", "clamp")
    return [(e, *types) for e, *types in rows
            if not (any(word in e for word in divides) and any("f8" in t for t in types))]


def numbers(dtype, seed):
    """Edges of the type among numbers at random; no 0, which nothing says how to divide by."""
    random, kind = numpy.random.default_rng(seed), NUMPY_TYPES[dtype]
    if dtype == "bool":
        return numpy.ones(COUNT, bool)
    if numpy.dtype(kind).kind == "f":
        edges = [numpy.inf, -numpy.inf, 1.5, -2.5, 100.0, -100.0, 240.0, 1e-3]
        return random.permutation([*edges, *random.standard_normal(COUNT - len(edges))]).astype(kind)
    limits = numpy.iinfo(kind)
    edges = [limits.min, limits.max, limits.max - 1, 1, 2, 7] + [-1, -7] * (limits.min < 0)
    small = random.integers(-9 if limits.min < 0 else 1, 10, 24)
    values = random.integers(limits.min, limits.max, COUNT, kind, endpoint=True)
    values[:32] = numpy.resize(numpy.array([*edges, *small[small != 0]], object), 32).astype(kind)
    return random.permutation(numpy.where(values == 0, 3, values).astype(kind))


def result_of(out, kind):
    """The type's name and the values that were written."""
    bits, flags = int(kind[0]) % 100, int(kind[1])
    if kind[0] >= 100:
        dtype = numpy.dtype(FLOATS[bits, flags])
    else:
        dtype = numpy.dtype(f"{'i' if flags & 1 else 'u'}{max(bits, 8) // 8}")
    return f"{dtype.name} of {bits} bits", out.view(dtype)[:COUNT]


def theirs(path, arrays, types):
    names = ("x", "y", "z", "out", "kind")
    kernel = importlib.import_module(path.stem).k
    signature = {n: "*" + SIGNATURES.get(t, t) for n, t in zip(names, types)}
    try:
        text = ttir_of(kernel, signature, {})
    except Exception:  # whatever the compiler says no with
        return None
    values = [a.astype(ARRAYS.get(t, a.dtype)) for a, t in zip(arrays, types)]
    return result_of(*Machine(text).run(values, (1,))[3:])


def ours(path, arrays, types, options):
    command = [options.tilewright, "run", f"{path}:k", "--grid", "1", "--device", options.device]
    for name, array, dtype in zip(("x", "y", "z", "out", "kind"), arrays, types):
        file = path.with_suffix(f".{name}.npy")
        numpy.save(file, array)
        command.append(f"{name}={dtype + ':' if dtype in ARRAYS else ''}{file}")
    for name in ("out", "kind"):
        command += ["--save", f"{name}={path.with_suffix(f'.{name}.result.npy')}"]
    if subprocess.run(command, capture_output=True).returncode:
        return None
    return result_of(*(numpy.load(path.with_suffix(f".{n}.result.npy")) for n in ("out", "kind")))


def verdict(a, b):
    """`a` is Triton's result, `b` ours."""
    if a is None or b is None:
        return "same" if a is b else "taken" if a is None else "refused, but Triton takes it"
    if a[0] != b[0]:
        return f"{b[0]}, but Triton has {a[0]}"
    wide = numpy.float64 if a[1].dtype.kind not in "iu" else a[1].dtype
    x, y = a[1].astype(wide), b[1].astype(wide)
    near = numpy.isclose(y, x, rtol=1e-14 if wide == numpy.float64 else 0, atol=0, equal_nan=True) \
        if x.dtype.kind == "f" else x == y
    if near.all():
        return "same"
    at = int(numpy.argmin(near))
    return f"{int((~near).sum())} values differ, first [{at}]: {b[1][at]}, Triton has {a[1][at]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("--device", default="interpret")
    parser.add_argument("--filter", default="", help="only expressions that contain this")
    options = parser.parse_args()
    counts, folder = {}, pathlib.Path(tempfile.mkdtemp(prefix="tilewright-expressions-"))
    sys.path.insert(0, str(folder))
    for number, (expression, *types) in enumerate(table()):
        if options.filter not in expression:
            continue
        path = folder / f"expression_{number}.py"
        path.write_text(SOURCE.format(expression))
        importlib.invalidate_caches()
        types = [*types, "i32", "i8", "i32"]
        arrays = [*(numbers(t, seed) for seed, t in enumerate(types[:3])),
                  numpy.zeros(8 * COUNT, numpy.int8), numpy.zeros(2, numpy.int32)]
        word = verdict(theirs(path, arrays, types), ours(path, arrays, types, options))
        for file in folder.glob(f"{path.stem}.*"):
            file.unlink()
        known = word if word in ("same", "taken") else "differs"
        counts[known] = counts.get(known, 0) + 1
        if known == "differs":
            print(f"{expression} of {types[0]}, {types[1]}: {word}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    return 1 if counts.get("differs") else 0


if __name__ == "__main__":
    sys.exit(main())
