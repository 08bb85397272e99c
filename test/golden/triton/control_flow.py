# SPDX-License-Identifier: Apache-2.0
# lower: early_return x=*f32 n=i32 BLOCK=16 HAS_SCALE=true scale=2.0
# lower: early_return x=*f32 n=i32 BLOCK=16 HAS_SCALE=false scale=none
# lower: blocks x=*f32 n=i32
import triton
import triton.language as tl


@triton.jit
def clipped(value, low):
    if value < low:
        return low, True
    return value, False


@triton.jit
def early_return(x, n, scale, BLOCK: tl.constexpr, HAS_SCALE: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    if start >= n:
        return
    offsets = start + tl.arange(0, BLOCK)
    y = tl.load(x + offsets)
    if HAS_SCALE:
        y *= scale
    tl.store(x + offsets, y)


@triton.jit
def blocks(x, n):
    total = 0.0
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (8,), (0,))
    for i in range(n - 8, -1, -8):
        total += tl.sum(tl.load(p, boundary_check=(0,)))
        p = tl.advance(p, (8,))
    last = n
    while last > 16:
        last = last // 2 if last % 2 == 0 else last - 1
    low, was_low = clipped(last, 2)
    if was_low:
        total = -total
    tl.store(x, total + low)
