// SPDX-License-Identifier: Apache-2.0
// codegen/lower/space.h — the variables of generated loops as bits of an index, and linear maps of
// them.
//
// The loops of a thread over its elements have the variables v (within a vector), k (over vectors),
// s (over slices of a big tile) and the thread's own number; together their bits are the columns of
// a layout. An element's index in any view is a bit matrix over them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/index_map.h"

namespace tilewright {

struct SpaceVariable {
  std::string name;
  int bits = 0;
};

struct Space {
  std::vector<SpaceVariable> variables;  // the first has the lowest bits

  int bits() const;
  int first_bit_of(std::size_t variable) const;
};

// Bits [low, low + count) of a variable times a factor; of no bits, the factor alone.
struct LinearTerm {
  std::size_t variable = 0;
  int low = 0;
  int count = 0;
  std::uint64_t factor = 1;
};
// Terms whose bits meet, which are combined by exclusive or; groups are added.
struct LinearGroup {
  std::vector<LinearTerm> terms;
  std::uint64_t image = 0;
};
// matrix(bits of the variables) ^ offset, for the variables from number `first` to before `last`.
std::vector<LinearGroup> linear_groups(const Space& space, const IndexMap& map, std::size_t first,
                                       std::size_t last);

// The bits that those variables can set.
std::uint64_t image_of(const Space& space, const IndexMap& map, std::size_t first,
                       std::size_t last);

// The place of the first element of a vector, whose bits are the lowest.
IndexMap first_of_vector(const IndexMap& place, int log_vector);
// Whether every vector is a run of neighbours that begins at a multiple of its size.
bool is_vector_of_neighbours(const IndexMap& place, int log_vector);

// The map for the case that all other variables are 0, without the offset.
IndexMap only_variable(const Space& space, const IndexMap& map, std::size_t variable);

}  // namespace tilewright
