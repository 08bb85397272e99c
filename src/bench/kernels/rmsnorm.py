# SPDX-License-Identifier: Apache-2.0
# bench/kernels/rmsnorm.py — each row divided by the root of its mean square, times a weight.
import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x_ptr, weight_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + start + column, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    weight = tl.load(weight_ptr + column, mask=inside).to(tl.float32)
    tl.store(out_ptr + start + column, x * scale * weight, mask=inside)
