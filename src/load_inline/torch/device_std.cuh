// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/device_std.cuh — the small part of the standard library that kernels use, for NVRTC.
#pragma once

namespace std {

template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  __host__ __device__ constexpr operator T() const { return v; }
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> struct remove_cv { using type = typename remove_const<typename remove_volatile<T>::type>::type; };
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using decay_t = remove_cvref_t<T>;
template <class T> struct is_floating_point
    : integral_constant<bool, is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>> {};
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T, class... Types> constexpr bool tw_is_one_of = (is_same_v<T, Types> || ...);
template <class T> struct is_integral
    : integral_constant<bool, tw_is_one_of<remove_cv_t<T>, bool, char, signed char, unsigned char, short, unsigned short, int,
                                           unsigned, long, unsigned long, long long, unsigned long long>> {};
template <class T> constexpr bool is_integral_v = is_integral<T>::value;
template <class T> struct is_arithmetic : integral_constant<bool, is_integral_v<T> || is_floating_point_v<T>> {};
template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T*> : true_type {};
template <class T> constexpr bool is_pointer_v = is_pointer<T>::value;

// std::move and std::forward are NVRTC's own; second ones would make every call ambiguous.
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) {
  T c = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(c);
}
template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : high < v ? high : v;
}

template <class T> __device__ T tw_infinity() {
  if constexpr (is_same_v<T, float>) return __int_as_float(0x7f800000);
  else if constexpr (is_same_v<T, double>) return __longlong_as_double(0x7ff0000000000000ll);
  else return T();
}
template <class T> __device__ T tw_nan() {
  if constexpr (is_same_v<T, float>) return __int_as_float(0x7fffffff);
  else if constexpr (is_same_v<T, double>) return __longlong_as_double(0x7ff8000000000000ll);
  else return T();
}
template <class T> struct numeric_limits;
#define TW_LIMITS(T, smallest, largest, low, step, is_int)                     \
  template <> struct numeric_limits<T> {                                       \
    static constexpr bool is_integer = is_int;                                 \
    static constexpr bool has_infinity = !is_int;                              \
    __host__ __device__ static constexpr T min() { return smallest; }          \
    __host__ __device__ static constexpr T max() { return largest; }           \
    __host__ __device__ static constexpr T lowest() { return low; }            \
    __host__ __device__ static constexpr T epsilon() { return step; }          \
    __device__ static T infinity() { return tw_infinity<T>(); } \
    __device__ static T quiet_NaN() { return tw_nan<T>(); } \
  };
TW_LIMITS(float, FLT_MIN, FLT_MAX, -FLT_MAX, FLT_EPSILON, false)
TW_LIMITS(double, DBL_MIN, DBL_MAX, -DBL_MAX, DBL_EPSILON, false)
TW_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX, SCHAR_MIN, 0, true)
TW_LIMITS(unsigned char, 0, UCHAR_MAX, 0, 0, true)
TW_LIMITS(short, SHRT_MIN, SHRT_MAX, SHRT_MIN, 0, true)
TW_LIMITS(unsigned short, 0, USHRT_MAX, 0, 0, true)
TW_LIMITS(int, INT_MIN, INT_MAX, INT_MIN, 0, true)
TW_LIMITS(unsigned, 0, UINT_MAX, 0, 0, true)
TW_LIMITS(long, LONG_MIN, LONG_MAX, LONG_MIN, 0, true)
TW_LIMITS(unsigned long, 0, ULONG_MAX, 0, 0, true)
TW_LIMITS(long long, LLONG_MIN, LLONG_MAX, LLONG_MIN, 0, true)
TW_LIMITS(unsigned long long, 0, ULLONG_MAX, 0, 0, true)
#undef TW_LIMITS

using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;

#define TW_MATH_1(name)                                                             \
  __device__ inline float name(float x) { return ::name##f(x); }                    \
  __device__ inline double name(double x) { return ::name(x); }
#define TW_MATH_2(name)                                                             \
  __device__ inline float name(float x, float y) { return ::name##f(x, y); }        \
  __device__ inline double name(double x, double y) { return ::name(x, y); }
TW_MATH_1(exp) TW_MATH_1(exp2) TW_MATH_1(expm1) TW_MATH_1(log) TW_MATH_1(log2) TW_MATH_1(log10) TW_MATH_1(log1p)
TW_MATH_1(sqrt) TW_MATH_1(cbrt) TW_MATH_1(sin) TW_MATH_1(cos) TW_MATH_1(tan) TW_MATH_1(asin) TW_MATH_1(acos)
TW_MATH_1(atan) TW_MATH_1(sinh) TW_MATH_1(cosh) TW_MATH_1(tanh) TW_MATH_1(erf) TW_MATH_1(erfc) TW_MATH_1(floor)
TW_MATH_1(ceil) TW_MATH_1(round) TW_MATH_1(trunc) TW_MATH_1(rint) TW_MATH_1(lgamma) TW_MATH_1(tgamma)
TW_MATH_2(pow) TW_MATH_2(fmod) TW_MATH_2(fmax) TW_MATH_2(fmin) TW_MATH_2(atan2) TW_MATH_2(hypot) TW_MATH_2(copysign)
#undef TW_MATH_1
#undef TW_MATH_2
__device__ inline float abs(float x) { return ::fabsf(x); }
__device__ inline double abs(double x) { return ::fabs(x); }
__device__ inline int abs(int x) { return ::abs(x); }
__device__ inline float fabs(float x) { return ::fabsf(x); }
__device__ inline double fabs(double x) { return ::fabs(x); }
__device__ inline float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
__device__ inline double fma(double x, double y, double z) { return ::fma(x, y, z); }
__device__ inline bool isnan(float x) { return x != x; }
__device__ inline bool isnan(double x) { return x != x; }
__device__ inline bool isinf(float x) { return ::fabsf(x) == tw_infinity<float>(); }
__device__ inline bool isinf(double x) { return ::fabs(x) == tw_infinity<double>(); }
__device__ inline bool isfinite(float x) { return ::fabsf(x) < tw_infinity<float>(); }
__device__ inline bool isfinite(double x) { return ::fabs(x) < tw_infinity<double>(); }

}  // namespace std
