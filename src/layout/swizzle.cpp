// SPDX-License-Identifier: Apache-2.0
// layout/swizzle.cpp — chunks against lines.
#include "layout/swizzle.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tilewright {
namespace {

constexpr int log_chunk_bytes = 4;
constexpr int log_bank_bytes = 7;  // what all banks give at once

// By which chunks bit number `line` of a line's number moves those of its line. Lines 0 to 7 move
// them by eight different numbers, and
// - of 4 bytes, lines 0 to 3 by multiples of 2: lanes that read two chunks of each meet nowhere;
// - of 1 byte, also lines 0, 1, 4, 5, 8, 9, 12, 13 and the even ones of sixteen, whose pairs of
//   bytes are read as matrices of 16-bit elements.
std::uint64_t moved_chunks(int line, int chunk_bits, int element_bytes) {
  if (element_bytes == 1 && line == 3 && chunk_bits == 3) return 3;
  if (line < 0 || line >= chunk_bits) return 0;
  return std::uint64_t{1} << (element_bytes == 4 ? (line + 1) % chunk_bits : line);
}

// Lines along a dimension; `moved(line)` is what bit number `line` of a line's number adds to
// places.
template <class Moved>
BitMatrix places_of_lines(LogSizes sizes, int contiguous, const Moved& moved) {
  const int bits = index_bits(sizes);
  const int along = sizes[static_cast<std::size_t>(contiguous)];
  const int low = first_bit(sizes, contiguous);
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(bits));
  int line = 0;
  for (int j = 0; j < bits; ++j) {
    const bool is_along = j >= low && j < low + along;
    const std::uint64_t place = std::uint64_t{1} << (is_along ? j - low : along + line);
    columns[static_cast<std::size_t>(j)] = is_along ? place : place | moved(line++);
  }
  return BitMatrix(bits, std::move(columns));
}

int log_run_of(LogSizes sizes, int contiguous, int log_bytes) {
  TW_CHECK(contiguous >= 0 && contiguous < static_cast<int>(sizes.size()),
           "lines along dimension {} of {}", contiguous, sizes.size());
  return std::min<int>(std::max(log_chunk_bytes - log_bytes, 0),
                       sizes[static_cast<std::size_t>(contiguous)]);
}

}  // namespace

Swizzle Swizzle::none(LogSizes sizes) {
  const int rank = static_cast<int>(sizes.size());
  return {BitMatrix::identity(index_bits(sizes)), std::max(rank - 1, 0),
          rank == 0 ? 0 : sizes.back()};
}

Swizzle Swizzle::lines(LogSizes sizes, int contiguous, int element_bytes) {
  const int log_bytes = std::countr_zero(static_cast<unsigned>(element_bytes));
  const int log_run = log_run_of(sizes, contiguous, log_bytes);
  const int along = sizes[static_cast<std::size_t>(contiguous)];
  // Line bits below `skip` choose among the lines that share 128 bytes already.
  const int chunk_bits = std::min(along - log_run, log_bank_bytes - log_chunk_bytes);
  const int skip = std::max(log_bank_bytes - log_bytes - along, 0);
  const auto moved = [&](int line) {
    return moved_chunks(line - skip, chunk_bits, element_bytes) << log_run;
  };
  return {places_of_lines(sizes, contiguous, moved), contiguous, log_run};
}

Swizzle Swizzle::crossed_lines(LogSizes sizes, int contiguous, int element_bytes) {
  const int log_bytes = std::countr_zero(static_cast<unsigned>(element_bytes));
  const int log_run = log_run_of(sizes, contiguous, log_bytes);
  const int along = sizes[static_cast<std::size_t>(contiguous)];
  const int own_lines = std::max(log_chunk_bytes - log_bytes, 0);  // of a thread
  const auto moved = [&](int line) -> std::uint64_t {
    const int group = line - own_lines;
    const int to = log_run + group;
    // A line whose own place is that far already needs nothing.
    const bool moves = group >= 0 && to < log_bank_bytes - log_bytes && to < along + line;
    return moves ? std::uint64_t{1} << to : 0;
  };
  return {places_of_lines(sizes, contiguous, moved), contiguous, log_run};
}

Swizzle Swizzle::panels(LogSizes sizes, int contiguous, int element_bytes) {
  const int log_bytes = std::countr_zero(static_cast<unsigned>(element_bytes));
  const int log_run = log_run_of(sizes, contiguous, log_bytes);
  const int along = sizes[static_cast<std::size_t>(contiguous)];
  const int inside = std::min(along, log_bank_bytes - log_bytes);  // of a panel
  const int low = first_bit(sizes, contiguous);
  const int lines = index_bits(sizes) - along;
  const int chunk_bits = std::max(inside - log_run, 0);
  const int skip = std::max(log_bank_bytes - log_bytes - inside, 0);
  std::vector<std::uint64_t> columns;
  int line = 0;
  for (int j = 0; j < index_bits(sizes); ++j) {
    const bool is_along = j >= low && j < low + along;
    if (is_along) {
      const int number = j - low;
      columns.push_back(std::uint64_t{1} << (number < inside ? number : number + lines));
      continue;
    }
    const int chunk = line - skip;
    const bool moves = chunk >= 0 && chunk < chunk_bits;
    columns.push_back(std::uint64_t{1} << (inside + line) |
                      (moves ? std::uint64_t{1} << (log_run + chunk) : 0));
    ++line;
  }
  return {BitMatrix(index_bits(sizes), std::move(columns)), contiguous, log_run};
}

}  // namespace tilewright
