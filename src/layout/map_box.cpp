// SPDX-License-Identifier: Apache-2.0
// layout/map_box.cpp — the place of each index bit in a box against that in the array: both are
// linear.
#include "layout/map_box.h"

#include <algorithm>
#include <bit>

namespace tilewright {
namespace {

constexpr int most_lines = 256;

// Where a copy puts byte `x` of line `y`, from the begin of a panel on.
std::uint64_t place_in_panel(std::uint64_t x, std::uint64_t y, int line_bytes) {
  const std::uint64_t plain = y * static_cast<std::uint64_t>(line_bytes) + x;
  return plain ^ (plain >> 7 & static_cast<std::uint64_t>(line_bytes / 16 - 1)) << 4;
}

}  // namespace

std::optional<MapBox> find_map_box(LogSizes sizes, const Swizzle& swizzle, int element_bytes) {
  if (sizes.size() != 2 || element_bytes > 16) return std::nullopt;
  const int fast = swizzle.contiguous, slow = 1 - fast;
  const int log_bytes = std::countr_zero(static_cast<unsigned>(element_bytes));
  const int log_line = std::min<int>(sizes[static_cast<std::size_t>(fast)], 7 - log_bytes);
  const int line_bytes = element_bytes << log_line;
  if (line_bytes < least_line_bytes) return std::nullopt;
  const int log_lines = sizes[static_cast<std::size_t>(slow)];
  const auto is_at = [&](int dimension, int bit, std::uint64_t bytes) {
    const int column = first_bit(sizes, dimension) + bit;
    return swizzle.matrix.column(column) << log_bytes == bytes;
  };
  for (int j = 0; j < sizes[static_cast<std::size_t>(fast)]; ++j) {
    const bool is_in_line = j < log_line;
    const std::uint64_t place =
        is_in_line ? place_in_panel(std::uint64_t{1} << (j + log_bytes), 0, line_bytes)
                   : std::uint64_t{1} << (j + log_bytes + log_lines);
    if (!is_at(fast, j, place)) return std::nullopt;
  }
  for (int j = 0; j < log_lines; ++j)
    if (!is_at(slow, j, place_in_panel(0, std::uint64_t{1} << j, line_bytes))) return std::nullopt;
  return MapBox{.line = 1 << log_line,
                .lines = std::min(1 << log_lines, most_lines),
                .swizzle_bytes = line_bytes};
}

}  // namespace tilewright
