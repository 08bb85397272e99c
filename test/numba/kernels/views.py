# SPDX-License-Identifier: Apache-2.0
# numba/kernels/views.py — rows, slices, tuples, local arrays.
from numba import cuda, float32, int32, int64

WEIGHTS = (1, 4, 6, 4, 1)


@cuda.jit
def row_of(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        row = x[i]
        total = 0.0
        for j in range(row.shape[0]):
            total += row[j]
        out[i] = total


@cuda.jit
def column_of(x, out):
    j = cuda.grid(1)
    if j < x.shape[1]:
        column = x[:, j]
        total = 0.0
        for i in range(column.size):
            total += column[i]
        out[j] = total


@cuda.jit
def every_second(x, out):
    i = cuda.grid(1)
    part = x[1::2]
    if i < part.shape[0]:
        out[i] = part[i]


@cuda.jit
def between(x, out):
    i = cuda.grid(1)
    part = x[2:-3]
    if i < len(part):
        out[i] = part[i] + part[-1]


@cuda.jit
def fill_rows(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i, :] = i
        x[i, 2:4] = 9


@cuda.jit
def copy_row(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i, :] = x[-1 - i, :]


@cuda.jit
def local_array(x, out):
    i = cuda.grid(1)
    if i < x.size:
        powers = cuda.local.array(4, float32)
        powers[0] = 1
        for k in range(1, 4):
            powers[k] = powers[k - 1] * x[i]
        total = float32(0)
        for k in range(4):
            total += powers[k]
        out[i] = total


@cuda.jit
def local_2d(out):
    i = cuda.grid(1)
    if i < out.size:
        table = cuda.local.array((3, 3), dtype=int64)
        for a in range(3):
            for b in range(3):
                table[a, b] = a * 3 + b + i
        total = 0
        for a in range(3):
            total += table[a, a]
        out[i] = total


@cuda.jit
def weighted(x, out):
    i = cuda.grid(1)
    if 2 <= i < x.size - 2:
        total = 0.0
        for k in range(5):
            total += WEIGHTS[k] * x[i + k - 2]
        out[i] = total / 16


@cuda.jit
def shape_by_index(x, out):
    d = cuda.grid(1)
    if d < x.ndim:
        out[d] = x.shape[d]


@cuda.jit
def unpack_shape(x, out):
    i, j = cuda.grid(2)
    height, width = x.shape
    if i < height and j < width:
        out[i * width + j] = x[i, j]


@cuda.jit
def over_tuple(out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for w in WEIGHTS:
            total = total * 2 + w * i
        out[i] = total


@cuda.jit
def ping_pong(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        a = x
        b = y
        if i % 2 == 1:
            a = y
            b = x
        out[i] = a[i] * 10 + b[i]


@cuda.jit
def tuple_of_itself(out):
    i = cuda.grid(1)
    if i < out.size:
        t = (i, 2 * i + 1)
        for j in range(3):
            t = (t[1], t[0] + t[1])
        out[i] = t[0] * 1000 + t[1]
