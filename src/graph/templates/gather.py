# SPDX-License-Identifier: Apache-2.0
# graph/templates/gather.py — elements by their place along one dimension, and back. Tensors are
# contiguous in [rows, axis, inner]; indices have strides of their own.
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x, index, out, count, inner, picks, axis, index_row, index_pick, index_inner,
                  IS_FLOAT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    inside = at < count
    column = at % inner
    pick = at // inner % picks
    row = at // inner // picks
    place = row * index_row + pick * index_pick + column * index_inner
    chosen = tl.load(index + place, mask=inside, other=0).to(tl.int64)
    there = inside & (chosen >= 0) & (chosen < axis)
    from_place = (row * axis + chosen) * inner + column
    if IS_FLOAT:
        value = tl.load(x + from_place, mask=there, other=float("nan"))
    else:
        value = tl.load(x + from_place, mask=there, other=0)
    tl.store(out + at, value, mask=inside)


# A lane owns a column and goes over its picks in order, so that sums are the same every time.
# Programs along axis 1 share the columns: each writes a range of places.
@triton.jit
def scatter_kernel(out, index, values, columns, inner, picks, axis, index_row, index_pick,
                   index_inner, value_row, value_pick, value_inner, range_length,
                   ADDS: tl.constexpr, IS_FLOAT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    low = tl.program_id(1).to(tl.int64) * range_length
    high = tl.minimum(low + range_length, axis)
    inside = at < columns
    column = at % inner
    row = at // inner
    index_at = index + row * index_row + column * index_inner
    value_at = values + row * value_row + column * value_inner
    out_at = out + row * axis * inner + column
    for pick in range(picks):
        chosen = tl.load(index_at + pick * index_pick, mask=inside, other=-1).to(tl.int64)
        is_wrong = (chosen < 0) | (chosen >= axis)
        if IS_FLOAT:
            chosen = tl.where(is_wrong, 0, chosen)
            there = inside & (chosen >= low) & (chosen < high)
        else:
            there = inside & (chosen >= low) & (chosen < high)
        value = tl.load(value_at + pick * value_pick, mask=there, other=0).to(out.dtype.element_ty)
        if IS_FLOAT:
            value = tl.where(is_wrong, float("nan"), value).to(out.dtype.element_ty)
        to_place = out_at + chosen * inner
        if ADDS:
            value += tl.load(to_place, mask=there, other=0)
        tl.store(to_place, value, mask=there)
