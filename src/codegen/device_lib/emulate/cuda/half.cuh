// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/half.cuh — __half and __nv_bfloat16: conversions, operators and
// intrinsics, each rounded once.

namespace tw_emulate {

// The nearest float towards zero, with its last bit set when it is not exact: rounding that again
// to fewer bits gives what rounding the double would.
inline float to_odd(double value) {
  const float near = float(value);
  if (double(near) == value || value != value) return near;
  unsigned bits = bit_cast<unsigned>(near);
  if (__builtin_fabs(double(near)) > __builtin_fabs(value)) --bits;
  return bit_cast<float>(bits | 1);
}

// a * b + c for formats whose products are exact in double; rounded to odd like to_odd.
inline float fma_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = rounded(product + c);
  const double part = rounded(sum - product);
  const double error = rounded(rounded(product - rounded(sum - part)) + rounded(c - part));
  if (!(error != 0) || !__builtin_isfinite(sum)) return to_odd(sum);
  unsigned long bits = bit_cast<unsigned long>(sum);
  if ((error < 0) != (sum < 0)) --bits;
  return to_odd(bit_cast<double>(bits | 1));
}

inline unsigned short half_bits(float value) {
  if (value != value) return 0x7fff;
#if defined(__F16C__)
  typedef float Floats __attribute__((vector_size(16)));
  const auto packed = __builtin_ia32_vcvtps2ph(Floats{value, 0, 0, 0}, 0);
  return (unsigned short)packed[0];
#else
  const unsigned bits = bit_cast<unsigned>(value);
  const unsigned short sign = (unsigned short)(bits >> 16 & 0x8000);
  unsigned magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Below the normal numbers: adding 0.5 leaves the multiple of 2^-24 in the low bits, rounded by
    // the adder.
    const float aligned = bit_cast<float>(magnitude) + 0.5f;
    return sign | (unsigned short)(bit_cast<unsigned>(aligned) - 0x3f000000);
  }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return sign | (unsigned short)((magnitude - 0x38000000) >> 13);
#endif
}

inline float half_value(unsigned short bits) {
#if defined(__F16C__)
  typedef short Shorts __attribute__((vector_size(16)));
  return __builtin_ia32_vcvtph2ps(Shorts{(short)bits})[0];
#else
  const unsigned sign = (unsigned)(bits & 0x8000) << 16;
  const unsigned magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // 2^112 brings the exponent from half's bias to float's, below the normal numbers too.
  const float scaled = bit_cast<float>(magnitude << 13) * bit_cast<float>(0x77800000u);
  return bit_cast<float>(sign | bit_cast<unsigned>(scaled));
#endif
}

inline unsigned short bfloat_bits(float value) {
  if (value != value) return 0x7fff;
  const unsigned bits = bit_cast<unsigned>(value);
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float bfloat_value(unsigned short bits) { return bit_cast<float>((unsigned)bits << 16); }

}  // namespace tw_emulate

// ---- What both types have.

#define TW_SHORT_FLOAT(type, pair, encode, decode)                                            \
  struct alignas(2) type {                                                                    \
    unsigned short tw_bits;                                                                   \
    type() = default;                                                                         \
    constexpr type(const type&) = default;                                                    \
    type& operator=(const type&) = default;                                                   \
    type(float x) : tw_bits(tw_emulate::encode(x)) {}                                         \
    type(double x) : tw_bits(tw_emulate::encode(tw_emulate::to_odd(x))) {}                    \
    type(tw_emulate::Integer auto x)                                                          \
        : tw_bits(tw_emulate::encode(tw_emulate::to_odd(double(x)))) {}                       \
    operator float() const { return tw_emulate::decode(tw_bits); }                            \
    static type from_bits(unsigned short bits) {                                              \
      type out;                                                                               \
      out.tw_bits = bits;                                                                     \
      return out;                                                                             \
    }                                                                                         \
  };                                                                                          \
  struct alignas(4) pair {                                                                    \
    type x, y;                                                                                \
    pair() = default;                                                                         \
    pair(type low, type high) : x(low), y(high) {}                                            \
  };                                                                                          \
  TW_SHORT_OPERATOR(type, pair, +, +=)                                                        \
  TW_SHORT_OPERATOR(type, pair, -, -=)                                                        \
  TW_SHORT_OPERATOR(type, pair, *, *=)                                                        \
  TW_SHORT_OPERATOR(type, pair, /, /=)                                                        \
  TW_SHORT_COMPARE(type, ==, __heq)                                                           \
  TW_SHORT_COMPARE(type, !=, __hne)                                                           \
  TW_SHORT_COMPARE(type, <, __hlt)                                                            \
  TW_SHORT_COMPARE(type, <=, __hle)                                                           \
  TW_SHORT_COMPARE(type, >, __hgt)                                                            \
  TW_SHORT_COMPARE(type, >=, __hge)                                                           \
  static inline type operator-(type a) { return type::from_bits(a.tw_bits ^ 0x8000); }        \
  static inline type operator+(type a) { return a; }                                          \
  static inline pair operator-(pair a) { return {-a.x, -a.y}; }                               \
  static inline bool operator==(pair a, pair b) { return a.x == b.x && a.y == b.y; }          \
  static inline type __hneg(type a) { return -a; }                                            \
  static inline type __habs(type a) { return type::from_bits(a.tw_bits & 0x7fff); }           \
  static inline type __hfma(type a, type b, type c) {                                         \
    return type(tw_emulate::fma_to_odd(float(a), float(b), float(c)));                        \
  }                                                                                           \
  static inline type __hmax(type a, type b) { return type(tw_emulate::larger<float>(a, b)); }  \
  static inline type __hmin(type a, type b) { return type(tw_emulate::smaller<float>(a, b)); } \
  static inline bool __hisnan(type a) { return (a != a); }                                    \
  static inline int __hisinf(type a) {                                                        \
    return __builtin_isinf(float(a)) ? (float(a) > 0 ? 1 : -1) : 0;                           \
  }                                                                                           \
  TW_SHORT_ARITHMETIC(type, pair, __hadd, __hadd2, +)                                         \
  TW_SHORT_ARITHMETIC(type, pair, __hsub, __hsub2, -)                                         \
  TW_SHORT_ARITHMETIC(type, pair, __hmul, __hmul2, *)                                         \
  TW_SHORT_ARITHMETIC(type, pair, __hadd_rn, __hadd2_rn, +)                                   \
  TW_SHORT_ARITHMETIC(type, pair, __hsub_rn, __hsub2_rn, -)                                   \
  TW_SHORT_ARITHMETIC(type, pair, __hmul_rn, __hmul2_rn, *)                                   \
  TW_SHORT_ARITHMETIC(type, pair, __hdiv, __h2div, /)                                         \
  static inline pair __hfma2(pair a, pair b, pair c) {                                        \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                    \
  }                                                                                           \
  static inline pair __hneg2(pair a) { return -a; }                                           \
  static inline pair __habs2(pair a) { return {__habs(a.x), __habs(a.y)}; }                   \
  static inline pair __hmax2(pair a, pair b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; } \
  static inline pair __hmin2(pair a, pair b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; } \
  static inline float __low2float(pair a) { return a.x; }                                     \
  static inline float __high2float(pair a) { return a.y; }                                    \
  TW_SHORT_MATH(type, pair, exp, __builtin_expf(x))                                           \
  TW_SHORT_MATH(type, pair, exp2, __builtin_exp2f(x))                                         \
  TW_SHORT_MATH(type, pair, exp10, exp10f(x))                                                 \
  TW_SHORT_MATH(type, pair, log, __builtin_logf(x))                                           \
  TW_SHORT_MATH(type, pair, log2, __builtin_log2f(x))                                         \
  TW_SHORT_MATH(type, pair, log10, __builtin_log10f(x))                                       \
  TW_SHORT_MATH(type, pair, sqrt, __builtin_sqrtf(x))                                         \
  TW_SHORT_MATH(type, pair, rsqrt, rsqrtf(x))                                                 \
  TW_SHORT_MATH(type, pair, rcp, 1.0f / x)                                                    \
  TW_SHORT_MATH(type, pair, sin, __builtin_sinf(x))                                           \
  TW_SHORT_MATH(type, pair, cos, __builtin_cosf(x))                                           \
  TW_SHORT_MATH(type, pair, tanh, __builtin_tanhf(x))                                         \
  TW_SHORT_MATH(type, pair, ceil, __builtin_ceilf(x))                                         \
  TW_SHORT_MATH(type, pair, floor, __builtin_floorf(x))                                       \
  TW_SHORT_MATH(type, pair, rint, __builtin_rintf(x))                                         \
  TW_SHORT_MATH(type, pair, trunc, __builtin_truncf(x))

// One operation in float, rounded again, is right for these: float has more than twice the bits.
#define TW_SHORT_OPERATOR(type, pair, op, assign)                                       \
  static inline type operator op(type a, type b) { return type(float(a) op float(b)); } \
  static inline type& operator assign(type& a, type b) { return a = a op b; }           \
  static inline pair operator op(pair a, pair b) { return {a.x op b.x, a.y op b.y}; }   \
  static inline pair& operator assign(pair& a, pair b) { return a = a op b; }
#define TW_SHORT_COMPARE(type, op, name)                                          \
  static inline bool operator op(type a, type b) { return float(a) op float(b); } \
  static inline bool name(type a, type b) { return float(a) op float(b); }
#define TW_SHORT_ARITHMETIC(type, pair, name, name2, op)     \
  static inline type name(type a, type b) { return a op b; } \
  static inline pair name2(pair a, pair b) { return a op b; }
#define TW_SHORT_MATH(type, pair, name, expression) \
  static inline type h##name(type a) {              \
    const float x = a;                              \
    return type(expression);                        \
  }                                                 \
  static inline pair h2##name(pair a) { return {h##name(a.x), h##name(a.y)}; }

TW_SHORT_FLOAT(__half, __half2, half_bits, half_value)
TW_SHORT_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat_bits, bfloat_value)
#undef TW_SHORT_FLOAT
#undef TW_SHORT_OPERATOR
#undef TW_SHORT_COMPARE
#undef TW_SHORT_ARITHMETIC
#undef TW_SHORT_MATH

using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// ---- Conversions by name: `word` stands in the names for the type, `words` for the pair.

#define TW_SHORT_CONVERT(type, pair, word, words)                                              \
  static inline type __float2##word(float x) { return type(x); }                               \
  static inline type __float2##word##_rn(float x) { return type(x); }                          \
  static inline type __double2##word(double x) { return type(x); }                             \
  static inline float __##word##2float(type x) { return x; }                                   \
  static inline pair __float2##words##_rn(float x) { return {type(x), type(x)}; }              \
  static inline pair __floats2##words##_rn(float x, float y) { return {type(x), type(y)}; }    \
  static inline pair __float22##words##_rn(float2 v) { return {type(v.x), type(v.y)}; }        \
  static inline float2 __##words##2float2(pair v) { return {float(v.x), float(v.y)}; }         \
  static inline pair __##word##2##words(type x) { return {x, x}; }                             \
  static inline pair __halves2##words(type low, type high) { return {low, high}; }             \
  static inline pair make_##words(type low, type high) { return {low, high}; }                 \
  static inline type __low2##word(pair v) { return v.x; }                                      \
  static inline type __high2##word(pair v) { return v.y; }                                     \
  static inline pair __low2##words(pair v) { return {v.x, v.x}; }                              \
  static inline pair __high2##words(pair v) { return {v.y, v.y}; }                             \
  static inline pair __lows2##words(pair a, pair b) { return {a.x, b.x}; }                     \
  static inline pair __highs2##words(pair a, pair b) { return {a.y, b.y}; }                    \
  static inline unsigned short __##word##_as_ushort(type x) { return x.tw_bits; }              \
  static inline short __##word##_as_short(type x) { return short(x.tw_bits); }                 \
  static inline type __ushort_as_##word(unsigned short bits) { return type::from_bits(bits); } \
  static inline type __short_as_##word(short bits) {                                           \
    return type::from_bits((unsigned short)bits);                                              \
  }                                                                                            \
  static inline type __int2##word##_rn(int x) { return type(x); }                              \
  static inline type __uint2##word##_rn(unsigned x) { return type(x); }                        \
  static inline int __##word##2int_rn(type x) { return __float2int_rn(x); }                    \
  static inline int __##word##2int_rz(type x) { return __float2int_rz(x); }                    \
  static inline int __##word##2int_rd(type x) { return __float2int_rd(x); }                    \
  static inline int __##word##2int_ru(type x) { return __float2int_ru(x); }                    \
  static inline unsigned __##word##2uint_rn(type x) { return __float2uint_rn(x); }             \
  static inline unsigned __##word##2uint_rz(type x) { return __float2uint_rz(x); }
TW_SHORT_CONVERT(__half, __half2, half, half2)
TW_SHORT_CONVERT(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
#undef TW_SHORT_CONVERT
static inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
