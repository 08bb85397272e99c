# SPDX-License-Identifier: Apache-2.0
# bench/kernels/softmax.py — the softmax of each row; a program holds a whole row, rounded up to a power of two.
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + start + column, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + start + column, power / tl.sum(power, axis=0), mask=inside)
