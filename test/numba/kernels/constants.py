# SPDX-License-Identifier: Apache-2.0
# numba/kernels/constants.py — arrays of the module, zip, enumerate, views of another type.
import numpy as np
from numba import cuda, float64, int32

WEIGHTS = np.array([0.25, 0.5, 0.25])
TABLE = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int32)
COUNT = np.arange(10, dtype=np.float32)
PRIMES = (2, 3, 5, 7)


@cuda.jit
def smooth(x, out):
    weights = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        total = 0.0
        for k in range(weights.shape[0]):
            total += weights[k] * x[i + k - 1]
        out[i] = total


@cuda.jit
def lookup(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = TABLE[x[i] % 2, x[i] % 3] * 10 + len(TABLE)


@cuda.jit(device=True)
def from_table(i):
    return COUNT[i % 10] * 2


@cuda.jit
def lookup_by_function(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = from_table(i) + COUNT[-1]


@cuda.jit
def zip_arrays(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for a, b in zip(x[i:], y):
            total += a * b
        out[i] = total


@cuda.jit
def enumerate_array(x, out):
    i = cuda.grid(1)
    if i < out.size:
        best = 0
        for k, v in enumerate(x, 1):
            if v > i:
                best = k
                break
        out[i] = best


@cuda.jit
def enumerate_tuple(out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k, p in enumerate(PRIMES):
            total += k * p * i
        out[i] = total


@cuda.jit
def zip_enumerate(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k, (a, b) in enumerate(zip(x, y)):
            total += k * a + b * i
        out[i] = total


@cuda.jit
def zip_range(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k, v in zip(range(i, 20, 2), x):
            total += k * v
        out[i] = total


@cuda.jit
def bits_of_floats(x, out):
    i = cuda.grid(1)
    bits = x.view(np.int32)
    if i < bits.size:
        out[i] = bits[i] & 0x7FFFFF


@cuda.jit
def bytes_of_integers(x, out):
    i = cuda.grid(1)
    parts = x.view(np.uint8)
    if i < parts.size:
        out[i] = parts[i]


@cuda.jit
def rounds_to_digits(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = round(x[i] * 1.2345, 2) + round(x[i] * 100, -1)
