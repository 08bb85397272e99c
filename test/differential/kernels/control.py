# SPDX-License-Identifier: Apache-2.0
# differential/kernels/control.py — loops, branches, helpers, atomics, random numbers.
import triton
import triton.language as tl

FACTOR = tl.constexpr(3)


@triton.jit
def _scaled(value, SCALE: tl.constexpr, square: tl.constexpr = False):
    if square:
        return value * value * SCALE
    return value * SCALE


@triton.jit
def _both(a, b):
    return a + b, a - b


@triton.jit
def helpers(x, out, n, MODE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=0)
    if MODE == "square":
        a = _scaled(a, FACTOR, square=True)
    elif MODE == "plain":
        a = _scaled(a, 2)
    total, difference = _both(a, i)
    for k in tl.static_range(3):
        total = total + k * difference
    tl.store(out + i, total, mask=i < n)


@triton.jit
def collatz(x, steps, peaks):
    """`while` over scalars, with a branch in it."""
    pid = tl.program_id(0)
    value = tl.load(x + pid).to(tl.int64)
    peak = value
    count = 0
    while value > 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = value * 3 + 1
        peak = tl.maximum(peak, value)
        count += 1
    tl.store(steps + pid, count)
    tl.store(peaks + pid, peak)


@triton.jit
def branches(x, out, n, limit, BLOCK: tl.constexpr):
    """Early return, runtime branches that change tiles, a loop from the back, min and max."""
    pid = tl.program_id(0)
    if pid * BLOCK >= n:
        return
    i = pid * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    if pid % 2 == 0:
        value = value * 2
        shift = 1
    else:
        shift = -1
    for k in range(min(pid, 3), -1, -1):
        value += k * shift
    value = value + (10 if pid > limit else 20)
    tl.store(out + i, value, mask=i < n)


@triton.jit
def nested_loops(x, out, m, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.int32)
    for row in range(tl.program_id(0), m, tl.num_programs(0)):
        for start in tl.range(0, n, BLOCK):
            i = start + tl.arange(0, BLOCK)
            total += tl.load(x + row * n + i, mask=i < n, other=0) * (row + 1)
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@triton.jit
def atomics(x, bins, sums, highs, lows, flags, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(x + i, mask=mask, other=0)
    tl.atomic_add(bins + value % 16, 1, mask=mask)
    tl.atomic_add(sums, tl.sum(value))
    tl.atomic_max(highs + i % 4, value, mask=mask)
    tl.atomic_min(lows + i % 4, value, mask=mask)
    tl.atomic_or(flags, 1 << tl.program_id(0))
    tl.atomic_xor(flags + 1 + i % 4, value, mask=mask)
    tl.atomic_and(flags + 5 + i % 2, value | 255, mask=mask)


@triton.jit
def exchange(lock, old, out):
    """One program: what compare-and-swap and exchange give back."""
    i = tl.arange(0, 8)
    tl.store(old + i, tl.atomic_cas(lock + i, i, i * 10))
    tl.store(old + 8 + i, tl.atomic_xchg(lock + i, 5 - i))
    tl.store(out + i, tl.load(lock + i) + tl.atomic_add(lock + i, 1))


@triton.jit
def random_numbers(words, uniform, normal, seed, offset, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, offset + i)
    tl.store(words + i, a)
    tl.store(words + BLOCK + i, b)
    tl.store(words + 2 * BLOCK + i, c)
    tl.store(words + 3 * BLOCK + i, d)
    tl.store(words + 4 * BLOCK + i, tl.randint(seed, offset + i))
    tl.store(uniform + i, tl.rand(seed, offset + i))
    tl.store(normal + i, tl.randn(seed, offset + i))


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(keep, value / (1 - p), 0.0), mask=i < n)
