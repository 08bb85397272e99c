// SPDX-License-Identifier: Apache-2.0
// graph/layout.h — how a kernel walks over its operands: dimensions that lie together are one, and
// what is left falls into a class. Code is made for a class; sizes and strides are its arguments.
//
//   [64, 32, 100] contiguous + [100]     =>  2048 rows of 100: Dense, Inner1
//   sum of [64, 32, 100] over axis 1     =>  Columns: 64 outer, 32 steps, 100 columns
//
// A Walk lives on the stack of a call and allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/device.h"
#include "tilewright/tensor.h"

namespace tilewright::graph {

inline constexpr int max_rank = 16;      // of tensors
inline constexpr int max_operands = 20;  // leaves and outputs of a kernel

enum class Mode : std::uint8_t {
  Linear,   // one dimension, in blocks
  Rows,     // blocks of the innermost dimension, for every place in the others
  Flat,     // blocks over all elements, whose places are found by division: short rows
  Whole,    // a program reduces a whole row at once
  Looped,   // a program goes over a long row in slices, once for each reduction
  Columns,  // a program reduces a block of columns, row by row
};

enum class Access : std::uint8_t {
  Dense,     // row-major in the walk's own sizes: no strides
  PerRow,    // one element a row, one after the other
  Repeated,  // strides of the outer dimensions; the innermost repeats one element
  Inner,     // ...; the innermost has neighbours in memory
  Strided,   // ...; the innermost has a stride too
};

// What code is made for, and the sizes.
struct WalkClass {
  Mode mode = Mode::Linear;
  int rank = 0;
  int operands = 0;
  int log_block = 10;
  int log_rows = 0;         // Columns: rows that a turn of the loop adds up, loaded side by side
  bool is_aligned = false;  // sizes and strides that are passed are multiples of 16
  bool is_exact = false;    // Whole: a row is as long as the block; Looped, Columns: whole blocks
  std::int64_t sizes[max_rank + 1];
  Access access[max_operands];

  std::int64_t numel() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= sizes[d];
    return n;
  }
  std::int64_t inner() const { return sizes[rank - 1]; }
  std::int64_t outer() const { return inner() == 0 ? 0 : numel() / inner(); }
  std::int64_t programs() const;
  // The class, as numbers to compare.
  std::uint64_t head_word(DeviceKind device) const;
  std::uint64_t access_word() const;
};

struct Walk : WalkClass {
  std::int64_t strides[max_operands][max_rank + 1];

  Walk() = default;
  // From what `packed_strides` gave.
  Walk(const WalkClass& made, std::span<const std::int64_t> packed);
  std::vector<std::int64_t> packed_strides() const;

  // ---- Filling it: the sizes of the domain, then each operand.
  void set_sizes(const Shape& shape);
  // Broadcast as PyTorch does: dimensions are matched from the last.
  void add_operand(const Shape& shape, const Shape& own_strides);
  // Of an operand without the reduced dimensions.
  void add_kept_operand(const Shape& own_strides, std::uint32_t reduced, bool keeps_dimensions);
  // Chooses the class. `reduced` has a bit for each reduced dimension. False when they cannot be
  // walked as one: then some operand must be copied first.
  bool finish(std::uint32_t reduced, bool has_reductions, DeviceKind device);

 private:
  bool can_merge(int d) const;
  void merge(int d);
  void drop(int d);
  void move_last(int d);
  std::uint32_t join_empty_rows(std::uint32_t reduced);
  bool is_columns(std::uint32_t reduced) const;
  void finish_map();
  void classify();
};

}  // namespace tilewright::graph
