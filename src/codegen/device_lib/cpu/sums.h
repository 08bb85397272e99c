// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/sums.h — sums of floats along a row.
#pragma once

namespace tw {

// The sum of term(first) to term(last - 1). Four sums at a time, since an addition waits for the
// one before it; and block by block, as exact as on a GPU, where each thread sums a few.
template <class T, class Term>
inline T sum(i32 first, i32 last, const Term& term) {
  constexpr i32 block = 4096, lanes = 16;
  T total = 0;
  for (; first < last; first += block) {
    const i32 end = last - first > block ? first + block : last;
    const i32 n = (end - first) / (4 * lanes) * lanes;
    T a = 0, b = 0, c = 0, d = 0;
#pragma omp simd reduction(+ : a, b, c, d)
    for (i32 i = first; i < first + n; ++i) {
      a += term(i);
      b += term(i + n);
      c += term(i + 2 * n);
      d += term(i + 3 * n);
    }
#pragma omp simd reduction(+ : a)
    for (i32 i = first + 4 * n; i < end; ++i) a += term(i);
    total += (a + b) + (c + d);
  }
  return total;
}

}  // namespace tw
