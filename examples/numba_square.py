# SPDX-License-Identifier: Apache-2.0
# examples/numba_square.py — thread-level Python, as Numba's @cuda.jit takes it: one element per thread, and a sum over a
# block in shared memory.
from numba import cuda, float32

THREADS = 256


@cuda.jit
def numba_square(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] * x[i]


@cuda.jit
def block_sum(x, out):
    parts = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    parts[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]
