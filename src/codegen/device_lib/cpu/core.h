// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/core.h — types and integer functions of generated CPU kernels. No headers: they
// cost more to read than a kernel costs to compile.
#pragma once

typedef double f64;
typedef float f32;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct f8e4m3 {
  u8 bits;
};
struct f8e5m2 {
  u8 bits;
};

// Functions of one element: a call that stays a call keeps its loop from becoming vector code, and
// a compiler keeps those that it meets twice. Texts that would be too long are compiled without it.
#ifndef TW_ALWAYS
#define TW_ALWAYS __attribute__((always_inline))
#endif

namespace tw {

template <class To, class From>
inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// ---- Floats that are no numbers.

template <class T>
constexpr T inf() {
  return T(__builtin_inff());
}
template <class T>
constexpr T nan() {
  return T(__builtin_nanf(""));
}

// ---- Integers: division by 0 gives all ones and leaves the dividend; no amount of shift is too
// big.

template <class T>
constexpr bool is_signed_int = T(-1) < T(0);

template <class T>
constexpr T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
inline T abs_int(T a) {
  return a < 0 ? T(-a) : a;
}
inline i8 abs(i8 a) { return abs_int(a); }
inline i16 abs(i16 a) { return abs_int(a); }
inline i32 abs(i32 a) { return abs_int(a); }
inline i64 abs(i64 a) { return abs_int(a); }

template <class T>
inline T divide(T a, T b) {
  const bool is_minus_one = is_signed_int<T> && b == T(-1);
  const T safe = b == 0 || is_minus_one ? T(1) : b;
  const T quotient = T(a / safe);
  return b == 0 ? T(-1) : is_minus_one ? T(0 - quotient) : quotient;
}
template <class T>
inline T remainder(T a, T b) {
  const bool is_minus_one = is_signed_int<T> && b == T(-1);
  const T safe = b == 0 || is_minus_one ? T(1) : b;
  return b == 0 ? a : T(a % safe);
}

template <class T>
inline T shift_left(T a, T amount) {
  const bool is_inside = u64(amount) < sizeof(T) * 8;
  return is_inside ? T(a << (amount & T(sizeof(T) * 8 - 1))) : T(0);
}
template <class T>
inline T shift_right(T a, T amount) {
  const bool is_inside = u64(amount) < sizeof(T) * 8;
  if (is_signed_int<T>) return T(a >> (is_inside ? amount : T(sizeof(T) * 8 - 1)));
  return is_inside ? T(a >> amount) : T(0);
}

inline i8 mulhi(i8 a, i8 b) { return i8(i32(a) * b >> 8); }
inline u8 mulhi(u8 a, u8 b) { return u8(u32(a) * b >> 8); }
inline i16 mulhi(i16 a, i16 b) { return i16(i32(a) * b >> 16); }
inline u16 mulhi(u16 a, u16 b) { return u16(u32(a) * b >> 16); }
inline i32 mulhi(i32 a, i32 b) { return i32(i64(a) * b >> 32); }
inline u32 mulhi(u32 a, u32 b) { return u32(u64(a) * b >> 32); }
inline i64 mulhi(i64 a, i64 b) { return i64((__int128)a * b >> 64); }
inline u64 mulhi(u64 a, u64 b) { return u64((unsigned __int128)a * b >> 64); }

template <class T>
inline i32 popcount(T a) {
  return __builtin_popcountll(sizeof(T) == 8 ? u64(a) : u64(a) & ((1ull << sizeof(T) % 8 * 8) - 1));
}
template <class T>
inline i32 clz(T a) {
  const u64 bits = sizeof(T) == 8 ? u64(a) : u64(a) & ((1ull << sizeof(T) % 8 * 8) - 1);
  return bits == 0 ? i32(sizeof(T) * 8) : __builtin_clzll(bits) - i32(64 - sizeof(T) * 8);
}

// ---- Floats to integers: toward zero, beyond the range the nearest, NaN gives 0.

template <class To, class From>
inline To to_int(From x) {
  constexpr int bits = sizeof(To) * 8 - (is_signed_int<To> ? 1 : 0);
  constexpr From high = From(1ull << (bits - 1)) * 2;  // one past the largest
  constexpr From low = is_signed_int<To> ? -high : From(0);
  constexpr To largest = To((1ull << (bits - 1)) - 1 + (1ull << (bits - 1)));
  constexpr To smallest = is_signed_int<To> ? To(-largest - 1) : To(0);
  const bool is_inside = x > low && x < high;
  const To inside = To(is_inside ? x : From(0));
  return x >= high ? largest : x <= low ? smallest : inside;
}

// ---- Loops and memory

inline i32 clip(i64 x, i32 low, i32 high) { return x < low ? low : x > high ? high : i32(x); }

// Whether indices are consecutive: what they read is then read as whole vectors.
template <class T>
inline bool is_run(const T* indices, i32 count) {
  bool out = true;
#pragma omp simd reduction(&& : out)
  for (i32 i = 0; i < count; ++i) out = out && indices[i] == T(indices[0] + i);
  return out;
}

extern "C" void* aligned_alloc(unsigned long alignment, unsigned long bytes);
extern "C" void free(void*);

// The arrays of a program, when they are too many for the stack.
struct Arena {
  u8* bytes;
  explicit Arena(u64 size) : bytes((u8*)aligned_alloc(64, size)) {}
  Arena(const Arena&) = delete;
  ~Arena() { free(bytes); }
};

// ---- Loops that wait for another program give way to it.

template <class Launch>
inline void wait_a_moment(const Launch* launch, u32& rounds) {
  if (++rounds % 64 == 0) launch->services->give_way();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace tw
