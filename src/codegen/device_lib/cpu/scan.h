// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/scan.h — running sums along neighbours: a vector at a time, each added to itself
// shifted by one, two and four lanes.
#pragma once

namespace tw {

template <class T>
struct ScanVector {
  static constexpr i32 lanes = 32 / sizeof(T);
  typedef T type __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
};

// Lanes move up (or down) by `by`; what comes in changes no sum: zeros, of floats negative ones.
template <i32 by, bool is_reverse, class V>
inline V shifted(V v) {
  const V zero = -V{};
  constexpr i32 lanes = sizeof(V) / sizeof(v[0]);
  if constexpr (lanes == 4 && !is_reverse)
    return by == 1 ? __builtin_shufflevector(zero, v, 0, 4, 5, 6)
                   : __builtin_shufflevector(zero, v, 0, 1, 4, 5);
  else if constexpr (lanes == 4)
    return by == 1 ? __builtin_shufflevector(v, zero, 1, 2, 3, 4)
                   : __builtin_shufflevector(v, zero, 2, 3, 4, 5);
  else if constexpr (!is_reverse)
    return by == 1   ? __builtin_shufflevector(zero, v, 0, 8, 9, 10, 11, 12, 13, 14)
           : by == 2 ? __builtin_shufflevector(zero, v, 0, 1, 8, 9, 10, 11, 12, 13)
                     : __builtin_shufflevector(zero, v, 0, 1, 2, 3, 8, 9, 10, 11);
  else
    return by == 1   ? __builtin_shufflevector(v, zero, 1, 2, 3, 4, 5, 6, 7, 8)
           : by == 2 ? __builtin_shufflevector(v, zero, 2, 3, 4, 5, 6, 7, 8, 9)
                     : __builtin_shufflevector(v, zero, 4, 5, 6, 7, 8, 9, 10, 11);
}

// x[i] becomes the sum of x[0] to x[i], or of x[i] to the last one. `count` is a power of two.
template <bool is_reverse, class T>
inline void running_sum(T* x, i32 count) {
  constexpr i32 lanes = ScanVector<T>::lanes;
  if (count < lanes) {
    for (i32 k = 1; k < count; ++k) {
      const i32 at = is_reverse ? count - 1 - k : k;
      x[at] = x[is_reverse ? at + 1 : at - 1] + x[at];
    }
    return;
  }
  typedef typename ScanVector<T>::type V;
  T before = -T(0);
  for (i32 k = 0; k < count; k += lanes) {
    T* const at = x + (is_reverse ? count - lanes - k : k);
    V v = *(const V*)at;
    v += shifted<1, is_reverse>(v);
    v += shifted<2, is_reverse>(v);
    if constexpr (lanes == 8) v += shifted<4, is_reverse>(v);
    v += before;
    *(V*)at = v;
    before = v[is_reverse ? 0 : lanes - 1];
  }
}

}  // namespace tw
