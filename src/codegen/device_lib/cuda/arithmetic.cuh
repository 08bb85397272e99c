// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/arithmetic.cuh — what the operators of C++ leave undefined or do otherwise than the
// IR says.

namespace tw {

template <class T>
inline constexpr int bits_of = int(sizeof(T)) * 8;
template <class T>
inline constexpr bool is_signed = T(-1) < T(0);

// ---- Integers. A division by 0 gives all ones, its remainder the dividend; the smallest integer
// divided by -1 wraps.

// The divisor must be above 0: indices were made for such alone.
template <class T>
TW_DEVICE T divide_by_count(T a, T b) {
  ptx::fault_unless_positive(i64(b));
  return T(a / b);
}
template <class T>
TW_DEVICE T divide(T a, T b) {
  if constexpr (sizeof(T) == 4 && is_signed<T>) {
    const T quotient = T(ptx::divide_magnitudes(int(a), int(b)));
    return b == T(0) ? T(-1) : quotient;
  } else {
    if constexpr (is_signed<T>)
      if (b == T(-1)) return T(u64(0) - u64(a));
    return b == T(0) ? T(-1) : T(a / b);
  }
}
template <class T>
TW_DEVICE T remainder(T a, T b) {
  if constexpr (sizeof(T) == 4 && is_signed<T>) {
    const T rest = T(ptx::remainder_of_magnitudes(int(a), int(b)));
    return b == T(0) ? a : rest;
  } else {
    if constexpr (is_signed<T>)
      if (b == T(-1)) return T(0);
    return b == T(0) ? a : T(a % b);
  }
}

// Sums, differences and products of data wrap; the operators leave that undefined for signed ones.
template <class T>
struct Wrapping {
  using type = u64;
};
template <>
struct Wrapping<i32> {
  using type = u32;
};
template <class T>
TW_DEVICE T wrap_add(T a, T b) {
  using U = typename Wrapping<T>::type;
  return T(U(a) + U(b));
}
template <class T>
TW_DEVICE T wrap_subtract(T a, T b) {
  using U = typename Wrapping<T>::type;
  return T(U(a) - U(b));
}
template <class T>
TW_DEVICE T wrap_multiply(T a, T b) {
  using U = typename Wrapping<T>::type;
  return T(U(a) * U(b));
}
template <class T>
TW_DEVICE T wrap_negate(T a) {
  return wrap_subtract(T(0), a);
}

// Amounts of the width or more, which negative ones are too, move every bit out.
template <class T>
TW_DEVICE T shift_left(T a, T amount) {
  return u64(amount) >= u64(bits_of<T>) ? T(0) : T(u64(a) << amount);
}
template <class T>
TW_DEVICE T shift_right(T a, T amount) {
  if constexpr (is_signed<T>) return T(a >> (u64(amount) >= u64(bits_of<T>) ? bits_of<T> - 1 : amount));
  else return u64(amount) >= u64(bits_of<T>) ? T(0) : T(a >> amount);
}

template <class T>
TW_DEVICE T mulhi(T a, T b) {
  if constexpr (sizeof(T) < 4) return T((i32(a) * i32(b)) >> bits_of<T>);
  else if constexpr (is_same<T, i32>) return __mulhi(a, b);
  else if constexpr (is_same<T, u32>) return __umulhi(a, b);
  else if constexpr (is_same<T, i64>) return __mul64hi(a, b);
  else return __umul64hi(a, b);
}

template <class T>
TW_DEVICE i32 popcount(T x) {
  if constexpr (sizeof(T) == 8) return __popcll(u64(x));
  else return __popc(u32(x) & (0xffffffffu >> (32 - bits_of<T>)));
}
template <class T>
TW_DEVICE i32 clz(T x) {
  if constexpr (sizeof(T) == 8) return __clzll(i64(x));
  else return __clz(i32(u32(x) & (0xffffffffu >> (32 - bits_of<T>)))) - (32 - bits_of<T>);
}

// ---- Smaller and larger. `_number`: a NaN loses; `_nan`: it wins.

template <class T>
TW_DEVICE T min_number(T a, T b) {
  if constexpr (is_same<T, f32>) return fminf(a, b);
  else if constexpr (is_same<T, f64>) return fmin(a, b);
  else if constexpr (IsShort<T>::value) return from_f32<T>(fminf(to_f32(a), to_f32(b)));
  else return b < a ? b : a;
}
template <class T>
TW_DEVICE T max_number(T a, T b) {
  if constexpr (is_same<T, f32>) return fmaxf(a, b);
  else if constexpr (is_same<T, f64>) return fmax(a, b);
  else if constexpr (IsShort<T>::value) return from_f32<T>(fmaxf(to_f32(a), to_f32(b)));
  else return a < b ? b : a;
}
// Of integers and bools.
template <class T>
TW_DEVICE T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
TW_DEVICE T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
TW_DEVICE T min_nan(T a, T b) {
  if constexpr (is_same<T, f32>) return ptx::min_nan(a, b);
  else return a != a ? a : b != b ? b : min_number(a, b);
}
template <class T>
TW_DEVICE T max_nan(T a, T b) {
  if constexpr (is_same<T, f32>) return ptx::max_nan(a, b);
  else return a != a ? a : b != b ? b : max_number(a, b);
}

template <class T>
TW_DEVICE T abs(T x) {
  if constexpr (is_same<T, f32>) return fabsf(x);
  else if constexpr (is_same<T, f64>) return fabs(x);
  else if constexpr (IsShort<T>::value) {
    x.bits &= (1u << (bits_of<T> - 1)) - 1;
    return x;
  } else if constexpr (is_signed<T>) return x < 0 ? T(u64(0) - u64(x)) : x;
  else return x;
}

// ---- Floats.

// Quotient within 2 ulp.
TW_DEVICE f32 divide_fast(f32 a, f32 b) { return ptx::div_full(a, b); }

template <class T>
TW_DEVICE T fmod(T a, T b) {
  if constexpr (is_same<T, f32>) return ::fmodf(a, b);
  else if constexpr (is_same<T, f64>) return ::fmod(a, b);
  else return from_f32<T>(::fmodf(to_f32(a), to_f32(b)));
}

// a * b + c of short floats with one rounding, by way of f64: the product is exact there; its sum
// with c is rounded to odd, by way of its error, before it is rounded to the type.
template <class T>
TW_DEVICE T fma_by_f64(T a, T b, T c) {
  const f64 product = f64(to_f32(a)) * f64(to_f32(b));
  const f64 addend = to_f32(c);
  const f64 sum = __dadd_rn(product, addend);
  const f64 part = __dsub_rn(sum, product);
  const f64 error = __dadd_rn(__dsub_rn(product, __dsub_rn(sum, part)), __dsub_rn(addend, part));
  if (!(error != 0) || sum - sum != 0) return cast<T>(sum);
  u64 bits = bit_cast<u64>(sum);
  if ((error < 0) != (sum < 0)) --bits;
  return cast<T>(bit_cast<f64>(bits | 1));
}

// a * b + c with one rounding.
template <class T>
TW_DEVICE T fma(T a, T b, T c) {
  if constexpr (is_same<T, f32>) return ::fmaf(a, b, c);
  else if constexpr (is_same<T, f64>) return ::fma(a, b, c);
  else if constexpr (!IsShort<T>::value) return T(u64(a) * u64(b) + u64(c));
  else if constexpr (is_same<T, f16>)
    return {ptx::fma_f16(a.bits, b.bits, c.bits, [&] { return fma_by_f64(a, b, c).bits; })};
  else if constexpr (is_same<T, bf16>)
    return {ptx::fma_bf16(a.bits, b.bits, c.bits, [&] { return fma_by_f64(a, b, c).bits; })};
  else return fma_by_f64(a, b, c);
}

}  // namespace tw
