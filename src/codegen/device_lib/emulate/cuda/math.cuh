// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/math.cuh — math functions and intrinsics. Fast variants are computed
// precisely.

namespace tw_emulate {

template <class T, class... Options>
inline constexpr bool is_one_of = (__is_same(T, Options) || ...);
template <class T>
concept Integer = is_one_of<T, int, unsigned, long, unsigned long, long long, unsigned long long,
                            short, unsigned short, char, signed char, unsigned char, bool>;
template <class T>
concept Number = Integer<T> || is_one_of<T, float, double>;

template <class To, class From>
inline To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the types have different sizes");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// Keeps the compiler from contracting a product and a sum into one rounding.
template <class T>
inline T rounded(T value) {
#if defined(__x86_64__)
  __asm__("" : "+x"(value));
#elif defined(__aarch64__)
  __asm__("" : "+w"(value));
#endif
  return value;
}

// As the GPU converts: out of range gives the nearest value, not-a-number gives zero.
template <class To>
inline To saturate(double value) {
  constexpr bool is_signed = To(-1) < To(0);
  constexpr double high =
      is_signed ? double(1ul << (sizeof(To) * 8 - 1)) : 2.0 * double(1ul << (sizeof(To) * 8 - 1));
  constexpr double low = is_signed ? -high : 0.0;
  if (value != value) return 0;
  if (value >= high) return is_signed ? To(~(1ull << (sizeof(To) * 8 - 1))) : To(-1);
  if (value <= low) return To(low);
  return To(value);
}

// As the GPU compares: a NaN loses, a signalling one too, and -0 is below 0.
template <class T>
inline T larger(T a, T b) {
  if (a != a) return b;
  if (a == b) return __builtin_signbit(a) ? b : a;
  return b > a ? b : a;
}
template <class T>
inline T smaller(T a, T b) {
  if (a != a) return b;
  if (a == b) return __builtin_signbit(a) ? a : b;
  return b < a ? b : a;
}

}  // namespace tw_emulate

// ---- The C functions and their C++ overloads.

#ifndef TW_EMULATE_STD
#define TW_EMULATE_UNARY(name)                                                  \
  extern "C" double name(double) noexcept;                                      \
  extern "C" float name##f(float) noexcept;                                     \
  static inline float name(float x) noexcept { return __builtin_##name##f(x); } \
  static inline double name(tw_emulate::Integer auto x) noexcept {              \
    return __builtin_##name(double(x));                                         \
  }                                                                             \
  namespace std {                                                               \
  using ::name;                                                                 \
  using ::name##f;                                                              \
  }
#define TW_EMULATE_BINARY(name)                                                             \
  extern "C" double name(double, double) noexcept;                                          \
  extern "C" float name##f(float, float) noexcept;                                          \
  static inline float name(float x, float y) noexcept { return __builtin_##name##f(x, y); } \
  template <tw_emulate::Number A, tw_emulate::Number B>                                     \
  static inline double name(A x, B y) noexcept {                                            \
    return __builtin_##name(double(x), double(y));                                          \
  }                                                                                         \
  namespace std {                                                                           \
  using ::name;                                                                             \
  using ::name##f;                                                                          \
  }
// What the C library has of a signalling NaN is a NaN, and which 0 of two is left to it.
#define TW_EMULATE_EXTREME(name, as)                                          \
  static inline double name(double x, double y) noexcept { return as(x, y); } \
  static inline float name(float x, float y) noexcept { return as(x, y); }    \
  static inline float name##f(float x, float y) noexcept { return as(x, y); } \
  template <tw_emulate::Number A, tw_emulate::Number B>                       \
  static inline double name(A x, B y) noexcept {                              \
    return as(double(x), double(y));                                          \
  }                                                                           \
  namespace std {                                                             \
  using ::name;                                                               \
  using ::name##f;                                                            \
  }
TW_EMULATE_UNARY(acos)
TW_EMULATE_UNARY(acosh)
TW_EMULATE_UNARY(asin)
TW_EMULATE_UNARY(asinh)
TW_EMULATE_UNARY(atan)
TW_EMULATE_UNARY(atanh)
TW_EMULATE_UNARY(cbrt)
TW_EMULATE_UNARY(ceil)
TW_EMULATE_UNARY(cos)
TW_EMULATE_UNARY(cosh)
TW_EMULATE_UNARY(erf)
TW_EMULATE_UNARY(erfc)
TW_EMULATE_UNARY(exp)
TW_EMULATE_UNARY(exp2)
TW_EMULATE_UNARY(expm1)
TW_EMULATE_UNARY(fabs)
TW_EMULATE_UNARY(floor)
TW_EMULATE_UNARY(j0)
TW_EMULATE_UNARY(j1)
TW_EMULATE_UNARY(lgamma)
TW_EMULATE_UNARY(log)
TW_EMULATE_UNARY(log10)
TW_EMULATE_UNARY(log1p)
TW_EMULATE_UNARY(log2)
TW_EMULATE_UNARY(logb)
TW_EMULATE_UNARY(nearbyint)
TW_EMULATE_UNARY(rint)
TW_EMULATE_UNARY(round)
TW_EMULATE_UNARY(sin)
TW_EMULATE_UNARY(sinh)
TW_EMULATE_UNARY(sqrt)
TW_EMULATE_UNARY(tan)
TW_EMULATE_UNARY(tanh)
TW_EMULATE_UNARY(tgamma)
TW_EMULATE_UNARY(trunc)
TW_EMULATE_UNARY(y0)
TW_EMULATE_UNARY(y1)
TW_EMULATE_BINARY(atan2)
TW_EMULATE_BINARY(copysign)
TW_EMULATE_BINARY(fdim)
TW_EMULATE_EXTREME(fmax, tw_emulate::larger)
TW_EMULATE_EXTREME(fmin, tw_emulate::smaller)
TW_EMULATE_BINARY(fmod)
TW_EMULATE_BINARY(hypot)
TW_EMULATE_BINARY(nextafter)
TW_EMULATE_BINARY(pow)
TW_EMULATE_BINARY(remainder)
#undef TW_EMULATE_UNARY
// The modified Bessel function of the first kind: its series, whose terms have one sign, and far from
// 0 its expansion by 1 / x.
namespace tw_emulate {
inline double bessel_i(int order, double x) {
  const double a = __builtin_fabs(x);
  double sum = order == 0 ? 1 : a / 2;
  if (a < 25) {
    double term = sum;
    for (int k = 1; term > 1e-17 * sum; ++k) {
      term *= a * a / 4 / (double(k) * (k + order));
      sum += term;
    }
  } else if (a < 1500) {
    double term = 1;
    sum = 1;
    for (int k = 1; k < 40 && __builtin_fabs(term) > 1e-17; ++k) {
      term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8.0 * k * a);
      sum += term;
    }
    const double power = __builtin_exp(a / 2);
    sum = power / __builtin_sqrt(6.283185307179586 * a) * sum * power;
  } else {
    sum = a * __builtin_inf();
  }
  return order == 1 && x < 0 ? -sum : sum;
}
}  // namespace tw_emulate
static inline double cyl_bessel_i0(double x) noexcept { return tw_emulate::bessel_i(0, x); }
static inline double cyl_bessel_i1(double x) noexcept { return tw_emulate::bessel_i(1, x); }
static inline float cyl_bessel_i0f(float x) noexcept { return float(tw_emulate::bessel_i(0, x)); }
static inline float cyl_bessel_i1f(float x) noexcept { return float(tw_emulate::bessel_i(1, x)); }
#undef TW_EMULATE_BINARY
#undef TW_EMULATE_EXTREME

extern "C" {
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double frexp(double, int*) noexcept;
float frexpf(float, int*) noexcept;
double modf(double, double*) noexcept;
float modff(float, float*) noexcept;
int abs(int) noexcept;
long labs(long) noexcept;
long long llabs(long long) noexcept;
long lround(double) noexcept;
long lroundf(float) noexcept;
long lrint(double) noexcept;
long lrintf(float) noexcept;
}
static inline float fma(float x, float y, float z) noexcept { return __builtin_fmaf(x, y, z); }
static inline float ldexp(float x, int n) noexcept { return __builtin_ldexpf(x, n); }
static inline float frexp(float x, int* n) noexcept { return __builtin_frexpf(x, n); }
static inline float modf(float x, float* i) noexcept { return __builtin_modff(x, i); }
static inline float abs(float x) noexcept { return __builtin_fabsf(x); }
static inline double abs(double x) noexcept { return __builtin_fabs(x); }
static inline long abs(long x) noexcept { return x < 0 ? -x : x; }
static inline long long abs(long long x) noexcept { return x < 0 ? -x : x; }
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline bool signbit(float x) { return __builtin_signbit(x); }
static inline bool signbit(double x) { return __builtin_signbit(x); }
namespace std {
using ::abs;
using ::fma;
using ::frexp;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lround;
using ::modf;
using ::signbit;
}  // namespace std

extern "C" void sincos(double, double*, double*) noexcept;
extern "C" void sincosf(float, float*, float*) noexcept;
extern "C" double exp10(double) noexcept;
extern "C" float exp10f(float) noexcept;
#endif

#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.14159265358979323846

// ---- min and max: of mixed types too; for floating types, a number beats not-a-number.

template <tw_emulate::Number A, tw_emulate::Number B>
static inline auto min(A a, B b) {
  using T = decltype(true ? a : b);
  if constexpr (__is_same(T, float) || __is_same(T, double)) return tw_emulate::smaller<T>(a, b);
  else return T(a) < T(b) ? T(a) : T(b);
}
template <tw_emulate::Number A, tw_emulate::Number B>
static inline auto max(A a, B b) {
  using T = decltype(true ? a : b);
  if constexpr (__is_same(T, float) || __is_same(T, double)) return tw_emulate::larger<T>(a, b);
  else return T(a) < T(b) ? T(b) : T(a);
}
static inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
static inline long long llmin(long long a, long long b) { return a < b ? a : b; }
static inline long long llmax(long long a, long long b) { return a < b ? b : a; }

// ---- Functions that C lacks.

static inline float rsqrtf(float x) { return float(1.0 / __builtin_sqrt(double(x))); }
static inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float rcbrtf(float x) { return float(1.0 / __builtin_cbrt(double(x))); }
static inline double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
static inline double normcdf(double x) { return 0.5 * __builtin_erfc(-x * M_SQRT1_2); }
static inline float normcdff(float x) { return float(normcdf(double(x))); }
static inline double sinpi(double x) {
  const double r = __builtin_fmod(x, 2.0);
  const double a = __builtin_fabs(r);
  const double s = a <= 0.25   ? __builtin_sin(M_PI * a)
                   : a <= 0.75 ? __builtin_cos(M_PI * (0.5 - a))
                   : a <= 1.25 ? __builtin_sin(M_PI * (1.0 - a))
                   : a <= 1.75 ? -__builtin_cos(M_PI * (1.5 - a))
                               : __builtin_sin(M_PI * (a - 2.0));
  return __builtin_copysign(1.0, r) * s;
}
static inline double cospi(double x) {
  const double a = __builtin_fabs(__builtin_fmod(x, 2.0));
  return a <= 0.25   ? __builtin_cos(M_PI * a)
         : a <= 0.75 ? __builtin_sin(M_PI * (0.5 - a))
         : a <= 1.25 ? -__builtin_cos(M_PI * (1.0 - a))
         : a <= 1.75 ? __builtin_sin(M_PI * (a - 1.5))
                     : __builtin_cos(M_PI * (2.0 - a));
}
static inline float sinpif(float x) { return float(sinpi(double(x))); }
static inline float cospif(float x) { return float(cospi(double(x))); }
static inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
static inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
static inline float fdividef(float x, float y) { return x / y; }
static inline float norm3df(float x, float y, float z) {
  return float(__builtin_sqrt(double(x) * x + double(y) * y + double(z) * z));
}

// ---- Intrinsics.

static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __log2f(float x) { return __builtin_log2f(x); }
static inline float __log10f(float x) { return __builtin_log10f(x); }
static inline float __powf(float x, float y) { return __builtin_powf(x, y); }
static inline float __sinf(float x) { return __builtin_sinf(x); }
static inline float __cosf(float x) { return __builtin_cosf(x); }
static inline float __tanf(float x) { return __builtin_tanf(x); }
static inline float __tanhf(float x) { return __builtin_tanhf(x); }
static inline void __sincosf(float x, float* s, float* c) {
  *s = __builtin_sinf(x), *c = __builtin_cosf(x);
}
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) {
  return tw_emulate::smaller(tw_emulate::larger(x, 0.0f), 1.0f);
}
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }
static inline float __fadd_rn(float x, float y) { return tw_emulate::rounded(x + y); }
static inline float __fsub_rn(float x, float y) { return tw_emulate::rounded(x - y); }
static inline float __fmul_rn(float x, float y) { return tw_emulate::rounded(x * y); }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline float __fmaf_ieee_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double __dadd_rn(double x, double y) { return tw_emulate::rounded(x + y); }
static inline double __dsub_rn(double x, double y) { return tw_emulate::rounded(x - y); }
static inline double __dmul_rn(double x, double y) { return tw_emulate::rounded(x * y); }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
static inline double __drcp_rn(double x) { return 1.0 / x; }
static inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

#define TW_EMULATE_CONVERT(from, to, type)                         \
  static inline type __##from##2##to##_rn(from x) {                \
    return tw_emulate::saturate<type>(__builtin_rint(double(x)));  \
  }                                                                \
  static inline type __##from##2##to##_rz(from x) {                \
    return tw_emulate::saturate<type>(__builtin_trunc(double(x))); \
  }                                                                \
  static inline type __##from##2##to##_rd(from x) {                \
    return tw_emulate::saturate<type>(__builtin_floor(double(x))); \
  }                                                                \
  static inline type __##from##2##to##_ru(from x) {                \
    return tw_emulate::saturate<type>(__builtin_ceil(double(x)));  \
  }
TW_EMULATE_CONVERT(float, int, int)
TW_EMULATE_CONVERT(float, uint, unsigned)
TW_EMULATE_CONVERT(float, ll, long long)
TW_EMULATE_CONVERT(float, ull, unsigned long long)
TW_EMULATE_CONVERT(double, int, int)
TW_EMULATE_CONVERT(double, uint, unsigned)
TW_EMULATE_CONVERT(double, ll, long long)
TW_EMULATE_CONVERT(double, ull, unsigned long long)
#undef TW_EMULATE_CONVERT
static inline float __int2float_rn(int x) { return float(x); }
static inline float __uint2float_rn(unsigned x) { return float(x); }
static inline float __ll2float_rn(long long x) { return float(x); }
static inline float __ull2float_rn(unsigned long long x) { return float(x); }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }
static inline double __ll2double_rn(long long x) { return double(x); }
static inline float __double2float_rn(double x) { return float(x); }

static inline int __float_as_int(float x) { return tw_emulate::bit_cast<int>(x); }
static inline unsigned __float_as_uint(float x) { return tw_emulate::bit_cast<unsigned>(x); }
static inline float __int_as_float(int x) { return tw_emulate::bit_cast<float>(x); }
static inline float __uint_as_float(unsigned x) { return tw_emulate::bit_cast<float>(x); }
static inline long long __double_as_longlong(double x) {
  return tw_emulate::bit_cast<long long>(x);
}
static inline double __longlong_as_double(long long x) { return tw_emulate::bit_cast<double>(x); }
static inline int __double2hiint(double x) {
  return int(tw_emulate::bit_cast<unsigned long>(x) >> 32);
}
static inline int __double2loint(double x) { return int(tw_emulate::bit_cast<unsigned long>(x)); }
static inline double __hiloint2double(int high, int low) {
  return tw_emulate::bit_cast<double>((unsigned long)unsigned(high) << 32 | unsigned(low));
}

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
static inline int __mulhi(int x, int y) { return int((long long)x * y >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y) {
  return unsigned((unsigned long long)x * y >> 32);
}
static inline long long __mul64hi(long long x, long long y) {
  return (long long)((__int128)x * y >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
static inline int __mul24(int x, int y) {
  return int((unsigned)((int)((unsigned)x << 8) >> 8) * (unsigned)((int)((unsigned)y << 8) >> 8));
}
static inline unsigned __umul24(unsigned x, unsigned y) {
  return (x & 0xffffffu) * (y & 0xffffffu);
}
static inline unsigned __sad(int x, int y, unsigned z) {
  return z + (x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x));
}
static inline int __hadd(int x, int y) { return int(((long long)x + y) >> 1); }
static inline int __rhadd(int x, int y) { return int(((long long)x + y + 1) >> 1); }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long bytes = (unsigned long)y << 32 | x;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = selector >> (4 * i) & 0xf;
    unsigned byte = unsigned(bytes >> (8 * (s & 7)) & 0xff);
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    out |= byte << (8 * i);
  }
  return out;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((unsigned long)high << 32 | low) << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((unsigned long)high << 32 | low) >> (shift & 31));
}
static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
static inline int __dp4a(int x, int y, int sum) {
  unsigned total = unsigned(sum);
  for (int i = 0; i < 4; ++i)
    total += unsigned(int((signed char)(unsigned(x) >> 8 * i)) *
                      int((signed char)(unsigned(y) >> 8 * i)));
  return int(total);
}
static inline unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
  for (int i = 0; i < 4; ++i) sum += (x >> 8 * i & 0xff) * (y >> 8 * i & 0xff);
  return sum;
}
