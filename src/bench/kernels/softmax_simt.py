# SPDX-License-Identifier: Apache-2.0
# bench/kernels/softmax_simt.py — the softmax of each row in thread-level Python, one block of 256 threads per row; sums and
# maxima meet in shared memory.
import math

from numba import cuda, float32

THREADS = 256


@cuda.jit(device=True)
def over_block(parts, value, is_max):
    t = cuda.threadIdx.x
    parts[t] = value
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            parts[t] = max(parts[t], parts[t + half]) if is_max else parts[t] + parts[t + half]
        cuda.syncthreads()
        half //= 2
    result = parts[0]
    cuda.syncthreads()
    return result


@cuda.jit
def softmax_kernel(x, out):
    parts = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    top = float32(-math.inf)
    for i in range(cuda.threadIdx.x, x.shape[1], THREADS):
        top = max(top, x[row, i])
    top = over_block(parts, top, True)
    total = float32(0)
    for i in range(cuda.threadIdx.x, x.shape[1], THREADS):
        total += math.exp(x[row, i] - top)
    total = over_block(parts, total, False)
    for i in range(cuda.threadIdx.x, x.shape[1], THREADS):
        out[row, i] = math.exp(x[row, i] - top) / total
