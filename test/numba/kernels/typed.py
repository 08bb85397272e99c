# SPDX-License-Identifier: Apache-2.0
# numba/kernels/typed.py — typed scalars, dtypes and signatures.
import numpy as np
from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, void


@cuda.jit
def truncates(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = int8(x[i] & 127) + int16(x[i]) + np.int32(x[i])


@cuda.jit
def single(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = float32(x[i]) * np.float32(3) + float64(1)


@cuda.jit
def bytes_to_gray(image, out):
    i, j = cuda.grid(2)
    if i < image.shape[0] and j < image.shape[1]:
        r = image[i, j, 0]
        g = image[i, j, 1]
        b = image[i, j, 2]
        out[i, j] = uint8(0.299 * r + 0.587 * g + 0.114 * b)


@cuda.jit("void(float32[:], float32[:], int32)")
def with_signature(x, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = x[i] + n


@cuda.jit(void(int32[:], int32[:]))
def with_types(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 2


@cuda.jit
def booleans(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] > 2


@cuda.jit
def select_by_flag(flags, x, out):
    i = cuda.grid(1)
    if i < x.size:
        if flags[i]:
            out[i] = x[i]
        else:
            out[i] = -x[i]


@cuda.jit
def scalars(a, b, flag, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * i + b if flag else 0


@cuda.jit
def small_integers(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = int(x[i]) * int(y[i]) + bool(x[i])


@cuda.jit
def doubles(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * x[i] / 3
