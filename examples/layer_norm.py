# SPDX-License-Identifier: Apache-2.0
# layer_norm.py — layer normalisation of each row, in slices of BLOCK columns, with an optional bias.
import triton
import triton.language as tl


@triton.heuristics({"HAS_BIAS": lambda args: args["bias_ptr"] is not None})
@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, eps,
                      HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        column = first + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + start + column, mask=column < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns

    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + column, mask=column < columns, other=0.0)
        centred = tl.where(column < columns, x - mean, 0.0)
        squares += centred * centred
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)

    for first in range(0, columns, BLOCK):
        column = first + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + start + column, mask=inside)
        y = (x - mean) * scale * tl.load(weight_ptr + column, mask=inside)
        if HAS_BIAS:
            y += tl.load(bias_ptr + column, mask=inside)
        tl.store(out_ptr + start + column, y, mask=inside)
