// SPDX-License-Identifier: Apache-2.0
// passes/laid/rotation.h — tiles that are turned round so that rows which begin anywhere are
// loaded and stored in whole vectors.
//
// Where rows of small elements have an odd length, most of them begin between two vectors. In such
// a kernel slot i of every tile holds element (i - shift) % size, shift being the place of the
// row's first element in its vector: the elements from `shift` on then lie in memory as vectors
// do, and the last ones come round to the slots before. Sums over a tile have the same terms as
// before, masks and indices are those of the element, so that nothing else changes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

#include "ir/kernel.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

class Alignments;

struct Rotation {
  ir::Value start;          // where rows begin: a number of elements, or a pointer
  std::int64_t vector = 1;  // elements that begin at multiples of as many: shift = start % vector
  std::int64_t size = 1;    // of every tile of the kernel
  std::unordered_set<const ir::Op*> aligned = {};  // loads and stores that it brings into line
  bool brings_all = true;                          // else some loads are apart: they need registers
};

// For a kernel of rank-1 tiles whose order does not matter (no scans, no gathers), when all its
// stores and some small elements begin at the same place in a vector, which is not known to be 0.
// `threads` work on a program; each must have a whole vector.
std::optional<Rotation> find_rotation(const ir::Kernel& kernel, const Sweeps& schedule,
                                      const Alignments& alignments, int threads);

}  // namespace tilewright
