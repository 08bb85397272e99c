// SPDX-License-Identifier: Apache-2.0
// machine/sorted_places.h — where an array in shared memory has its elements while threads sort it:
// as in device_lib/cuda/sort.cuh, which says why.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilewright {

// log2 of the elements that a thread has.
constexpr int log_sorted(int log_count, int log_threads) {
  return std::max(log_count - log_threads, std::min(log_count, 2));
}

inline constexpr std::int64_t sort_banks = 32;  // of shared memory

// Whether elements stand elsewhere than in their order: not where a thread has too many to hold.
constexpr bool moves_sorted(int log_count, int log_threads) {
  constexpr int most_in_registers = 6;
  return log_sorted(log_count, log_threads) <= most_in_registers;
}

constexpr std::int64_t sort_place(std::int64_t index, int log_count, int log_threads) {
  if (!moves_sorted(log_count, log_threads)) return index;
  return index ^ (index >> log_sorted(log_count, log_threads) & (sort_banks - 1));
}

}  // namespace tilewright
