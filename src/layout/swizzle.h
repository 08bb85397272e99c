// SPDX-License-Identifier: Apache-2.0
// layout/swizzle.h — where the elements of a tile stand in its array in shared memory.
//
// An array is made of lines along one dimension of the tile. Shared memory serves 128 bytes at a
// time, 4 from each of 32 banks, so that threads which read the same column of several lines would
// wait for each other. Therefore the chunks of 16 bytes of a line change places, by exclusive or
// with the line's number: eight lines in a row then have the chunks of one column in eight
// different groups of banks, and a line's chunks are still all different. This is a linear map of
// index bits.
#pragma once

#include "layout/bit_matrix.h"
#include "layout/index_map.h"

namespace tilewright {

struct Swizzle {
  BitMatrix matrix;    // from an element's index to its place in the array
  int contiguous = 0;  // the dimension along which elements are neighbours in the array
  int log_run = 0;     // log2 of how many elements from a multiple of that on are

  // Row-major order: lines along the last dimension, nothing changed.
  static Swizzle none(LogSizes sizes);
  // Lines along `contiguous`, of elements of this many bytes, with chunks changed.
  static Swizzle lines(LogSizes sizes, int contiguous, int element_bytes);
  // The same for lines that are read across: each thread has as many lines as a chunk has elements,
  // and those of eight neighbouring threads are in different groups of banks.
  static Swizzle crossed_lines(LogSizes sizes, int contiguous, int element_bytes);

  // Lines as the tensor cores' asynchronous instructions read them: of at most 128 bytes, so that
  // longer ones are cut into panels, each with its part of all lines. Chunk j of line i stands
  // where chunk j ^ i would, in periods of eight lines (of 128 bytes; less for shorter lines).
  static Swizzle panels(LogSizes sizes, int contiguous, int element_bytes);

  // From whatever `place` is over to the place in the array.
  IndexMap operator()(const IndexMap& place) const { return compose({matrix, 0}, place); }
  friend bool operator==(const Swizzle&, const Swizzle&) = default;
};

}  // namespace tilewright
