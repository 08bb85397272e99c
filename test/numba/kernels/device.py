# SPDX-License-Identifier: Apache-2.0
# numba/kernels/device.py — functions that kernels call.
import math

from numba import cuda, float32


@cuda.jit(device=True)
def twice(v):
    return v + v


@cuda.jit(device=True)
def power(v, k):
    result = 1.0
    for _ in range(k):
        result *= v
    return result


@cuda.jit(device=True, inline=True)
def minmax(a, b):
    if a < b:
        return a, b
    return b, a


@cuda.jit(device=True)
def row_sum(row):
    total = 0.0
    for j in range(row.shape[0]):
        total += row[j]
    return total


@cuda.jit(device=True)
def store(out, i, v):
    out[i] = v


@cuda.jit(device=True)
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@cuda.jit(device=True)
def sigmoid(v):
    return 1.0 / (1.0 + math.exp(-v))


@cuda.jit(device=True)
def scaled(v, by=3):
    return v * by


@cuda.jit
def call_twice(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = twice(x[i]) + twice(i)


@cuda.jit
def call_power(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = power(x[i], i % 4)


@cuda.jit
def call_minmax(x, y, low, high):
    i = cuda.grid(1)
    if i < x.size:
        a, b = minmax(x[i], y[i])
        low[i] = a
        high[i] = b


@cuda.jit
def call_row_sum(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = row_sum(x[i]) + row_sum(x[i, 1:3])


@cuda.jit
def call_store(x, out):
    i = cuda.grid(1)
    if i < x.size:
        store(out, i, x[i] * 3)


@cuda.jit
def call_gcd(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = gcd(a[i], b[i])


@cuda.jit
def call_sigmoid(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = sigmoid(sigmoid(x[i]))


@cuda.jit
def call_scaled(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = scaled(x[i]) + scaled(x[i], 5)


@cuda.jit(device=True)
def apply(f, v, size, kind):
    part = cuda.local.array(size, kind)
    for k in range(size):
        part[k] = f(v)
    return part[size - 1]


@cuda.jit(device=True)
def trace(v, shape):
    table = cuda.local.array(shape, float32)
    total = float32(0)
    for k in range(shape[0]):
        for j in range(shape[1]):
            table[k, j] = v * k + j
        total += table[k, k]
    return total


@cuda.jit
def pass_shape(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = trace(x[i], (2, 3)) - trace(x[i], (3, 3))


@cuda.jit
def pass_functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = apply(twice, x[i], 3, float32) + apply(math.fabs, x[i], 2, float32)


@cuda.jit(device=True)
def place(v, is_wrapped):
    at = v
    if is_wrapped:
        at = v * 0.5
    return at


@cuda.jit
def pass_flags(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[place(i, False)] + place(i, True)
