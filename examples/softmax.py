# SPDX-License-Identifier: Apache-2.0
# softmax.py — the softmax of each row; a program holds a whole row, rounded up to a power of two.
import triton
import triton.language as tl


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["columns"])})
@triton.jit
def softmax_kernel(x_ptr, out_ptr, row_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * row_stride + column, mask=inside, other=-float("inf"))
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * row_stride + column, power / tl.sum(power, axis=0), mask=inside)
