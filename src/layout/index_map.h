// SPDX-License-Identifier: Apache-2.0
// layout/index_map.h — where an element of a reshaped, permuted, broadcast or split tile comes
// from.
//
// An element's index is its place in row-major order; its bits are those of the last dimension
// first. A map takes the bits of an index into the result to the bits of the index into the
// operand: element i of the result is element matrix(i) ^ offset of the operand. Reshape is the
// identity. Maps of a chain of views compose:
//   outer = map of the last view, inner = map of the one before: compose(inner, outer).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "layout/bit_matrix.h"

namespace tilewright {

using LogSizes = std::span<const std::uint8_t>;  // log2 of each dimension, outermost first

struct IndexMap {
  BitMatrix matrix;          // operand bits x result bits
  std::uint64_t offset = 0;  // of split: which half

  static IndexMap identity(int bits) { return {BitMatrix::identity(bits), 0}; }
  std::uint64_t operator()(std::uint64_t index) const { return matrix(index) ^ offset; }
  bool is_identity() const {
    return offset == 0 && matrix == BitMatrix::identity(matrix.columns());
  }
  friend bool operator==(const IndexMap&, const IndexMap&) = default;
};

int index_bits(LogSizes sizes);
// The lowest index bit of a dimension.
int first_bit(LogSizes sizes, int dimension);

// Dimensions of size 1 repeated to the result's sizes.
IndexMap broadcast_map(LogSizes operand, LogSizes result);
// Result dimension d is operand dimension order[d].
IndexMap permute_map(LogSizes operand, std::span<const std::int64_t> order);
// Half number `half` of a last dimension of size 2; `result` has that dimension no more.
IndexMap split_map(LogSizes result, int half);
// The element of either operand of a join that stands at a result index.
IndexMap join_map(LogSizes operand);
// Drops one dimension, but for its lowest `kept` bits: the index into the reduced tile of an index
// into the whole tile.
IndexMap slice_map(LogSizes operand, int axis, int kept = 0);
// The bits of one dimension's coordinate.
IndexMap coordinate_map(LogSizes operand, int dimension);

// Some bits of one index as bits of another: bit from + i goes to bit to + i.
struct BitRun {
  int from;
  int to;
  int count;
};
IndexMap run_map(int result_bits, int index_bits, std::initializer_list<BitRun> runs);

// i -> inner(outer(i)).
IndexMap compose(const IndexMap& inner, const IndexMap& outer);

}  // namespace tilewright
