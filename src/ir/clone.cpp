// SPDX-License-Identifier: Apache-2.0
// ir/clone.cpp — ops first, then all values in the order of their numbers.
#include "ir/clone.h"

#include <unordered_map>

namespace tilewright::ir {
namespace {

using OpCopies = std::unordered_map<const Op*, Op*>;

void clone_region(Kernel& to, const Region& from, Region& region, OpCopies& copies) {
  region.arguments = from.arguments;
  for (const Op* op : from.ops) {
    Op* copy = to.make_op(op->kind, op->operands, {}, op->location);
    copy->results = op->results;
    copy->attributes = op->attributes;
    copy->regions.resize(op->regions.size());
    for (std::size_t i = 0; i < op->regions.size(); ++i)
      clone_region(to, op->regions[i], copy->regions[i], copies);
    region.ops.push_back(copy);
    copies.emplace(op, copy);
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
  OpCopies copies;
  clone_region(copy, kernel.body, copy.body, copies);
  for (std::uint32_t id = 0; id < kernel.value_count(); ++id) {
    const auto maker = copies.find(kernel.maker({id}));
    copy.make_value(kernel.type({id}), kernel.name_of({id}),
                    maker == copies.end() ? nullptr : maker->second);
  }
  return copy;
}

}  // namespace tilewright::ir
