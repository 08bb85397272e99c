// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/exponentials.h — exp, log, tanh, erf and roots of f32: what most kernels need of
// math.h, which states how far they may be off. A file of its own, so that those kernels compile
// sooner.
#pragma once

namespace tw {

// ---- Powers

// Added to |x| < 2^21 it leaves the nearest integer, plus 254, in the low bits of the sum.
constexpr f32 rounder = 0x1.8p23f + 254;

// p * 2^n for n from -252 to 254, given n + rounder; in two steps, so that subnormal results are
// rounded once. Half of n + 254 is the exponent of half the way, with its bias.
TW_ALWAYS inline f32 scale(f32 p, f32 shifted) {
  const u32 whole = bit_cast<u32>(shifted);
  const u32 half = whole >> 1;
  return p * bit_cast<f32>(half << 23) * bit_cast<f32>((whole - half) << 23);
}

// Where to clamp, hidden from the compiler: of a choice between vectors and a number that it knows
// it makes two instructions (a mask, then a blend), of one with a variable a single minimum.
TW_ALWAYS inline f32 hidden(f32 x) {
  asm("" : "+r"(x));
  return x;
}
struct Limits {
  f32 low, high;
};
static Limits exp_limits = {hidden(-110.0f), hidden(95.0f)};
static Limits exp_plus_limits = {hidden(-86.6f), hidden(89.0f)};
static Limits exp2_limits = {hidden(-160.0f), hidden(130.0f)};

// In this order of operands each line is one instruction, and NaN stays.
TW_ALWAYS inline f32 clamp(f32 x, const Limits& limits) {
  const f32 a = limits.low > x ? limits.low : x;
  return limits.high < a ? limits.high : a;
}

// e^x is e^r * 2^n. Given x * log2(e) + `from`, where `from` is a rounder: e^r, times a power of
// two that costs nothing in the coefficients.
TW_ALWAYS inline f32 exp_rest(f32 x, f32 shifted, f32 from, f32 times) {
  const f32 n = shifted - from;
  const f32 r = __builtin_fmaf(n, -0x1.7f7d1cp-20f, __builtin_fmaf(n, -0x1.62e400p-1f, x));
  f32 p = 0x1.6d0c4ap-10f * times;
  p = __builtin_fmaf(p, r, 0.008363773874f * times);
  p = __builtin_fmaf(p, r, 0.04166655011f * times);
  p = __builtin_fmaf(p, r, 0.1666657338f * times);
  p = __builtin_fmaf(p, r, 0.5f * times);
  p = __builtin_fmaf(p, r, times);
  return __builtin_fmaf(p, r, times);
}

TW_ALWAYS inline f32 exp(f32 x) {
  const f32 inside = clamp(x, exp_limits);
  const f32 shifted = __builtin_fmaf(inside, 0x1.715476p+0f, rounder);
  return scale(exp_rest(inside, shifted, rounder, 1.0f), shifted);
}

// e^x of x that is not above 0 (the powers of a softmax), bit for bit as exp: it needs one limit,
// and one factor, since 2^(n + 64) is never too large for what is 2^64 times too small.
TW_ALWAYS inline f32 exp_down(f32 x) {
  constexpr f32 from = 0x1.8p23f + 127 + 64;
  const f32 inside = exp_limits.low > x ? exp_limits.low : x;
  const f32 shifted = __builtin_fmaf(inside, 0x1.715476p+0f, from);
  const f32 p = exp_rest(inside, shifted, from, 0x1p-64f);
  return p * bit_cast<f32>(bit_cast<u32>(shifted) << 23);
}

// e^x + c, where no power below 2^-125 changes c: so the smallest are all taken for that, and a
// single factor 2^(n-1), whose bias is in the rounder, does for the two of `scale`.
TW_ALWAYS inline f32 exp_plus(f32 x, f32 c) {
  constexpr f32 from = 0x1.8p23f + 126;
  const f32 inside = clamp(x, exp_plus_limits);
  const f32 shifted = __builtin_fmaf(inside, 0x1.715476p+0f, from);
  const f32 p = exp_rest(inside, shifted, from, 2.0f);
  return __builtin_fmaf(p, bit_cast<f32>(bit_cast<u32>(shifted) << 23), c);
}

TW_ALWAYS inline f32 exp2(f32 x) {
  const f32 inside = clamp(x, exp2_limits);
  const f32 shifted = inside + rounder;
  const f32 r = inside - (shifted - rounder);
  f32 p = 1.529822127e-5f;
  p = __builtin_fmaf(p, r, 0.0001546261076f);
  p = __builtin_fmaf(p, r, 0.001333350012f);
  p = __builtin_fmaf(p, r, 0.009618053734f);
  p = __builtin_fmaf(p, r, 0.05550410885f);
  p = __builtin_fmaf(p, r, 0.2402265094f);
  p = __builtin_fmaf(p, r, 0.6931471806f);
  p = __builtin_fmaf(p, r, 1.0f);
  return scale(p, shifted);
}

// ---- Logarithms: x = (1 + t) * 2^n with t about 0.

struct LogParts {
  f32 t, n;
};
TW_ALWAYS inline LogParts log_parts(f32 x) {
  const bool is_tiny = x < 0x1p-126f;
  const u32 bits = bit_cast<u32>(is_tiny ? x * 0x1p23f : x);
  const u32 shifted = bits - 0x3f3504f3u;  // the root of 1/2
  const i32 n = i32(shifted) >> 23;
  const f32 mantissa = bit_cast<f32>((shifted & 0x007fffffu) + 0x3f3504f3u);
  return {mantissa - 1.0f, f32(n - (is_tiny ? 23 : 0))};
}
// log(1 + t) - t, divided by t * t.
TW_ALWAYS inline f32 log_tail(f32 t) {
  f32 p = 0.06971611471f;
  p = __builtin_fmaf(p, t, -0.1147973385f);
  p = __builtin_fmaf(p, t, 0.1168541992f);
  p = __builtin_fmaf(p, t, -0.1242568733f);
  p = __builtin_fmaf(p, t, 0.1424905765f);
  p = __builtin_fmaf(p, t, -0.1666780232f);
  p = __builtin_fmaf(p, t, 0.2000071575f);
  p = __builtin_fmaf(p, t, -0.2499999696f);
  p = __builtin_fmaf(p, t, 0.3333333118f);
  return __builtin_fmaf(p, t, -0.5f);
}
TW_ALWAYS inline f32 log_limits(f32 x, f32 y) {
  const f32 at_end = x == 0 ? -inf<f32>() : x < 0 ? nan<f32>() : x;
  const bool is_inside = x > 0 && x < inf<f32>();
  return is_inside ? y : at_end;
}
TW_ALWAYS inline f32 log(f32 x) {
  const LogParts parts = log_parts(x);
  const f32 t = parts.t;
  const f32 low = __builtin_fmaf(parts.n, 0x1.7f7d1cp-20f, t * t * log_tail(t));
  return log_limits(x, __builtin_fmaf(parts.n, 0x1.62e400p-1f, low + t));
}
TW_ALWAYS inline f32 log2(f32 x) {
  const LogParts parts = log_parts(x);
  const f32 t = parts.t;
  const f32 tail = t * t * log_tail(t);
  // The product with log2(e) in two parts: the upper one has few bits.
  const f32 low = __builtin_fmaf(t, 0x1.547652p-8f, tail * 0x1.715476p+0f);
  return log_limits(x, __builtin_fmaf(t, 0x1.7p+0f, low) + parts.n);
}
TW_ALWAYS inline f32 log10(f32 x) {
  const LogParts parts = log_parts(x);
  const f32 t = parts.t;
  const f32 tail = t * t * log_tail(t);
  const f32 low = __builtin_fmaf(t, 0.0007007319032518277f, tail * 0x1.bcb7b2p-2f);
  const f32 own = __builtin_fmaf(t, 0x1.bcp-2f, low);
  return log_limits(
      x, __builtin_fmaf(parts.n, 0x1.344000p-2f, __builtin_fmaf(parts.n, 0x1.3509f8p-18f, own)));
}

// ---- Roots

TW_ALWAYS inline f32 sqrt(f32 x) { return __builtin_sqrtf(x); }
TW_ALWAYS inline f32 sqrt_rn(f32 x) { return __builtin_sqrtf(x); }
TW_ALWAYS inline f32 rsqrt(f32 x) { return 1.0f / __builtin_sqrtf(x); }

// ---- Hyperbolic tangent and error function

TW_ALWAYS inline f32 tanh(f32 x) {
  const f32 magnitude = __builtin_fabsf(x);
  const f32 s = x * x;
  f32 p = -0.006096714166f;
  p = __builtin_fmaf(p, s, 0.020997179f);
  p = __builtin_fmaf(p, s, -0.05385090958f);
  p = __builtin_fmaf(p, s, 0.1333276974f);
  p = __builtin_fmaf(p, s, -0.3333332894f);
  const f32 small = __builtin_fmaf(p * s, x, x);
  const f32 large = 1.0f - 2.0f / (exp(magnitude + magnitude) + 1.0f);
  return __builtin_copysignf(magnitude < 0.625f ? small : large, x);  // of -0 too
}

TW_ALWAYS inline f32 erf(f32 x) {
  const f32 magnitude = __builtin_fabsf(x);
  const f32 s = x * x;
  f32 p = 7.875875063e-5f;
  p = __builtin_fmaf(p, s, -0.0008016864287f);
  p = __builtin_fmaf(p, s, 0.005189087423f);
  p = __builtin_fmaf(p, s, -0.02685421201f);
  p = __builtin_fmaf(p, s, 0.1128359472f);
  p = __builtin_fmaf(p, s, -0.3761262667f);
  p = __builtin_fmaf(p, s, 0.1283791658f);
  const f32 small = __builtin_fmaf(p, x, x);
  const f32 t = magnitude < 4.0f ? magnitude : 4.0f;
  f32 q = -1.639938016e-6f;
  q = __builtin_fmaf(q, t, 4.611291391e-5f);
  q = __builtin_fmaf(q, t, -0.0005972644331f);
  q = __builtin_fmaf(q, t, 0.004761717236f);
  q = __builtin_fmaf(q, t, -0.02642704377f);
  q = __builtin_fmaf(q, t, 0.1100901975f);
  q = __builtin_fmaf(q, t, 0.6318156996f);
  q = __builtin_fmaf(q, t, 1.130239201f);
  q = __builtin_fmaf(q, t, -0.0003214710264f);
  const f32 large = 1.0f - exp(-q);
  return magnitude < 1.0f || x != x ? small : __builtin_copysignf(large, x);
}

}  // namespace tw
