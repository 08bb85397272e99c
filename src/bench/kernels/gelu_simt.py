# SPDX-License-Identifier: Apache-2.0
# bench/kernels/gelu_simt.py — GELU in thread-level Python. Numbers without float32(...) would make it float64, as Numba types them.
import math

from numba import cuda, float32


@cuda.jit
def gelu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        v = x[i]
        u = float32(0.79788456) * (v + float32(0.044715) * v * v * v)
        out[i] = v / (float32(1) + math.exp(float32(-2) * u))
