# SPDX-License-Identifier: Apache-2.0
# bench/kernels/add_simt.py — the sum of two tensors in thread-level Python: one element per thread.
from numba import cuda


@cuda.jit
def add_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]
