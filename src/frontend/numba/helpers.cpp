// SPDX-License-Identifier: Apache-2.0
// frontend/numba/helpers.cpp — small functions that texts bring along when they call them.
#include <fmt/format.h>

#include "frontend/numba/program.h"

namespace tilewright::numba {
namespace {

// TW_FUNCTION is `static __device__ inline`, or that of the host.
constexpr Helper helper_table[] = {
    {"tw_wrap", R"(// A negative index counts from the end.
TW_FUNCTION long long tw_wrap(long long i, long long size) { return i < 0 ? i + size : i; }
)",
     ""},
    {"tw_wrap_int", R"(// A negative index counts from the end.
TW_FUNCTION int tw_wrap_int(int i, int size) { return i < 0 ? i + size : i; }
)",
     ""},
    {"tw_slice_bound", R"(TW_FUNCTION long long tw_slice_bound(long long i, long long size) {
  if (i < 0) i += size;
  return i < 0 ? 0 : i < size ? i : size;
}
)",
     ""},
    {"tw_slice_count",
     R"(TW_FUNCTION long long tw_slice_count(long long begin, long long end, long long step) {
  return begin < end ? (end - begin + step - 1) / step : 0;
}
)",
     ""},
    {"tw_floor_divide", R"(// Rounds down; a division by 0 gives 0.
TW_FUNCTION long long tw_floor_divide(long long a, long long b) {
  if (b == 0) return 0;
  if (b == -1) return -a;
  const long long quotient = a / b;
  return quotient - ((a % b != 0) & ((a < 0) != (b < 0)));
}
TW_FUNCTION unsigned long long tw_floor_divide(unsigned long long a, unsigned long long b) {
  return b == 0 ? 0 : a / b;
}
)",
     ""},
    {"tw_modulo", R"(// Has the sign of b; by 0 it gives 0.
TW_FUNCTION long long tw_modulo(long long a, long long b) {
  if (b == 0 || b == -1) return 0;
  const long long rest = a % b;
  return rest + (((rest != 0) & ((rest < 0) != (b < 0))) ? b : 0);
}
TW_FUNCTION unsigned long long tw_modulo(unsigned long long a, unsigned long long b) {
  return b == 0 ? 0 : a % b;
}
)",
     ""},
    {"tw_modulo_real", R"(TW_FUNCTION float tw_modulo_real(float a, float b) {
  const float rest = TW_MATH(fmodf)(a, b);
  return rest != 0 ? ((rest < 0) != (b < 0) ? rest + b : rest) : TW_MATH(copysignf)(0.0f, b);
}
TW_FUNCTION double tw_modulo_real(double a, double b) {
  const double rest = TW_MATH(fmod)(a, b);
  return rest != 0 ? ((rest < 0) != (b < 0) ? rest + b : rest) : TW_MATH(copysign)(0.0, b);
}
)",
     ""},
    {"tw_floor_divide_real", R"(TW_FUNCTION float tw_floor_divide_real(float a, float b) {
  if (b == 0) return a / b;
  const float quotient = (a - tw_modulo_real(a, b)) / b;
  const float down = TW_MATH(floorf)(quotient);
  return quotient == 0 ? TW_MATH(copysignf)(0.0f, a / b) : quotient - down > 0.5f ? down + 1 : down;
}
TW_FUNCTION double tw_floor_divide_real(double a, double b) {
  if (b == 0) return a / b;
  const double quotient = (a - tw_modulo_real(a, b)) / b;
  const double down = TW_MATH(floor)(quotient);
  return quotient == 0 ? TW_MATH(copysign)(0.0, a / b) : quotient - down > 0.5 ? down + 1 : down;
}
)",
     "tw_modulo_real"},
    {"tw_integer_power", R"(template <class T>
TW_FUNCTION T tw_integer_power(T base, long long exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == T(-1) ? (exponent % 2 ? base : 1) : 0;
  T result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}
)",
     ""},
    {"tw_real_power", R"(template <class T>
TW_FUNCTION T tw_real_power(T base, long long exponent) {
  const bool is_negative = exponent < 0;
  unsigned long long left = is_negative ? 0 - (unsigned long long)exponent : exponent;
  T result = 1;
  for (; left > 0; left >>= 1, base *= base)
    if (left & 1) result *= base;
  return is_negative ? 1 / result : result;
}
)",
     ""},
    {"tw_min", R"(template <class T>
TW_FUNCTION T tw_min(T a, T b) { return b < a ? b : a; }
)",
     ""},
    {"tw_max", R"(template <class T>
TW_FUNCTION T tw_max(T a, T b) { return a < b ? b : a; }
)",
     ""},
    {"tw_abs", R"(TW_FUNCTION long long tw_abs(long long a) { return a < 0 ? -a : a; }
TW_FUNCTION unsigned long long tw_abs(unsigned long long a) { return a; }
)",
     ""},
    {"tw_isnan", R"(template <class T>
TW_FUNCTION bool tw_isnan(T x) { return x != x; }
)",
     ""},
    {"tw_isinf", R"(TW_FUNCTION bool tw_isinf(float x) { return x - x != x - x && x == x; }
TW_FUNCTION bool tw_isinf(double x) { return x - x != x - x && x == x; }
)",
     ""},
    {"tw_isfinite", R"(template <class T>
TW_FUNCTION bool tw_isfinite(T x) { return x - x == 0; }
)",
     ""},
    {"tw_modf", R"(TW_FUNCTION float tw_modf(float x) {
  const float whole = TW_MATH(truncf)(x);
  return TW_MATH(copysignf)(x == whole ? 0.0f : x - whole, x);
}
TW_FUNCTION double tw_modf(double x) {
  const double whole = TW_MATH(trunc)(x);
  return TW_MATH(copysign)(x == whole ? 0.0 : x - whole, x);
}
)",
     ""},
    {"tw_frexp", R"(TW_FUNCTION float tw_frexp(float x) { int e; return TW_MATH(frexpf)(x, &e); }
TW_FUNCTION double tw_frexp(double x) { int e; return TW_MATH(frexp)(x, &e); }
)",
     ""},
    {"tw_frexp_exponent",
     R"(TW_FUNCTION int tw_frexp_exponent(float x) { int e; TW_MATH(frexpf)(x, &e); return e; }
TW_FUNCTION int tw_frexp_exponent(double x) { int e; TW_MATH(frexp)(x, &e); return e; }
)",
     ""},
    {"tw_round_to", R"(// To so many digits behind the point, ties to even.
TW_FUNCTION double tw_round_to(double x, long long digits) {
  double scale = 1;
  for (long long i = digits < 0 ? -digits : digits; i > 0 && scale < 1e300; --i) scale *= 10;
  const double scaled = digits < 0 ? x / scale : x * scale;
  if (!(scaled - scaled == 0)) return x;
  const double whole = TW_MATH(rint)(scaled);
  return digits < 0 ? whole * scale : whole / scale;
}
)",
     ""},
    {"tw_random_next", R"(// xoroshiro128+: the next number of a state.
TW_FUNCTION unsigned long long tw_random_next(unsigned long long* state) {
  const unsigned long long a = state[0], b = state[1] ^ a, sum = a + state[1];
  state[0] = ((a << 55) | (a >> 9)) ^ b ^ (b << 14);
  state[1] = (b << 36) | (b >> 28);
  return sum;
}
)",
     ""},
    {"tw_random_uniform", R"(// From 0 to 1, which is none of them.
TW_FUNCTION double tw_random_uniform(unsigned long long* state) {
  return (double)(tw_random_next(state) >> 11) * 1.1102230246251565e-16;
}
)",
     "tw_random_next"},
    {"tw_random_normal", R"(// Box and Muller's, of uniform float32 numbers whatever the result is.
TW_FUNCTION double tw_random_normal(unsigned long long* state) {
  const double u = (float)tw_random_uniform(state), v = (float)tw_random_uniform(state);
  return TW_MATH(sqrt)(-2.0 * TW_MATH(log)(u)) * TW_MATH(cos)(6.283185307179586 * v);
}
)",
     "tw_random_uniform"},
    {"tw_quotient_real", R"(// (a + bj) / (c + dj), scaled by the larger part of the divisor.
template <class T>
TW_FUNCTION T tw_quotient_real(T a, T b, T c, T d) {
  if ((c < 0 ? -c : c) >= (d < 0 ? -d : d)) {
    const T ratio = d / c;
    return (a + b * ratio) / (c + d * ratio);
  }
  const T ratio = c / d;
  return (a * ratio + b) / (c * ratio + d);
}
)",
     ""},
    {"tw_quotient_imaginary", R"(template <class T>
TW_FUNCTION T tw_quotient_imaginary(T a, T b, T c, T d) {
  if ((c < 0 ? -c : c) >= (d < 0 ? -d : d)) {
    const T ratio = d / c;
    return (b - a * ratio) / (c + d * ratio);
  }
  const T ratio = c / d;
  return (b * ratio - a) / (c * ratio + d);
}
)",
     ""},
    {"tw_laneid", R"(TW_FUNCTION int tw_laneid() {
  return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
}
)",
     ""},
    {"tw_eq_sync", R"(// Is the condition the same for all threads of the mask?
TW_FUNCTION bool tw_eq_sync(unsigned mask, bool test) {
  const unsigned votes = __ballot_sync(mask, test);
  return votes == 0 || votes == mask;
}
)",
     ""},
    {"tw_atomic_exch", R"(TW_FUNCTION double tw_atomic_exch(double* at, double value) {
  return __longlong_as_double((long long)atomicExch((unsigned long long*)at,
                                                    (unsigned long long)__double_as_longlong(value)));
}
)",
     ""},
    {"tw_atomic_change", R"(// What `change` makes of the element, in one piece; the value before.
template <class Change>
TW_FUNCTION float tw_atomic_change(float* at, Change change) {
  int* const bits = (int*)at;
  int seen = __float_as_int(*(volatile float*)at), before;
  do {
    before = seen;
    seen = atomicCAS(bits, before, __float_as_int(change(__int_as_float(before))));
  } while (seen != before);
  return __int_as_float(before);
}
template <class Change>
TW_FUNCTION double tw_atomic_change(double* at, Change change) {
  unsigned long long* const bits = (unsigned long long*)at;
  unsigned long long seen = (unsigned long long)__double_as_longlong(*(volatile double*)at), before;
  do {
    before = seen;
    seen = atomicCAS(bits, before, (unsigned long long)__double_as_longlong(
                                       change(__longlong_as_double((long long)before))));
  } while (seen != before);
  return __longlong_as_double((long long)before);
}
)",
     ""},
    {"tw_atomic_max", R"(template <class T>
struct tw_larger {
  T value;
  __device__ T operator()(T old) const { return old < value ? value : old; }
};
template <class T>
TW_FUNCTION T tw_atomic_max(T* at, T value) { return tw_atomic_change(at, tw_larger<T>{value}); }
)",
     "tw_atomic_change"},
    {"tw_atomic_min", R"(template <class T>
struct tw_smaller {
  T value;
  __device__ T operator()(T old) const { return value < old ? value : old; }
};
template <class T>
TW_FUNCTION T tw_atomic_min(T* at, T value) { return tw_atomic_change(at, tw_smaller<T>{value}); }
)",
     "tw_atomic_change"},
    {"tw_atomic_nanmax", R"(template <class T>
struct tw_larger_number {
  T value;
  __device__ T operator()(T old) const { return old != old || old < value ? value : old; }
};
template <class T>
TW_FUNCTION T tw_atomic_nanmax(T* at, T value) {
  return tw_atomic_change(at, tw_larger_number<T>{value});
}
)",
     "tw_atomic_change"},
    {"tw_atomic_nanmin", R"(template <class T>
struct tw_smaller_number {
  T value;
  __device__ T operator()(T old) const { return old != old || value < old ? value : old; }
};
template <class T>
TW_FUNCTION T tw_atomic_nanmin(T* at, T value) {
  return tw_atomic_change(at, tw_smaller_number<T>{value});
}
)",
     "tw_atomic_change"},
    {"tw_atomic_inc", R"(TW_FUNCTION unsigned long long tw_atomic_inc(unsigned long long* at,
                                           unsigned long long last) {
  unsigned long long seen = *(volatile unsigned long long*)at, before;
  do {
    before = seen;
    seen = atomicCAS(at, before, before >= last ? 0 : before + 1);
  } while (seen != before);
  return before;
}
)",
     ""},
    {"tw_atomic_dec", R"(TW_FUNCTION unsigned long long tw_atomic_dec(unsigned long long* at,
                                           unsigned long long last) {
  unsigned long long seen = *(volatile unsigned long long*)at, before;
  do {
    before = seen;
    seen = atomicCAS(at, before, before == 0 || before > last ? last : before - 1);
  } while (seen != before);
  return before;
}
)",
     ""},
};

// tw_tuple_int64_float32 => its struct
std::string tuple_struct(const std::string& name) {
  std::string members;
  std::size_t at = std::string("tw_tuple_").size();
  for (int item = 0; at < name.size(); ++item) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    members += fmt::format(
        "  {} item{};\n", cpp_type(parse_dtype(std::string_view(name).substr(at, end - at))), item);
    at = end + 1;
  }
  return fmt::format("struct {} {{\n{}}};\n", name, members);
}

}  // namespace

std::string helper_texts(const std::set<std::string>& names) {
  std::set<std::string, std::less<>> wanted(names.begin(), names.end());
  // A helper that is needed stands before the ones that need it.
  for (std::size_t i = std::size(helper_table); i-- > 0;)
    if (wanted.contains(helper_table[i].name) && !helper_table[i].needs.empty())
      wanted.emplace(helper_table[i].needs);
  std::string out;
  for (const Helper& helper : helper_table)
    if (wanted.contains(helper.name)) out += helper.text;
  for (const std::string& name : names)
    if (name.starts_with("tw_tuple_")) out += tuple_struct(name);
  return out;
}

}  // namespace tilewright::numba
