# SPDX-License-Identifier: Apache-2.0
# differential/kernels/language.py — what Triton says about loops, tuples, types and orders.
from typing import NamedTuple

import triton
import triton.language as tl
from triton.language.extra import libdevice

FACTOR = tl.constexpr(3)


class Pair(NamedTuple):
    first: tl.tensor
    second: tl.tensor


@triton.jit
def counted_loops(out, n, step):
    """Loops up and down, by constants and by arguments; each writes the indices it went over."""
    at = 0
    for i in range(10, 0, -3):
        tl.store(out + at, i)
        at += 1
    for i in range(n, -n, -2):
        tl.store(out + at, i)
        at += 1
    for i in range(-n, n, step):
        tl.store(out + at, i)
        at += 1
    for i in range(n, 0):
        tl.store(out + at, 1000 + i)
        at += 1
    for i in tl.static_range(8, 2, -2):
        for k in tl.static_range(i - 5):
            tl.store(out + at, 100 * i + k)
            at += 1
    i = n * n
    while i > 3 and at < 60:
        tl.store(out + at, i)
        i = i // 2
        at += 1
    tl.store(out + 63, at)


@triton.jit
def _swapped(pair):
    return Pair(pair.second, pair.first + 1)


@triton.jit
def _sum_of(first, others, scale=FACTOR):
    total = first * scale
    for k in tl.static_range(len(others)):
        total += others[k] * (k + 2)
    return total


@triton.jit
def tuples(x, out, n, N: tl.constexpr):
    """Tuples with and without names through loops, branches and helpers."""
    i = tl.arange(0, N)
    value = tl.load(x + i)
    pair = Pair(value, value * 2)
    for _ in range(n):
        pair = _swapped(pair)
    if n > 3:
        pair = Pair(pair.first + 5, pair.second)
    both = (value, n)
    both = both + (value * value,)
    tl.store(out + i, pair.first)
    tl.store(out + N + i, pair.second)
    tl.store(out + 2 * N + i, both[-1] + both[1])
    tl.store(out + 3 * N + i, _sum_of(value, (n, both[2])))
    tl.store(out + 4 * N + i, _sum_of(value, (value, n)[1:], scale=n))


@triton.jit
def _compose(a, b, c, d):
    """x -> a x + b, then x -> c x + d: the order of the two counts."""
    return a * c, b * c + d


@triton.jit
def _later(a, b):
    return b


@triton.jit
def _earlier(a, b):
    return a


@triton.jit
def reduced_in_order(x, y, out, M: tl.constexpr, N: tl.constexpr):
    """Reductions whose function gives another result when its sides are exchanged."""
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    a = tl.load(x + i)
    b = tl.load(y + i)
    factor, offset = tl.reduce((a, b), 1, _compose)
    tl.store(out + rows, factor)
    tl.store(out + M + rows, offset)
    tl.store(out + 2 * M + rows, tl.reduce(a, 1, _later))
    tl.store(out + 3 * M + columns, tl.reduce(a, 0, _earlier))


@triton.jit
def scanned_in_order(x, y, out, M: tl.constexpr, N: tl.constexpr):
    """Scans with such functions."""
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(x + i)
    b = tl.load(y + i)
    tl.store(out + i, tl.associative_scan((a, b), 1, _compose)[1])
    tl.store(out + M * N + i, tl.associative_scan((a, b), 0, _compose, reverse=True)[1])
    tl.store(out + 2 * M * N + i, tl.associative_scan(a, 1, _later, reverse=True))
    tl.store(out + 3 * M * N + i, tl.associative_scan(b, 1, _earlier))


@triton.jit
def summed_types(x, out, wide, N: tl.constexpr):
    """In which type short integers and truth values are added up."""
    value = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.sum(value, 0))
    tl.store(out + 1, tl.sum(value, 0, dtype=tl.int16))
    tl.store(out + 2, tl.sum(value > 3, 0))
    tl.store(out + 3, tl.max(value, 0))
    tl.store(out + 4, tl.xor_sum(value, 0))
    tl.store(out + 5, tl.reduce_or(value, 0))
    tl.store(out + 6, tl.argmin(value, 0))
    tl.store(wide, tl.sum(value, 0, dtype=tl.int64))
    tl.store(wide + 1 + tl.arange(0, N), tl.cumsum(value, 0))
    tl.store(wide + 1 + N + tl.arange(0, N), tl.cumsum(value, 0, reverse=True, dtype=tl.int16))
    tl.store(wide + 1 + 2 * N + tl.arange(0, N), tl.cumprod(value, 0))


@triton.jit
def best_of(x, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    value = tl.load(x + rows * N + tl.arange(0, N)[None, :])
    best = tl.topk(value, K)
    tl.store(out + rows * K + tl.arange(0, K)[None, :], best)
    turned = tl.flip(tl.flip(tl.sort(value), 0), 1)
    tl.store(out + M * K + rows * N + tl.arange(0, N)[None, :], turned)


@triton.jit
def shifts(x, y, out, n, BLOCK: tl.constexpr):
    """`>>` keeps the sign of signed integers, and both shifts the wider one's bits."""
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n) & 7
    tl.store(out + i, a >> b, mask=i < n)
    tl.store(out + n + i, a << b, mask=i < n)
    tl.store(out + 2 * n + i, (a >> 3) + (a >> 1), mask=i < n)
    tl.store(out + 3 * n + i, (a ^ b) | 1, mask=i < n)


@triton.jit
def literal_types(x, out, n, BLOCK: tl.constexpr):
    """Numbers of Python beside tensors: which of them take part in the common type."""
    i = tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask)
    tl.store(out + i, (a + 1).dtype.primitive_bitwidth, mask=mask)
    tl.store(out + n + i, (a * 1.5).dtype.primitive_bitwidth, mask=mask)
    tl.store(out + 2 * n + i, (a + True).dtype.primitive_bitwidth, mask=mask)
    tl.store(out + 3 * n + i, tl.maximum(a, 1).dtype.primitive_bitwidth, mask=mask)
    tl.store(out + 4 * n + i, (a / 3).dtype.primitive_bitwidth, mask=mask)
    tl.store(out + 5 * n + i, tl.where(a > 1, a, 7).dtype.primitive_bitwidth, mask=mask)
    tl.store(out + 6 * n + i, (a + tl.program_id(0)).dtype.primitive_bitwidth, mask=mask)
    tl.store(out + 7 * n + i, tl.float16.primitive_bitwidth + tl.int8.itemsize + i, mask=mask)


@triton.jit
def float_extremes(x, highs, lows, old, N: tl.constexpr):
    """Atomic extremes of floats of both signs; each address is one program's own."""
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(old + i, tl.atomic_max(highs + i, value, mask=i % 3 != 0), mask=i % 3 != 0)
    tl.store(old + N + i, tl.atomic_min(lows + i, value, sem="relaxed", scope="cta"))


@triton.jit
def block_edges(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    """Blocks that hang over every edge of a matrix."""
    at = tl.program_id(0) * M - 3
    block = tl.make_block_ptr(x, (m, n), (n, 1), (at, -5), (M, N), (1, 0))
    total = tl.zeros([M, N], tl.float32)
    for _ in range(3):
        total += tl.load(block, boundary_check=(0, 1), padding_option="zero")
        block = tl.advance(block, (1, N - 3))
    target = tl.make_block_ptr(out, (n, m), (1, n), (-5, at), (N, M), (0, 1))
    tl.store(target, tl.trans(total), boundary_check=(0, 1))


@triton.jit
def described_edges(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [M, N])
    target = tl.make_tensor_descriptor(out, [m, n], [n, 1], [M, N])
    target.store([m - 3, -4], source.load([-2, n - 4]))
    target.store([2, n - 8], source.load([m - 5, 4]) * 2)


@triton.jit
def scaled_powers(x, exponents, out, n, BLOCK: tl.constexpr):
    """Powers of two beyond the range of the type, and sines of whole and half turns."""
    i = tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(x + i, mask=mask)
    tl.store(out + i, libdevice.ldexp(value, tl.load(exponents + i, mask=mask)), mask=mask)
    tl.store(out + n + i, libdevice.sinpi(value), mask=mask)
    tl.store(out + 2 * n + i, libdevice.cospi(value), mask=mask)
