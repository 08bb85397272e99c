# SPDX-License-Identifier: Apache-2.0
# differential/kernels/elementwise.py — one element at a time: dtypes, promotions, casts, masks.
import triton
import triton.language as tl


@triton.jit
def arithmetic(x, y, out, n, BLOCK: tl.constexpr):
    """out[k*n:] holds x+y, x-y, x*y, the larger, the smaller, and a choice."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask, other=1)
    b = tl.load(y + i, mask=mask, other=2)
    tl.store(out + i, a + b, mask=mask)
    tl.store(out + n + i, a - b, mask=mask)
    tl.store(out + 2 * n + i, a * b, mask=mask)
    tl.store(out + 3 * n + i, tl.maximum(a, b), mask=mask)
    tl.store(out + 4 * n + i, tl.minimum(a, b), mask=mask)
    tl.store(out + 5 * n + i, tl.where(a < b, a, b + a), mask=mask)


@triton.jit
def promotions(half, single, small, wide, unsigned, out, n, alpha, BLOCK: tl.constexpr):
    """Weak and strong scalars, mixed widths and kinds; every result is seen as float32."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    h = tl.load(half + i, mask=mask, other=0)
    s = tl.load(single + i, mask=mask, other=0)
    b = tl.load(small + i, mask=mask, other=0)
    w = tl.load(wide + i, mask=mask, other=0)
    u = tl.load(unsigned + i, mask=mask, other=0)
    tl.store(out + i, h * 0.333, mask=mask)
    tl.store(out + n + i, h * alpha, mask=mask)
    tl.store(out + 2 * n + i, h + b, mask=mask)
    tl.store(out + 3 * n + i, (b + b).to(tl.float32), mask=mask)
    tl.store(out + 4 * n + i, (b + w).to(tl.float32), mask=mask)
    tl.store(out + 5 * n + i, (w.to(tl.int32) + u).to(tl.float32), mask=mask)
    tl.store(out + 6 * n + i, b / 3, mask=mask)
    tl.store(out + 7 * n + i, h / 3, mask=mask)
    tl.store(out + 8 * n + i, s + w, mask=mask)
    tl.store(out + 9 * n + i, tl.maximum(h, 0.1), mask=mask)
    tl.store(out + 10 * n + i, (h < 0.3).to(tl.float32), mask=mask)
    tl.store(out + 11 * n + i, b * 0.5, mask=mask)
    tl.store(out + 12 * n + i, tl.where(h > 0, h, 1.0 / 3), mask=mask)


@triton.jit
def integer_division(x, y, quotient, remainder, ceiling, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask, other=1)
    b = tl.load(y + i, mask=mask, other=1)
    tl.store(quotient + i, a // b, mask=mask)
    tl.store(remainder + i, a % b, mask=mask)
    tl.store(ceiling + i, tl.cdiv(a, b), mask=mask)


@triton.jit
def constexpr_division(out, A: tl.constexpr, B: tl.constexpr):
    """Folded division rounds down, division at run time towards zero."""
    i = tl.arange(0, 4)
    runtime = tl.full([4], A, tl.int32)
    value = tl.where(i == 0, A // B, tl.where(i == 1, A % B, tl.where(i == 2, runtime // B, runtime % B)))
    tl.store(out + i, value)


@triton.jit
def bit_operations(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask, other=0)
    b = tl.load(y + i, mask=mask, other=0)
    tl.store(out + i, a & b, mask=mask)
    tl.store(out + n + i, a | b, mask=mask)
    tl.store(out + 2 * n + i, a ^ b, mask=mask)
    tl.store(out + 3 * n + i, ~a, mask=mask)
    tl.store(out + 4 * n + i, a << 3, mask=mask)
    tl.store(out + 5 * n + i, a >> 2, mask=mask)
    tl.store(out + 6 * n + i, -a, mask=mask)
    tl.store(out + 7 * n + i, (a > b) & (a != 0), mask=mask)


@triton.jit
def cast_to(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(x + i, mask=mask)
    tl.store(out + i, value.to(out.dtype.element_ty), mask=mask)


@triton.jit
def bitcast_to(x, out, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(x + i, mask=mask)
    tl.store(out + i, value.to(KIND, bitcast=True), mask=mask)


@triton.jit
def masks(x, flags, out, n, BLOCK: tl.constexpr):
    """Loads that are masked off, with and without `other`, and logic on int1."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    flag = tl.load(flags + i, mask=i < n, other=0) != 0
    even = i % 2 == 0
    a = tl.load(x + i, mask=flag, other=-5.0)
    b = tl.load(x + i, mask=flag & even & (i < n))
    tl.store(out + i, a + b, mask=i < n)
    tl.store(out + n + i, (flag | even) + 1, mask=i < n)
    tl.store(out + 2 * n + i, tl.where(~flag, a, b) * 2, mask=(i < n) & ~even)


@triton.jit
def math_functions(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x + i, mask=mask, other=1.0)
    p = tl.abs(a) + 0.01
    tl.store(out + i, tl.exp(a), mask=mask)
    tl.store(out + n + i, tl.exp2(a), mask=mask)
    tl.store(out + 2 * n + i, tl.log(p), mask=mask)
    tl.store(out + 3 * n + i, tl.log2(p), mask=mask)
    tl.store(out + 4 * n + i, tl.sqrt(p), mask=mask)
    tl.store(out + 5 * n + i, tl.rsqrt(p), mask=mask)
    tl.store(out + 6 * n + i, tl.sin(a), mask=mask)
    tl.store(out + 7 * n + i, tl.cos(a), mask=mask)
    tl.store(out + 8 * n + i, tl.erf(a), mask=mask)
    tl.store(out + 9 * n + i, tl.floor(a), mask=mask)
    tl.store(out + 10 * n + i, tl.ceil(a), mask=mask)
    tl.store(out + 11 * n + i, tl.sigmoid(a), mask=mask)
    tl.store(out + 12 * n + i, tl.fma(a, p, a), mask=mask)
    tl.store(out + 13 * n + i, tl.clamp(a, -0.5, 0.5), mask=mask)
    tl.store(out + 14 * n + i, tl.div_rn(a, p), mask=mask)


@triton.jit
def int64_offsets(x, out, n, stride, BLOCK: tl.constexpr):
    """A row number times a stride that leaves 32 bits is kept right by the cast."""
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    far = row * 3000000000 + i
    near = (far - row * 3000000000 + row * stride).to(tl.int64)
    tl.store(out + near, tl.load(x + near, mask=i < n, other=0) + (far >> 31).to(tl.float32), mask=i < n)
