// SPDX-License-Identifier: Apache-2.0
// graph/mix.h — a hash of a row of numbers, for tables that compare what they find.
#pragma once

#include <cstdint>
#include <span>

namespace tilewright::graph {

struct Mix {
  std::uint64_t value = 0;

  void add(std::uint64_t number) {
    value = (value ^ number) * 0x9e3779b97f4a7c15u;
    value ^= value >> 29;
  }
  void add(std::span<const std::int64_t> numbers) {
    add(numbers.size());
    for (const std::int64_t number : numbers) add(static_cast<std::uint64_t>(number));
  }
};

}  // namespace tilewright::graph
