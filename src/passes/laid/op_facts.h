// SPDX-License-Identifier: Apache-2.0
// passes/laid/op_facts.h — what the schedule must know of an op: is it a view of other tiles,
// what does it do to memory.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace tilewright {

// How the elements of a loop map to the elements of a tile that it reads.
enum class Access : std::uint8_t {
  Same,      // element i reads element i
  Once,      // another index, each element once
  Repeated,  // another index, elements several times
  Array,     // any order, often: the tile must be in an array
};
Access through(Access outer, Access inner);

bool is_tile(const ir::Kernel& kernel, ir::Value value);

// An op whose elements are elements of its operands, or come from scalars and indices alone.
bool is_view(const ir::Op& op);
// A view whose every element is the same.
bool is_uniform(const ir::Op& op);
Access access_of_view(const ir::Kernel& kernel, const ir::Op& op);

struct Effects {
  bool reads = false;
  bool writes = false;  // or must keep its place for another reason
};
// Of the op and everything inside it.
Effects effects_of(const ir::Op& op);

// An atomic sum of floats of a type that one instruction adds to several neighbours.
bool adds_floats(const ir::Kernel& kernel, const ir::Op& op);

bool has_dot(const ir::Kernel& kernel);  // a product of tiles, anywhere

// Elements of the largest tile; 0 when there is none.
std::int64_t largest_tile(const ir::Kernel& kernel);

}  // namespace tilewright
