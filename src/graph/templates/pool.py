# SPDX-License-Identifier: Apache-2.0
# graph/templates/pool.py — windows over planes of height x width. Derivatives go over the windows
# that an element is part of, so that nothing is added by two programs.
import triton
import triton.language as tl


@triton.jit
def max_pool2d_kernel(x, out, count, height, width, out_height, out_width, window_h, window_w,
                      stride_h, stride_w, pad_h, pad_w, step_h, step_w, GIVES_PLACES: tl.constexpr,
                      BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    inside = at < count
    out_w = at % out_width
    out_h = at // out_width % out_height
    plane = at // out_width // out_height
    best = tl.full([BLOCK], float("-inf"), x.dtype.element_ty)
    place = tl.full([BLOCK], -1, tl.int64)
    for i in range(window_h):
        for j in range(window_w):
            h = out_h * stride_h - pad_h + i * step_h
            w = out_w * stride_w - pad_w + j * step_w
            there = inside & (h >= 0) & (h < height) & (w >= 0) & (w < width)
            value = tl.load(x + (plane * height + h) * width + w, mask=there, other=float("-inf"))
            is_better = there & ((value > best) | (value != value) | (place < 0))
            best = tl.where(is_better, value, best)
            place = tl.where(is_better, h * width + w, place)
    if GIVES_PLACES:
        tl.store(out + at, place, mask=inside)
    else:
        tl.store(out + at, best, mask=inside)


@triton.jit
def max_pool2d_backward_kernel(g, places, out, count, height, width, out_height, out_width, window_h,
                               window_w, stride_h, stride_w, pad_h, pad_w, step_h, step_w,
                               SUMS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    inside = at < count
    w = at % width
    h = at // width % height
    plane = at // width // height
    total = tl.zeros([BLOCK], SUMS)
    for i in range(window_h):
        for j in range(window_w):
            from_h = h + pad_h - i * step_h
            from_w = w + pad_w - j * step_w
            out_h = from_h // stride_h
            out_w = from_w // stride_w
            there = inside & (from_h >= 0) & (from_w >= 0) & (from_h % stride_h == 0)
            there = there & (from_w % stride_w == 0) & (out_h < out_height) & (out_w < out_width)
            window = (plane * out_height + out_h) * out_width + out_w
            place = tl.load(places + window, mask=there, other=-1)
            value = tl.load(g + window, mask=there, other=0).to(SUMS)
            total += tl.where(there & (place == h * width + w), value, 0.0)
    tl.store(out + at, total.to(out.dtype.element_ty), mask=inside)


# How many elements of a window count: all, or those that are not padding.
@triton.jit
def counted(out_place, size, window, stride, pad):
    first = out_place * stride - pad
    return tl.minimum(first + window, size) - tl.maximum(first, 0)


@triton.jit
def avg_pool2d_kernel(x, out, count, height, width, out_height, out_width, window_h, window_w,
                      stride_h, stride_w, pad_h, pad_w, COUNTS_PADDING: tl.constexpr,
                      SUMS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    inside = at < count
    out_w = at % out_width
    out_h = at // out_width % out_height
    plane = at // out_width // out_height
    total = tl.zeros([BLOCK], SUMS)
    for i in range(window_h):
        for j in range(window_w):
            h = out_h * stride_h - pad_h + i
            w = out_w * stride_w - pad_w + j
            there = inside & (h >= 0) & (h < height) & (w >= 0) & (w < width)
            total += tl.load(x + (plane * height + h) * width + w, mask=there, other=0).to(SUMS)
    if COUNTS_PADDING:
        total = total / (window_h * window_w).to(SUMS)
    else:
        rows = counted(out_h, height, window_h, stride_h, pad_h)
        columns = counted(out_w, width, window_w, stride_w, pad_w)
        total = total / (rows * columns).to(SUMS)
    tl.store(out + at, total.to(out.dtype.element_ty), mask=inside)


@triton.jit
def avg_pool2d_backward_kernel(g, out, count, height, width, out_height, out_width, window_h,
                               window_w, stride_h, stride_w, pad_h, pad_w,
                               COUNTS_PADDING: tl.constexpr, SUMS: tl.constexpr,
                               BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    inside = at < count
    w = at % width
    h = at // width % height
    plane = at // width // height
    total = tl.zeros([BLOCK], SUMS)
    for i in range(window_h):
        for j in range(window_w):
            from_h = h + pad_h - i
            from_w = w + pad_w - j
            out_h = from_h // stride_h
            out_w = from_w // stride_w
            there = inside & (from_h >= 0) & (from_w >= 0) & (from_h % stride_h == 0)
            there = there & (from_w % stride_w == 0) & (out_h < out_height) & (out_w < out_width)
            value = tl.load(g + (plane * out_height + out_h) * out_width + out_w, mask=there,
                            other=0).to(SUMS)
            if COUNTS_PADDING:
                total += value / (window_h * window_w).to(SUMS)
            else:
                rows = counted(out_h, height, window_h, stride_h, pad_h)
                columns = counted(out_w, width, window_w, stride_w, pad_w)
                total += tl.where(there, value / (rows * columns).to(SUMS), 0.0)
    tl.store(out + at, total.to(out.dtype.element_ty), mask=inside)
