# SPDX-License-Identifier: Apache-2.0
# bench/kernels/matmul_simt.py — out = a @ b in thread-level Python, by 16 x 16 tiles in shared memory, one element per thread.
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_kernel(a, b, out):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0)
    for first in range(0, a.shape[1], TILE):
        ka = first + tx
        kb = first + ty
        tile_a[ty, tx] = a[row, ka] if row < a.shape[0] and ka < a.shape[1] else float32(0)
        tile_b[ty, tx] = b[kb, column] if kb < b.shape[0] and column < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = total
