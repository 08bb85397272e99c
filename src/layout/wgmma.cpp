// SPDX-License-Identifier: Apache-2.0
// layout/wgmma.cpp — columns of an index map against what a descriptor can say.
#include "layout/wgmma.h"

#include <algorithm>
#include <bit>

namespace tilewright {
namespace {

constexpr int log_unit_bytes = 4;
constexpr int log_line_bytes = 7;  // the longest
constexpr int log_depth_bytes = 5;  // of an instruction
constexpr int log_lines = 3;       // of a period

std::uint64_t place_bit(int number) { return std::uint64_t{1} << number; }

// One of the two directions of an operand: the place of each of its index bits.
struct Direction {
  const IndexMap& map;
  int low;
  int bits;
  std::uint64_t place(int number) const { return map.matrix.column(low + number); }
};

// How many of the lowest bits are neighbours in the array, up to a whole line.
int line_bits(const Direction& along, int log_bytes) {
  int out = 0;
  while (out < along.bits && out < log_line_bytes - log_bytes && along.place(out) == place_bit(out)) ++out;
  return out;
}

// Whether the lowest three bits of `across` choose among eight lines, swizzled.
bool has_swizzled_lines(const Direction& across, int line, int log_chunk) {
  if (across.bits < log_lines) return false;
  const int chunk_bits = line - log_chunk;
  const int skip = log_lines - chunk_bits;
  for (int j = 0; j < log_lines; ++j) {
    const std::uint64_t moved = j >= skip ? place_bit(log_chunk + j - skip) : 0;
    if (across.place(j) != (place_bit(line + j) | moved)) return false;
  }
  return true;
}

// Whether bits [from, to) go by powers of two from the place of the first one on.
bool has_even_steps(const Direction& direction, int from, int to) {
  for (int j = from; j < to; ++j)
    if (!std::has_single_bit(direction.place(j)) ||
        direction.place(j) != direction.place(from) << (j - from))
      return false;
  return true;
}

// Whether bits [from, to) move whole periods, so that they may be added to where it begins.
bool moves_periods(const Direction& direction, int from, int to, int log_period) {
  for (int j = from; j < to; ++j)
    if (!std::has_single_bit(direction.place(j)) || direction.place(j) < place_bit(log_period))
      return false;
  return true;
}

}  // namespace

std::optional<WgmmaOperand> describe_wgmma_operand(const IndexMap& map, const OperandIndex& index,
                                                   int element_bytes) {
  const int log_bytes = std::countr_zero(static_cast<unsigned>(element_bytes));
  const int log_chunk = log_unit_bytes - log_bytes;
  const int step = log_depth_bytes - log_bytes;  // index bits of the depth of an instruction
  const Direction depth{map, index.depth_low, index.depth};
  const Direction across{map, index.across_low, index.across};
  if (map.offset != 0 || index.depth < step || index.across < index.instruction) return std::nullopt;

  WgmmaOperand out;
  const int along = line_bits(depth, log_bytes);
  if (along >= step && has_swizzled_lines(across, along, log_chunk)) {
    const bool fits = has_even_steps(across, log_lines, index.instruction) &&
                      moves_periods(across, log_lines, index.across, along + log_lines) &&
                      moves_periods(depth, along, index.depth, along + log_lines);
    if (!fits) return std::nullopt;
    out.line_bytes = element_bytes << along;
    const bool has_more = index.instruction > log_lines;
    out.stride_bytes =
        has_more ? static_cast<std::int64_t>(across.place(log_lines)) * element_bytes : 0;
    return out;
  }
  const int wide = line_bits(across, log_bytes);
  const bool is_transposed = element_bytes == 2 && (element_bytes << wide) >= 32 &&
                             has_swizzled_lines(depth, wide, log_chunk);
  if (!is_transposed) return std::nullopt;
  const bool fits = moves_periods(depth, log_lines, index.depth, wide + log_lines) &&
                    has_even_steps(across, wide, index.instruction) &&
                    moves_periods(across, wide, index.across, wide + log_lines);
  if (!fits || index.depth <= log_lines) return std::nullopt;
  out.is_transposed = true;
  out.line_bytes = element_bytes << wide;
  out.stride_bytes = static_cast<std::int64_t>(depth.place(log_lines)) * element_bytes;
  if (index.instruction > wide)
    out.leading_bytes = static_cast<std::int64_t>(across.place(wide)) * element_bytes;
  return out;
}

}  // namespace tilewright
