# SPDX-License-Identifier: Apache-2.0
# numba/kernels/dimensions.py — arrays of two and three dimensions.
from numba import cuda


@cuda.jit
def square2(x, y):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, j] * x[i, j]


@cuda.jit
def increment_a_2d_array(an_array):
    x, y = cuda.grid(2)
    if x < an_array.shape[0] and y < an_array.shape[1]:
        an_array[x, y] += 1


@cuda.jit
def transpose(x, out):
    pos = cuda.grid(2)
    if pos[0] < x.shape[0] and pos[1] < x.shape[1]:
        out[pos[1], pos[0]] = x[pos]


@cuda.jit
def add3(x, y, out):
    i, j, k = cuda.grid(3)
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        out[i, j, k] = x[i, j, k] - y[i][j][k]


@cuda.jit
def matmul_naive(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        tmp = 0.
        for k in range(A.shape[1]):
            tmp += A[i, k] * B[k, j]
        C[i, j] = tmp


@cuda.jit
def strided_sum(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
        out[i] = total


@cuda.jit
def facts(x, out):
    if cuda.grid(1) == 0:
        out[0] = x.ndim
        out[1] = x.size
        out[2] = x.shape[0]
        out[3] = x.strides[0]
        out[4] = x.strides[1]
        out[5] = len(x)
        out[6] = x.itemsize


@cuda.jit
def grid_facts(out):
    i, j = cuda.grid(2)
    n, m = cuda.gridsize(2)
    out[i, j] = n * 1000 + m * 100 + cuda.gridDim.x * 10 + cuda.blockDim.y + cuda.blockIdx.z


@cuda.jit
def last_dimension(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[-1]:
        out[i, j] = x[i, -1] - x[-1, j]


@cuda.jit
def laplace(x, out):
    i, j = cuda.grid(2)
    if 1 <= i < x.shape[0] - 1 and 1 <= j < x.shape[1] - 1:
        out[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
