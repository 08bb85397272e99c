#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# differential/statements.py — small pieces of kernels, by Triton's compiler and by us.
"""statements.py --tilewright PROGRAM [--filter F] [--device interpret|cpu]

Each piece of statements/*.txt is the end of a kernel that has `put` its results; their types, shapes
and values must agree, and so must refusals (we may take what Triton refuses). Needs NumPy, ml_dtypes
and Triton, no GPU.
"""
import argparse
import contextlib
import importlib
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import numpy

from compiled_side import ARRAYS, SIGNATURES, ttir_of
from expressions import FLOATS
from inputs import NUMPY_TYPES
from ttir_machine import Machine

PLACES, BYTES, FACTS = 16, 4096, 8  # results of a piece; bytes and numbers that describe each
HEAD = '''import triton
import triton.language as tl

@triton.jit
def put(out, facts, at: tl.constexpr, value):
    """Writes a value, its type and its shape."""
    v = value
    for _ in range(0):  # makes a tensor of a number
        v = v
    tl.store(facts + 8 * at, v.dtype.primitive_bitwidth + 100 * v.dtype.is_floating())
    tl.store(facts + 8 * at + 1, v.dtype.is_int_signed() + 2 * v.dtype.is_bf16() + 4 * v.dtype.is_fp8e5())
    tl.store(facts + 8 * at + 2, len(v.shape) + 1)
    for d in tl.static_range(len(v.shape)):
        tl.store(facts + 8 * at + 3 + d, v.shape[d])
    p = (out + 4096 * at).to(tl.pointer_type(v.dtype))
    if len(v.shape) == 0:
        tl.store(p, v)
    else:
        tl.store(p + tl.arange(0, v.numel), tl.reshape(v, [v.numel]))

'''
KERNEL = '''@triton.jit
def k(x, y, u, b, l, f, h, g, t, out, facts, n, m, s, big, one, C: tl.constexpr = 5):
    i = tl.arange(0, 16)
    xs = tl.load(x + i)
    ys = tl.load(y + i)
    us = tl.load(u + i)
    bs = tl.load(b + i)
    ls = tl.load(l + i)
    fs = tl.load(f + i)
    hs = tl.load(h + i)
    gs = tl.load(g + i)
    ts = tl.load(t + i)
'''
TENSORS = {"x": "i32", "y": "i32", "u": "u32", "b": "i8", "l": "i64", "f": "f32", "h": "f16",
           "g": "bf16", "t": "bool"}
SCALARS = {"n": ("i32", 7), "m": ("i32", -5), "s": ("fp32", 2.5), "big": ("i64", 5_000_000_000)}


def read_pieces(file):
    """(name, definitions before the kernel, body) of each piece; one begins with `== NAME`."""
    for text in re.split(r"^== ", file.read_text(), flags=re.M)[1:]:
        name, _, rest = text.partition("\n")
        before, mark, body = rest.rpartition("\n--\n")
        yield name.strip(), before if mark else "", body if mark else rest


def source_of(before, body):
    """Where `put(value)` stands, its place is added."""
    places = iter(range(PLACES))
    body = re.sub(r"\bput\(", lambda _: f"put(out, facts, {next(places)}, ", body)
    body = "".join(f"    {line}\n" for line in body.rstrip().splitlines())
    return f"{HEAD}{before}\n{KERNEL}{body}"


def parts(body):
    """The body with one of its results at a time: of many, some may be refused."""
    lines = body.splitlines()
    places = [at for at, line in enumerate(lines) if line.startswith("put(")]
    for place in places if len(places) > 1 else ():
        yield lines[place], "\n".join(line for at, line in enumerate(lines)
                                      if at == place or at not in places)


def inputs():
    """Numbers of both signs, 256 of each; the first 16 are what most pieces see."""
    random = numpy.random.default_rng(1)
    arrays = {}
    for name, dtype in TENSORS.items():
        kind = NUMPY_TYPES[dtype]
        if dtype == "bool":
            values = random.integers(0, 2, 256) > 0
        elif numpy.dtype(kind).kind == "f":
            values = random.integers(-40, 40, 256) / 8
        else:
            values = random.integers(-20 if dtype != "u32" else 0, 20, 256)
            values[values == 0] = 3
        arrays[name] = values.astype(kind)
    arrays["x"][:4] = [-7, 7, 2**31 - 1, -2**31]
    arrays["y"][:4] = [2, -2, 3, 5]
    arrays["u"][:2] = [2**32 - 1, 2**31]
    arrays["l"][:2] = [-2**62, 2**40 + 1]
    arrays["out"] = numpy.zeros(PLACES * BYTES, numpy.int8)
    arrays["facts"] = numpy.zeros(PLACES * FACTS, numpy.int32)
    return arrays


def results_of(out, facts):
    """(type, shape, values) by place."""
    found = {}
    for at, (kind, flags, rank, *shape) in enumerate(facts.reshape(PLACES, FACTS).tolist()):
        if not rank:
            continue
        bits = kind % 100
        dtype = numpy.dtype(FLOATS[bits, flags] if kind >= 100 else
                            f"{'i' if flags & 1 else 'u'}{max(bits, 8) // 8}")
        shape = tuple(shape[:rank - 1])
        raw = out[at * BYTES:at * BYTES + int(numpy.prod(shape, dtype=int)) * dtype.itemsize]
        found[at] = f"{dtype.name} of {bits} bits", shape, raw.view(dtype)
    return found


@contextlib.contextmanager
def quiet():
    """The compiler prints the IR of what it refuses."""
    sys.stdout.flush()
    kept, nowhere = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        for number, file in enumerate(kept, 1):
            os.dup2(file, number)
            os.close(file)
        os.close(nowhere)


def theirs(path, arrays):
    kernel = importlib.import_module(path.stem).k
    signature = {n: "*" + SIGNATURES.get(t, t) for n, t in TENSORS.items()}
    signature.update(out="*i8", facts="*i32", **{n: t for n, (t, _) in SCALARS.items()},
                     one="constexpr", C="constexpr")
    try:
        with quiet():
            text = ttir_of(kernel, signature, {(15,): 1, (16,): 5})
    except Exception as error:  # whatever the compiler says no with
        while error.__cause__ is not None:
            error = error.__cause__
        return None, str(error).strip().split("\n")[-1]
    values = [a.astype(ARRAYS.get(TENSORS.get(n), a.dtype)) for n, a in arrays.items()]
    scalars = [{"i32": numpy.int32, "i64": numpy.int64, "fp32": numpy.float32}[t](v)
               for t, v in SCALARS.values()]
    path.with_suffix(".ttir").write_text(text)
    return results_of(*Machine(text).run([*values, *scalars], (2,))[-2:]), ""


def ours(path, arrays, options):
    command = [options.tilewright, "run", f"{path}:k", "--grid", "2", "--device", options.device,
               *(f"{n}={v}" if t != "i64" else f"{n}={v}:i64" for n, (t, v) in SCALARS.items()),
               "one=1", "C=5"]
    for name, array in arrays.items():
        file = path.with_suffix(f".{name}.npy")
        numpy.save(file, array)
        command.append(f"{name}={'bf16:' if TENSORS.get(name) == 'bf16' else ''}{file}")
    for name in ("out", "facts"):
        command += ["--save", f"{name}={path.with_suffix(f'.{name}.result.npy')}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().split("\n")[0]
    return results_of(*(numpy.load(path.with_suffix(f".{n}.result.npy"))
                        for n in ("out", "facts"))), ""


def difference(a, b):
    """Of Triton's results and ours, as a sentence; empty when there is none."""
    if a.keys() != b.keys():
        return f"results {sorted(b)}, but Triton has {sorted(a)}"
    for at in a:
        (kind, shape, x), (our_kind, our_shape, y) = a[at], b[at]
        if (kind, shape) != (our_kind, our_shape):
            return f"result {at} is {our_kind} {our_shape}, but Triton has {kind} {shape}"
        if x.dtype.kind in "iub":
            near = x == y
        else:
            x, y = x.astype(numpy.float64), y.astype(numpy.float64)
            near = numpy.isclose(y, x, rtol=1e-6, atol=1e-7, equal_nan=True)
        if not near.all():
            first = int(numpy.argmin(near))
            return f"result {at}[{first}] is {y[first]}, but Triton has {x[first]} (of {y}, {x})"
    return ""


def verdict(a, b):
    if a[0] is None or b[0] is None:
        if b[0] is None and a[0] is not None:
            return "refused", f"{b[1]} — but Triton takes it"
        return ("same", "") if a[0] is b[0] else ("taken", a[1])
    problem = difference(a[0], b[0])
    return ("differs", problem) if problem else ("same", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("--device", default="interpret")
    parser.add_argument("--filter", default="", help="only pieces whose name contains this")
    parser.add_argument("--taken", action="store_true", help="list what only Triton refuses")
    parser.add_argument("--files", nargs="*", help="instead of statements/*.txt")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, numbers = {}, itertools.count()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tilewright-statements-"))
    sys.path.insert(0, str(folder))
    files = options.files or sorted((HERE / "statements").glob("*.txt"))
    pieces = [piece for file in files for piece in read_pieces(pathlib.Path(file))]
    def compare(name, before, body):
        path, arrays = folder / f"statements_{next(numbers)}.py", inputs()
        path.write_text(source_of(before, body))
        importlib.invalidate_caches()
        try:
            word, reason = verdict(theirs(path, arrays), ours(path, arrays, options))
        except Exception as error:  # of the machine, which lacks something
            word, reason = "no oracle", f"{type(error).__name__}: {error}"
        some = list(parts(body)) if word != "same" else []
        for line, part in some:
            compare(f"{name}: {line}", before, part)
        if some and word in ("refused", "taken", "no oracle"):
            return
        counts[word] = counts.get(word, 0) + 1
        if word != "same" and (word != "taken" or options.taken):
            print(f"{word} {name}: {reason}", flush=True)

    for piece in pieces:
        if options.filter in piece[0]:
            compare(*piece)
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    return 1 if counts.keys() - {"same", "taken"} else 0


if __name__ == "__main__":
    sys.exit(main())
