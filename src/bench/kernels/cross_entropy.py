# SPDX-License-Identifier: Apache-2.0
# bench/kernels/cross_entropy.py — log(sum(exp(x))) - x[target] of each row, in slices of BLOCK columns.
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(x_ptr, target_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * columns
    top = -float("inf")
    total = 0.0
    for first in range(0, columns, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + column, mask=column < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), axis=0)
        top = higher
    chosen = tl.load(x_ptr + tl.load(target_ptr + row)).to(tl.float32)
    tl.store(out_ptr + row, top + tl.log(total) - chosen)
