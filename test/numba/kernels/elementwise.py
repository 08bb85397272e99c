# SPDX-License-Identifier: Apache-2.0
# numba/kernels/elementwise.py — one element per thread.
import math

import numpy as np
from numba import cuda, float32, int32

HALF = np.float32(0.5)
SCALE = float32(0.70710678)


@cuda.jit
def numba_square(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] * x[i]


@cuda.jit
def add(x, y, out):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def axpy(a, x, y):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.shape[0], stride):
        y[i] += a * x[i]


@cuda.jit
def gelu(x, out):
    i = cuda.grid(1)
    if i < len(x):
        v = x[i]
        out[i] = HALF * v * (float32(1) + math.erf(v * SCALE))


@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    out[i] = x[i] if x[i] > 0 else 0.0


@cuda.jit
def clamp(x, low, high, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = min(max(x[i], low), high)


@cuda.jit
def polynomial(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i] = ((2 * v + 3) * v - 4) * v + 5


@cuda.jit
def sign_of(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > 0:
            out[i] = 1
        elif x[i] < 0:
            out[i] = -1
        else:
            out[i] = 0


@cuda.jit
def reverse(x, out):
    i = cuda.grid(1)
    n = x.shape[0]
    if i < n:
        out[i] = x[n - 1 - i]


@cuda.jit
def from_the_end(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[-1 - i] + x[-1]


@cuda.jit
def to_int(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = int(x[i]) + int32(x[i])


@cuda.jit
def mean_of_two(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = (x[i] + y[i]) / 2
