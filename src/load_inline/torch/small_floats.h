// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/small_floats.h — c10::Half and c10::BFloat16 for host, GPU and emulated code.
#pragma once

#ifndef TW_HD
#ifdef __CUDACC_RTC__
#define TW_HD __host__ __device__ inline
#else
#define TW_HD inline
#endif
#endif

namespace tilewright_inline {

TW_HD unsigned bits_of(float value) {
  union {
    float value;
    unsigned bits;
  } u{value};
  return u.bits;
}
TW_HD float float_of(unsigned bits) {
  union {
    unsigned bits;
    float value;
  } u{bits};
  return u.value;
}

TW_HD float half_to_float(unsigned short h) {
#ifdef __CUDACC_RTC__
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(h));
  return out;
#else
  const unsigned sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31, mantissa = h & 1023;
  if (exponent == 31) return float_of(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * (1.0f / 16777216.0f);
  return sign ? -magnitude : magnitude;
#endif
}

TW_HD unsigned short float_to_half(float value) {
#ifdef __CUDACC_RTC__
  unsigned short out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(value));
  return out;
#else
  const unsigned bits = bits_of(value), sign = (bits >> 16) & 0x8000u,
                 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 aligns and rounds the mantissa
    const float shifted = float_of(magnitude) + 0.5f;
    return static_cast<unsigned short>(sign | (bits_of(shifted) - 0x3f000000u));
  }
  const unsigned rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1);
  return static_cast<unsigned short>(sign | ((rounded - 0x38000000u) >> 13));
#endif
}

TW_HD float bfloat16_to_float(unsigned short b) { return float_of(static_cast<unsigned>(b) << 16); }

TW_HD unsigned short float_to_bfloat16(float value) {
  const unsigned bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

}  // namespace tilewright_inline

namespace c10 {

#define TW_SMALL_FLOAT(Name, to_float, from_float)                                     \
  struct alignas(2) Name {                                                             \
    unsigned short x;                                                                  \
    Name() = default;                                                                  \
    TW_HD Name(float value) : x(::tilewright_inline::from_float(value)) {}             \
    TW_HD operator float() const { return ::tilewright_inline::to_float(x); }          \
    TW_HD Name& operator+=(float other) { return *this = Name(float(*this) + other); } \
    TW_HD Name& operator-=(float other) { return *this = Name(float(*this) - other); } \
    TW_HD Name& operator*=(float other) { return *this = Name(float(*this) * other); } \
    TW_HD Name& operator/=(float other) { return *this = Name(float(*this) / other); } \
  };
TW_SMALL_FLOAT(Half, half_to_float, float_to_half)
TW_SMALL_FLOAT(BFloat16, bfloat16_to_float, float_to_bfloat16)
#undef TW_SMALL_FLOAT

}  // namespace c10

namespace tilewright_inline {
// The type that sums of T are kept in; on a CPU float is summed in double.
template <class T, bool is_cuda>
struct Accumulated {
  using type = long;
};
template <bool is_cuda>
struct Accumulated<c10::Half, is_cuda> {
  using type = float;
};
template <bool is_cuda>
struct Accumulated<c10::BFloat16, is_cuda> {
  using type = float;
};
template <>
struct Accumulated<float, true> {
  using type = float;
};
template <>
struct Accumulated<float, false> {
  using type = double;
};
template <bool is_cuda>
struct Accumulated<double, is_cuda> {
  using type = double;
};
// The type that T is computed in.
template <class T>
struct Computed {
  using type = T;
};
template <>
struct Computed<c10::Half> {
  using type = float;
};
template <>
struct Computed<c10::BFloat16> {
  using type = float;
};
}  // namespace tilewright_inline

namespace at {
using c10::BFloat16;
using c10::Half;
template <class T, bool is_cuda>
using acc_type = typename ::tilewright_inline::Accumulated<T, is_cuda>::type;
template <class T>
using opmath_type = typename ::tilewright_inline::Computed<T>::type;
}  // namespace at
namespace torch {
using at::acc_type;
using c10::BFloat16;
using c10::Half;
}  // namespace torch
