// SPDX-License-Identifier: Apache-2.0
// graph/layout.cpp — merging dimensions, and the class of what is left.
#include "graph/layout.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tilewright::graph {
namespace {

constexpr std::int64_t short_row = 32;       // below, rows are not worth a program each
constexpr std::int64_t whole_row = 1 << 15;  // above, a row is reduced in slices
constexpr std::int64_t narrow_columns = 16;  // below, columns are reduced as strided rows
constexpr int most_log_rows = 4;  // of columns on a GPU, which hides latency by loads in flight

int log_of(std::int64_t size) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1) - 1));
}

// The bits of a mask above one that goes.
std::uint32_t without_bit(std::uint32_t mask, int d) {
  const std::uint32_t low = mask & ((1u << d) - 1);
  return low | (mask >> (d + 1) << d);
}

}  // namespace

Walk::Walk(const WalkClass& made, std::span<const std::int64_t> packed) : WalkClass(made) {
  const std::int64_t* from = packed.data();
  for (int o = 0; o < operands; ++o, from += rank) std::copy_n(from, rank, strides[o]);
}

std::vector<std::int64_t> Walk::packed_strides() const {
  std::vector<std::int64_t> packed;
  packed.reserve(static_cast<std::size_t>(operands * rank));
  for (int o = 0; o < operands; ++o) packed.insert(packed.end(), strides[o], strides[o] + rank);
  return packed;
}

void Walk::set_sizes(const Shape& shape) {
  is_exact = false;
  log_rows = 0;
  rank = static_cast<int>(shape.size());
  operands = 0;
  std::copy(shape.begin(), shape.end(), sizes);
}

void Walk::add_operand(const Shape& shape, const Shape& own_strides) {
  std::int64_t* const to = strides[operands++];
  const int missing = rank - static_cast<int>(shape.size());
  std::fill_n(to, missing, 0);
  for (std::size_t d = 0; d < shape.size(); ++d)
    to[missing + static_cast<int>(d)] = shape[d] == 1 ? 0 : own_strides[d];
}

void Walk::add_kept_operand(const Shape& own_strides, std::uint32_t reduced,
                            bool keeps_dimensions) {
  std::int64_t* const to = strides[operands++];
  std::size_t next = 0;
  for (int d = 0; d < rank; ++d) {
    const bool is_reduced = (reduced >> d & 1) != 0;
    to[d] = is_reduced ? 0 : own_strides[next];
    if (!is_reduced || keeps_dimensions) ++next;
  }
}

bool Walk::can_merge(int d) const {
  for (int o = 0; o < operands; ++o)
    if (strides[o][d] != strides[o][d + 1] * sizes[d + 1]) return false;
  return true;
}

void Walk::drop(int d) {
  for (int i = d; i + 1 < rank; ++i) sizes[i] = sizes[i + 1];
  for (int o = 0; o < operands; ++o)
    for (int i = d; i + 1 < rank; ++i) strides[o][i] = strides[o][i + 1];
  --rank;
}

// Dimension d joins the one behind it.
void Walk::merge(int d) {
  const std::int64_t size = sizes[d] * sizes[d + 1];
  for (int o = 0; o < operands; ++o) strides[o][d] = strides[o][d + 1];
  sizes[d] = size;
  drop(d + 1);
}

void Walk::move_last(int d) {
  std::rotate(sizes + d, sizes + d + 1, sizes + rank);
  for (int o = 0; o < operands; ++o)
    std::rotate(strides[o] + d, strides[o] + d + 1, strides[o] + rank);
}

bool Walk::is_columns(std::uint32_t reduced) const {
  if (rank < 2 || reduced != 1u << (rank - 2) || inner() < narrow_columns) return false;
  for (int o = 0; o < operands; ++o)
    if (strides[o][rank - 1] != 0 && strides[o][rank - 1] != 1) return false;
  return true;
}

void Walk::finish_map() {
  if (rank == 0) {
    rank = 1;
    sizes[0] = 1;
    for (int o = 0; o < operands; ++o) strides[o][0] = 0;
  }
  mode = rank == 1 ? Mode::Linear : inner() >= short_row ? Mode::Rows : Mode::Flat;
  log_block = mode == Mode::Rows ? std::min(log_of(inner()), 10) : 10;
}

// Rows without elements are one dimension of size 0, whatever their dimensions were. Strides stay
// other than 0 where they were: such an operand is read element by element, that is never.
std::uint32_t Walk::join_empty_rows(std::uint32_t reduced) {
  std::int64_t count = 1;
  for (int d = 0; d < rank; ++d)
    if ((reduced >> d & 1) != 0) count *= sizes[d];
  if (count != 0) return reduced;
  const int last = std::bit_width(reduced) - 1;
  sizes[last] = 0;
  for (int o = 0; o < operands; ++o) {
    bool is_per_row = true;
    for (int d = 0; d < rank; ++d) is_per_row &= (reduced >> d & 1) == 0 || strides[o][d] == 0;
    strides[o][last] = is_per_row ? 0 : 1;
  }
  for (int d = last - 1; d >= 0; --d)
    if ((reduced >> d & 1) != 0) {
      drop(d);
      reduced = without_bit(reduced, d);
    }
  return reduced;
}

bool Walk::finish(std::uint32_t reduced, bool has_reductions, DeviceKind device) {
  if (has_reductions) reduced = join_empty_rows(reduced);
  for (int d = rank - 1; d >= 0; --d)
    if (sizes[d] == 1) {
      drop(d);
      reduced = without_bit(reduced, d);
    }
  const auto merge_all = [&] {
    for (int d = rank - 2; d >= 0; --d) {
      const bool is_alike = (reduced >> d & 1) == (reduced >> (d + 1) & 1);
      if (!is_alike || !can_merge(d)) continue;
      merge(d);
      reduced = without_bit(reduced, d);
    }
  };
  merge_all();
  if (!has_reductions) {
    finish_map();
    classify();
    return true;
  }
  if (is_columns(reduced)) {
    mode = Mode::Columns;
    log_block = std::min(log_of(inner()), device == DeviceKind::Cuda ? 7 : 9);
    const int log_all =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(sizes[rank - 2]))) - 1;
    if (device == DeviceKind::Cuda)  // 1, 4 or 16 rows: few classes
      log_rows = std::clamp(log_all, 0, most_log_rows) & ~1;
    is_exact = inner() % (std::int64_t{1} << log_block) == 0;
    classify();
    return true;
  }
  int count = std::popcount(reduced);
  for (int moved = 0, d = 0; moved < count;) {
    if ((reduced >> d & 1) == 0) {
      ++d;
      continue;
    }
    move_last(d);
    reduced = without_bit(reduced, d);
    ++moved;
  }
  reduced = ((1u << count) - 1) << (rank - count);
  merge_all();
  count = std::popcount(reduced);
  if (count > 1) return false;
  if (count == 0) {  // every row has one element
    sizes[rank] = 1;
    for (int o = 0; o < operands; ++o) strides[o][rank] = 0;
    ++rank;
  }
  mode = inner() <= whole_row ? Mode::Whole : Mode::Looped;
  log_block = mode == Mode::Whole ? std::max(log_of(inner()), 3) : 12;
  const std::int64_t block = std::int64_t{1} << log_block;
  is_exact = mode == Mode::Whole ? inner() == block : inner() % block == 0;
  classify();
  return true;
}

void Walk::classify() {
  is_aligned = mode != Mode::Flat && inner() % 16 == 0;
  for (int o = 0; o < operands; ++o) {
    const std::int64_t* const s = strides[o];
    const bool is_row_wise = mode != Mode::Columns;
    std::int64_t all = 1, kept = 1;
    bool is_dense = is_row_wise, is_per_row = is_row_wise && s[rank - 1] == 0;
    for (int d = rank - 1; d >= 0; --d) {
      is_dense &= s[d] == all || sizes[d] == 1;
      all *= sizes[d];
      if (d == rank - 1) continue;
      is_per_row &= s[d] == kept || sizes[d] == 1;
      kept *= sizes[d];
    }
    const std::int64_t last = s[rank - 1];
    access[o] = is_dense                           ? Access::Dense
                : is_per_row && mode != Mode::Flat ? Access::PerRow
                : last == 0                        ? Access::Repeated
                : last == 1                        ? Access::Inner
                                                   : Access::Strided;
    if (is_dense || access[o] == Access::PerRow) continue;
    for (int d = 0; d + 1 < rank; ++d) is_aligned &= s[d] % 16 == 0;
    is_aligned &= last == 0 || last == 1;
  }
}

std::int64_t WalkClass::programs() const {
  const std::int64_t block = std::int64_t{1} << log_block;
  const auto blocks = [&](std::int64_t n) { return (n + block - 1) / block; };
  switch (mode) {
    case Mode::Linear:
    case Mode::Flat:
      return blocks(numel());
    case Mode::Rows:
      return outer() * blocks(inner());
    case Mode::Whole:
    case Mode::Looped: {
      std::int64_t rows = 1;
      for (int d = 0; d + 1 < rank; ++d) rows *= sizes[d];
      return rows;
    }
    case Mode::Columns: {
      std::int64_t rows = 1;
      for (int d = 0; d + 2 < rank; ++d) rows *= sizes[d];
      return rows * blocks(inner());
    }
  }
  TW_UNREACHABLE("mode of a walk");
}

std::uint64_t WalkClass::head_word(DeviceKind device) const {
  return static_cast<std::uint64_t>(mode) | static_cast<std::uint64_t>(rank) << 8 |
         static_cast<std::uint64_t>(log_block) << 16 | std::uint64_t{is_aligned} << 24 |
         std::uint64_t{is_exact} << 25 | static_cast<std::uint64_t>(log_rows) << 26 |
         static_cast<std::uint64_t>(device) << 32;
}

std::uint64_t WalkClass::access_word() const {
  std::uint64_t word = 0;
  for (int o = 0; o < operands; ++o) word = word << 3 | static_cast<std::uint64_t>(access[o]);
  return word;
}

}  // namespace tilewright::graph
