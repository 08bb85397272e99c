// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/rows.h — what is done along a row: sums of floats, and functions of them.
#pragma once

namespace tw {

// The sum of term(first) to term(last - 1). Four sums at a time, since an addition waits for the
// one before it; and block by block, as exact as on a GPU, where each thread sums a few. Positions
// have 64 bits: `i + n` in 32 bits may wrap, and g++ 13 then reads the elements one by one.
template <class T, class Term>
inline T sum(i64 first, i64 last, const Term& term) {
  constexpr i64 block = 4096, lanes = 16;
  T total = 0;
  for (; first < last; first += block) {
    const i64 end = last - first > block ? first + block : last;
    const i64 n = (end - first) / (4 * lanes) * lanes;
    T a = 0, b = 0, c = 0, d = 0;
#pragma omp simd reduction(+ : a, b, c, d)
    for (i64 i = first; i < first + n; ++i) {
      a += term(i);
      b += term(i + n);
      c += term(i + 2 * n);
      d += term(i + 3 * n);
    }
#pragma omp simd reduction(+ : a)
    for (i64 i = first + 4 * n; i < end; ++i) a += term(i);
    total += (a + b) + (c + d);
  }
  return total;
}

// row[0] = round(value(first)) and so on to value(last - 1), 64 at a time: a single vector's chain
// of operations is so long that the processor does not see the next one's begin.
template <class T, class Value, class Round>
inline void map(i32 first, i32 last, T* row, const Value& value, const Round& round) {
  constexpr i32 many = 64;
  const i32 end = last - (last - first) % many;
  for (i32 i = first; i < end; i += many) {
    f32 some[many];
#pragma omp simd
    for (i32 k = 0; k < many; ++k) some[k] = value(i + k);
#pragma omp simd
    for (i32 k = 0; k < many; ++k) row[i - first + k] = round(some[k]);
  }
#pragma omp simd
  for (i32 i = end; i < last; ++i) row[i - first] = round(value(i));
}
template <class Value>
inline void map(i32 first, i32 last, f32* row, const Value& value) {
  map(first, last, row, value, [](f32 y) { return y; });
}

}  // namespace tw
