// SPDX-License-Identifier: Apache-2.0
// ir/clone.cpp — ops first, then all values in the order of their numbers.
#include "ir/clone.h"

#include <cstdint>
#include <vector>

namespace tilewright::ir {
namespace {

// `makers`: the copies of ops, by the numbers of their results.
void clone_region(const Kernel& kernel, Kernel& to, const Region& from, Region& region,
                  std::vector<Op*>& makers) {
  region.arguments = from.arguments;
  region.ops.reserve(from.ops.size());
  for (const Op* op : from.ops) {
    Op* copy = to.make_op(op->kind, op->operands, {}, op->location);
    copy->results = op->results;
    copy->attributes = op->attributes;
    copy->regions.resize(op->regions.size());
    for (std::size_t i = 0; i < op->regions.size(); ++i)
      clone_region(kernel, to, op->regions[i], copy->regions[i], makers);
    region.ops.push_back(copy);
    for (const Value result : op->results)
      if (kernel.maker(result) == op) makers[result.id] = copy;
  }
}

}  // namespace

Kernel clone(const Kernel& kernel) {
  Kernel copy;
  copy.name = kernel.name;
  copy.stage = kernel.stage;
  copy.files = kernel.files;
  copy.arguments = kernel.arguments;
  copy.shape = kernel.shape;
  copy.layouts = kernel.layouts;
  copy.buffers = kernel.buffers;
  copy.maps = kernel.maps;
  copy.rings = kernel.rings;
  copy.otherwise = kernel.otherwise;
  std::vector<Op*> makers(kernel.value_count(), nullptr);
  clone_region(kernel, copy, kernel.body, copy.body, makers);
  for (std::uint32_t id = 0; id < kernel.value_count(); ++id)
    copy.make_value(kernel.type({id}), kernel.name_of({id}), makers[id]);
  return copy;
}

}  // namespace tilewright::ir
