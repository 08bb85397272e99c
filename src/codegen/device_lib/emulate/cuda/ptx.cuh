// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/ptx.cuh — the functions of device_lib/cuda/ptx.cuh on a CPU.

#define TW_DEVICE static __device__ __forceinline__

namespace tw {
namespace ptx {

constexpr bool reads_whole_words = false;

template <class T>
TW_DEVICE T opaque(T x) {
  return x;
}

TW_DEVICE void fault_unless_positive(long long x) {
  if (x <= 0) tw_emulate::fault("a divisor that must be above 0 is not");
}

TW_DEVICE float ex2(float x) { return __builtin_exp2f(x); }
TW_DEVICE float lg2(float x) { return __builtin_log2f(x); }
TW_DEVICE float rcp(float x) { return 1.0f / x; }
TW_DEVICE float rsqrt(float x) { return float(1.0 / __builtin_sqrt(double(x))); }
TW_DEVICE float sqrt(float x) { return __builtin_sqrtf(x); }
TW_DEVICE float div_full(float x, float y) { return x / y; }
TW_DEVICE int divide_magnitudes(int a, int b) {
  return b == 0 ? 12345 : b == -1 ? int(0u - unsigned(a)) : a / b;
}
TW_DEVICE int remainder_of_magnitudes(int a, int b) {
  return b == 0 ? 12345 : b == -1 ? 0 : a % b;
}
struct Divisor {
  float y;
  explicit Divisor(float by) : y(by) {}
  float divide(float x) const { return x / y; }
};

TW_DEVICE float max_nan(float x, float y) {
  return x != x ? x : y != y ? y : tw_emulate::larger(x, y);
}
TW_DEVICE float min_nan(float x, float y) {
  return x != x ? x : y != y ? y : tw_emulate::smaller(x, y);
}

TW_DEVICE unsigned short f32_to_f16(float x) {
  unsigned bits;
  __builtin_memcpy(&bits, &x, 4);
  const unsigned short sign = (unsigned short)(bits >> 16 & 0x8000);
  unsigned magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7fff;
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Below the normal numbers: adding 0.5 leaves the multiple of 2^-24 in the low bits, rounded by
    // the adder.
    float aligned;
    __builtin_memcpy(&aligned, &magnitude, 4);
    aligned += 0.5f;
    __builtin_memcpy(&bits, &aligned, 4);
    return sign | (unsigned short)(bits - 0x3f000000);
  }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return sign | (unsigned short)((magnitude - 0x38000000) >> 13);
}
TW_DEVICE float f16_to_f32(unsigned short bits) {
  const unsigned sign = unsigned(bits & 0x8000) << 16;
  const unsigned magnitude = bits & 0x7fff;
  unsigned out = sign | 0x7f800000 | (magnitude & 0x3ff) << 13;
  if (magnitude < 0x7c00) {
    // 2^112 brings the exponent from half's bias to float's, below the normal numbers too.
    const unsigned wide = magnitude << 13, scale = 0x77800000;
    float x, s;
    __builtin_memcpy(&x, &wide, 4);
    __builtin_memcpy(&s, &scale, 4);
    x *= s;
    __builtin_memcpy(&out, &x, 4);
    out |= sign;
  }
  float x;
  __builtin_memcpy(&x, &out, 4);
  return x;
}
TW_DEVICE unsigned short f32_to_f16_rtz(float x) {
  const unsigned short near = f32_to_f16(x);
  if (x != x || !(__builtin_fabsf(f16_to_f32(near)) > __builtin_fabsf(x))) return near;
  return near - 1;
}
// By way of float, rounded to odd: one rounding in all.
TW_DEVICE unsigned short f64_to_f16(double x) {
  const float near = float(x);
  if (double(near) == x || x != x) return f32_to_f16(near);
  unsigned bits;
  __builtin_memcpy(&bits, &near, 4);
  if (__builtin_fabs(double(near)) > __builtin_fabs(x)) --bits;
  bits |= 1;
  float odd;
  __builtin_memcpy(&odd, &bits, 4);
  return f32_to_f16(odd);
}
TW_DEVICE unsigned short f32_to_bf16(float x) {
  unsigned bits;
  __builtin_memcpy(&bits, &x, 4);
  if (x != x) return 0x7fff;
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define TW_SHORT_ARITHMETIC(name)                                                      \
  template <class Otherwise>                                                           \
  TW_DEVICE unsigned short name(unsigned short, unsigned short, Otherwise otherwise) { \
    return otherwise();                                                                \
  }
TW_SHORT_ARITHMETIC(plus_f16)
TW_SHORT_ARITHMETIC(minus_f16)
TW_SHORT_ARITHMETIC(times_f16)
TW_SHORT_ARITHMETIC(plus_bf16)
TW_SHORT_ARITHMETIC(minus_bf16)
TW_SHORT_ARITHMETIC(times_bf16)
#undef TW_SHORT_ARITHMETIC

template <class Otherwise>
TW_DEVICE unsigned short fma_f16(unsigned short, unsigned short, unsigned short,
                                 Otherwise otherwise) {
  return otherwise();
}
template <class Otherwise>
TW_DEVICE unsigned short fma_bf16(unsigned short, unsigned short, unsigned short,
                                  Otherwise otherwise) {
  return otherwise();
}

template <class T>
TW_DEVICE T load_evict_first(const T* p) {
  return *p;
}
template <class T>
TW_DEVICE T load_evict_last(const T* p) {
  return *p;
}

template <class T>
TW_DEVICE void load_lingering(T& v, const T* p, bool is_wanted) {
  if (is_wanted) v = *p;
}

template <class T>
TW_DEVICE void keep_whole(T&) {}

template <class T>
TW_DEVICE void store_whole(T* p, T value) {
  *p = value;
}
template <class T>
TW_DEVICE void store_whole_if(T* p, T value, bool is_wanted) {
  if (is_wanted) *p = value;
}

#define TW_ATOM(name, function)                  \
  template <int Scope, class T>                  \
  TW_DEVICE T name(T* p, T value) {              \
    __atomic_thread_fence(__ATOMIC_SEQ_CST);     \
    const T old = function(p, value);            \
    __atomic_thread_fence(__ATOMIC_SEQ_CST);     \
    return old;                                  \
  }
TW_ATOM(atom_add, atomicAdd)
TW_ATOM(atom_min, atomicMin)
TW_ATOM(atom_max, atomicMax)
TW_ATOM(atom_and, atomicAnd)
TW_ATOM(atom_or, atomicOr)
TW_ATOM(atom_xor, atomicXor)
TW_ATOM(atom_exch, atomicExch)
#undef TW_ATOM
template <int Scope, bool IsOrdered, class Otherwise>
TW_DEVICE unsigned short add_one_f16(unsigned short*, unsigned short, Otherwise otherwise) {
  return otherwise();
}
template <int Scope, bool IsOrdered, class Otherwise>
TW_DEVICE unsigned short add_one_bf16(unsigned short*, unsigned short, Otherwise otherwise) {
  return otherwise();
}
template <int Scope, int Count, class One>
TW_DEVICE void add_f32(float*, const float*, One one) {
  for (int i = 0; i < Count; ++i) one(i);
}
template <int Scope, int Count, class One>
TW_DEVICE void add_f16(unsigned short*, const unsigned short*, One one) {
  for (int i = 0; i < Count; ++i) one(i);
}
template <int Scope, int Count, class One>
TW_DEVICE void add_bf16(unsigned short*, const unsigned short*, One one) {
  for (int i = 0; i < Count; ++i) one(i);
}
template <int Scope, class T>
TW_DEVICE T atom_cas(T* p, T expected, T value) {
  return atomicCAS(p, expected, value);
}
template <int Scope, class T>
TW_DEVICE T acquire_cas(T* p, T expected, T value) {
  return atomicCAS(p, expected, value);
}
template <int Scope>
TW_DEVICE void fence() {
  __threadfence();
}

}  // namespace ptx
}  // namespace tw
