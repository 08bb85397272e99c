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

}  // namespace

Swizzle Swizzle::none(LogSizes sizes) {
  const int rank = static_cast<int>(sizes.size());
  return {BitMatrix::identity(index_bits(sizes)), std::max(rank - 1, 0),
          rank == 0 ? 0 : sizes.back()};
}

Swizzle Swizzle::lines(LogSizes sizes, int contiguous, int element_bytes) {
  TW_CHECK(contiguous >= 0 && contiguous < static_cast<int>(sizes.size()),
           "lines along dimension {} of {}", contiguous, sizes.size());
  const int bits = index_bits(sizes);
  const int log_bytes = std::countr_zero(static_cast<unsigned>(element_bytes));
  const int along = sizes[static_cast<std::size_t>(contiguous)];
  const int low = first_bit(sizes, contiguous);
  const int log_run = std::min(std::max(log_chunk_bytes - log_bytes, 0), along);
  // Line bits below `skip` choose among the lines that share 128 bytes already.
  const int chunk_bits = std::min(along - log_run, log_bank_bytes - log_chunk_bytes);
  const int skip = std::max(log_bank_bytes - log_bytes - along, 0);
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(bits));
  int line = 0;
  for (int j = 0; j < bits; ++j) {
    const bool is_along = j >= low && j < low + along;
    if (is_along) {
      columns[static_cast<std::size_t>(j)] = std::uint64_t{1} << (j - low);
      continue;
    }
    columns[static_cast<std::size_t>(j)] =
        std::uint64_t{1} << (along + line) | moved_chunks(line - skip, chunk_bits, element_bytes)
                                                 << log_run;
    ++line;
  }
  return {BitMatrix(bits, std::move(columns)), contiguous, log_run};
}

}  // namespace tilewright
