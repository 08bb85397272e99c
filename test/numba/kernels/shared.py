# SPDX-License-Identifier: Apache-2.0
# numba/kernels/shared.py — shared memory and barriers.
import math

from numba import cuda, float32, int32

TPB = 8
BLOCK = 32


@cuda.jit
def fast_matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    bpg = (A.shape[1] + TPB - 1) // TPB
    tmp = float32(0.)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


@cuda.jit
def block_sum(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    s = BLOCK // 2
    while s > 0:
        if t < s:
            tile[t] += tile[t + s]
        cuda.syncthreads()
        s //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@cuda.jit
def block_max(x, out):
    tile = cuda.shared.array(BLOCK, dtype=int32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t == 0:
        best = tile[0]
        for k in range(1, BLOCK):
            best = max(best, tile[k])
        out[cuda.blockIdx.x] = best


@cuda.jit
def array_reverse(x):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[BLOCK - 1 - t]


@cuda.jit
def transpose_tile(x, out):
    tile = cuda.shared.array((TPB, TPB + 1), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TPB + ty
    column = cuda.blockIdx.x * TPB + tx
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    row = cuda.blockIdx.x * TPB + ty
    column = cuda.blockIdx.y * TPB + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]


@cuda.jit
def softmax(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    largest = float32(-1e30)
    for j in range(t, x.shape[1], BLOCK):
        largest = max(largest, x[row, j])
    tile[t] = largest
    cuda.syncthreads()
    for k in range(BLOCK):
        largest = max(largest, tile[k])
    cuda.syncthreads()
    total = float32(0)
    for j in range(t, x.shape[1], BLOCK):
        total += math.exp(x[row, j] - largest)
    tile[t] = total
    cuda.syncthreads()
    total = float32(0)
    for k in range(BLOCK):
        total += tile[k]
    for j in range(t, x.shape[1], BLOCK):
        out[row, j] = math.exp(x[row, j] - largest) / total


@cuda.jit
def inclusive_scan(x, out):
    a = cuda.shared.array(BLOCK, int32)
    b = cuda.shared.array(BLOCK, int32)
    t = cuda.threadIdx.x
    a[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if t >= step:
            b[t] = a[t] + a[t - step]
        else:
            b[t] = a[t]
        cuda.syncthreads()
        a, b = b, a
        step *= 2
    out[t] = a[t]


@cuda.jit
def neighbours(x, out):
    tile = cuda.shared.array(BLOCK + 2, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t + 1] = x[i]
    if t == 0:
        tile[0] = x[i - 1] if i > 0 else float32(0)
        end = i + BLOCK
        tile[BLOCK + 1] = x[end] if end < x.size else float32(0)
    cuda.syncthreads()
    out[i] = tile[t] + tile[t + 1] + tile[t + 2]


@cuda.jit
def votes(x, out):
    t = cuda.threadIdx.x
    count = cuda.syncthreads_count(x[t] > 0)
    every = cuda.syncthreads_and(x[t] > -100)
    some = cuda.syncthreads_or(x[t] > 100)
    out[t] = count * 100 + (10 if every else 0) + (1 if some else 0)


@cuda.jit
def dynamic(x, out):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[(t + 5) % cuda.blockDim.x]
