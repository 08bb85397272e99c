# SPDX-License-Identifier: Apache-2.0
# bench/kernels/gelu.py — GELU in its tanh form, written with the sigmoid: (1 + tanh(u)) / 2 is sigmoid(2 u).
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside).to(tl.float32)
    u = 0.79788456 * (x + 0.044715 * x * x * x)
    tl.store(out_ptr + offsets, x * tl.sigmoid(2 * u), mask=inside)
