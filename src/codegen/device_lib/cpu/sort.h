// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/sort.h — stages of a bitonic sorting network.
#pragma once

namespace tw {

enum class SortOrder { alternating, ascending, descending };

// Neighbouring runs of `distance` elements: each of the first with its partner in the second.
template <bool falls, class T>
inline void exchange(T* low, i32 distance) {
  T* high = low + distance;
#pragma omp simd
  for (i32 k = 0; k < distance; ++k) {
    const T a = low[k], b = high[k];
    const bool swaps = falls ? a < b : a > b;
    low[k] = swaps ? b : a;
    high[k] = swaps ? a : b;
  }
}

// Stage s merges runs of 2^s elements, rising ones where bit s of the index is 0, falling ones where
// it is 1; the last stage in the order given.
template <i32 first, i32 last, SortOrder last_order, class T>
void merge_runs(T* x, i32 count) {
  for (i32 stage = first; stage <= last; ++stage) {
    const bool alternates = stage < last || last_order == SortOrder::alternating;
    for (i32 distance = 1 << (stage - 1); distance > 0; distance /= 2)
      for (i32 low = 0; low < count; low += 2 * distance) {
        const bool falls = alternates ? (low >> stage & 1) != 0 : last_order == SortOrder::descending;
        if (falls) exchange<true>(x + low, distance);
        else exchange<false>(x + low, distance);
      }
  }
}

}  // namespace tw
