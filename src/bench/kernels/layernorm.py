# SPDX-License-Identifier: Apache-2.0
# bench/kernels/layernorm.py — layer normalisation of each row with weight and bias.
import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + start + column, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    weight = tl.load(weight_ptr + column, mask=inside).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=inside).to(tl.float32)
    tl.store(out_ptr + start + column, centred * scale * weight + bias, mask=inside)
