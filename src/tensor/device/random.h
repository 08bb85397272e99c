// SPDX-License-Identifier: Apache-2.0
// tensor/device/random.h — Philox-4x32-10 and the uniform and normal numbers made from it, for the
// host and for CUDA.
//
// Counter-based: block c of a seed is a pure function of (seed, c), so any device and any split of
// the work gives the same numbers. The logarithm, sine and cosine of the normal numbers are our
// own, in float64 without fused operations (NVRTC gets --fmad=false), so that they agree bit for
// bit too.
//
// What the numbers can be:
// - Uniform: float32 multiples of 2^-24, float64 multiples of 2^-53, in [0, 1). Smaller floats are
//   the float32 value rounded to nearest, except that what would round to 1 becomes the largest
//   value below 1.
// - Normal: Box-Muller on two 32-bit (float64: 53-bit) words. No value lies beyond 6.67 (float64:
//   8.58) standard deviations; a true normal number would in 1 of 4e10 (float64: 1e17) cases.
#pragma once

#include "tensor/device/element.h"

namespace tilewright::element {

struct Words {
  unsigned int v[4];
};

inline Words philox_round(const Words& c, unsigned int key0, unsigned int key1) {
  const unsigned long long a = 0xd2511f53ull * c.v[0];
  const unsigned long long b = 0xcd9e8d57ull * c.v[2];
  return {{static_cast<unsigned int>(b >> 32) ^ c.v[1] ^ key0, static_cast<unsigned int>(b),
           static_cast<unsigned int>(a >> 32) ^ c.v[3] ^ key1, static_cast<unsigned int>(a)}};
}

inline Words philox(Words counter, unsigned int key0, unsigned int key1) {
  for (int round = 0; round < 10; ++round) {
    counter = philox_round(counter, key0, key1);
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

inline Words random_words(unsigned long long seed, unsigned long long block) {
  const Words counter{
      {static_cast<unsigned int>(block), static_cast<unsigned int>(block >> 32), 0, 0}};
  return philox(counter, static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32));
}

// ---- Mathematics on the few arguments that occur here.

inline double square_root(double x) {
#ifdef __CUDACC__
  return sqrt(x);
#else
  return __builtin_sqrt(x);
#endif
}

// 1/K + y/(K+2) + y^2/(K+4) + ... to the term with 23.
template <int K>
double atanh_series(double y) {
  constexpr double first = 1.0 / K;
  if constexpr (K == 23) return first;
  else return first + y * atanh_series<K + 2>(y);
}

// The natural logarithm of x in [2^-53, 1]: x = m * 2^e with m near 1, ln m = 2 atanh((m - 1) / (m
// + 1)) by its series.
inline double natural_log(double x) {
  unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffull) | 1023ull << 52;
  double m = __builtin_bit_cast(double, bits);
  if (m > 1.4142135623730951) {
    m = m * 0.5;
    exponent += 1;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  return exponent * 0.6931471805599453 + 2.0 * (s + s * s2 * atanh_series<3>(s2));
}

// 1 - y/(K(K+1)) (1 - y/((K+2)(K+3)) (1 - ...)): the cosine's series from K = 1, the sine's over x
// from K = 2.
template <int K>
double turn_series(double y) {
  if constexpr (K > 19) {
    return 1.0;
  } else {
    constexpr double factor = 1.0 / (K * (K + 1));
    return 1.0 - y * factor * turn_series<K + 2>(y);
  }
}

// Sine and cosine of 2 pi v for v in [0, 1): the nearest quarter turn is taken out exactly, the
// rest is a series.
inline void sine_and_cosine_of_turn(double v, double& sine, double& cosine) {
  const int quarter = static_cast<int>(v * 4.0 + 0.5);
  const double x = (v - quarter * 0.25) * 6.283185307179586;
  const double s = x * turn_series<2>(x * x);
  const double c = turn_series<1>(x * x);
  const bool is_odd = (quarter & 1) != 0;
  const double turned_sine = is_odd ? c : s;
  const double turned_cosine = is_odd ? -s : c;
  sine = (quarter & 2) != 0 ? -turned_sine : turned_sine;
  cosine = (quarter & 2) != 0 ? -turned_cosine : turned_cosine;
}

// Two independent normal numbers from u in (0, 1] and v in [0, 1).
inline void normal_pair(double u, double v, double& first, double& second) {
  const double radius = square_root(-2.0 * natural_log(u));
  double sine, cosine;
  sine_and_cosine_of_turn(v, sine, cosine);
  first = radius * cosine;
  second = radius * sine;
}

// ---- A block of elements: what one counter gives.

template <class T>
inline constexpr int block_elements = 4;
template <>
inline constexpr int block_elements<double> = 2;

template <class T>
struct Block {
  T v[block_elements<T>];
};

inline unsigned long long word53(const Words& w, int i) {
  return (static_cast<unsigned long long>(w.v[i + 1]) << 32 | w.v[i]) >> 11;
}

// float32 to T without reaching 1.
template <class T>
T round_below_one(float value) {
  if constexpr (is_native_float<T>) {
    return value;
  } else {
    T out = narrow<T>(value);
    if (out.bits > below_one<T>) out.bits = below_one<T>;
    return out;
  }
}

constexpr double two_to_minus_32 = 1.0 / 4294967296.0;
constexpr double two_to_minus_53 = 1.0 / 9007199254740992.0;

template <class T>
Block<T> uniform_block(unsigned long long seed, unsigned long long block) {
  const Words w = random_words(seed, block);
  Block<T> out;
  if constexpr (block_elements<T> == 2) {
    for (int i = 0; i < 2; ++i) out.v[i] = static_cast<double>(word53(w, 2 * i)) * two_to_minus_53;
  } else {
    for (int i = 0; i < 4; ++i)
      out.v[i] = round_below_one<T>(static_cast<float>(w.v[i] >> 8) * (1.0f / 16777216.0f));
  }
  return out;
}

template <class T>
Block<T> normal_block(unsigned long long seed, unsigned long long block) {
  const Words w = random_words(seed, block);
  Block<T> out;
  double first, second;
  if constexpr (block_elements<T> == 2) {
    normal_pair(static_cast<double>(word53(w, 0) + 1) * two_to_minus_53,
                static_cast<double>(word53(w, 2)) * two_to_minus_53, first, second);
    out.v[0] = first;
    out.v[1] = second;
  } else {
    for (int i = 0; i < 4; i += 2) {
      normal_pair((w.v[i] + 1.0) * two_to_minus_32, w.v[i + 1] * two_to_minus_32, first, second);
      out.v[i] = convert<T>(static_cast<float>(first));
      out.v[i + 1] = convert<T>(static_cast<float>(second));
    }
  }
  return out;
}

}  // namespace tilewright::element
