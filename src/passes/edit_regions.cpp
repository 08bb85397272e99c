// SPDX-License-Identifier: Apache-2.0
// passes/edit_regions.cpp — where ops stand in a region.
#include "passes/edit_regions.h"

#include <algorithm>

namespace tilewright {
namespace {

auto place_of(ir::Region& region, const ir::Op& op) {
  return std::find(region.ops.begin(), region.ops.end(), &op);
}

}  // namespace

bool stands_in(const ir::Region& region, const ir::Op* op) {
  return op && std::find(region.ops.begin(), region.ops.end(), op) != region.ops.end();
}

void put_first(ir::Region& region, const ir::Region& made) {
  region.ops.insert(region.ops.begin(), made.ops.begin(), made.ops.end());
}

void put_last(ir::Region& region, const ir::Region& made) {
  region.ops.insert(region.ops.end() - 1, made.ops.begin(), made.ops.end());
}

void put_before(ir::Region& region, const ir::Op& op, const ir::Region& made) {
  region.ops.insert(place_of(region, op), made.ops.begin(), made.ops.end());
}

void put_behind(ir::Region& region, const ir::Op& op, const ir::Region& made) {
  region.ops.insert(place_of(region, op) + 1, made.ops.begin(), made.ops.end());
}

ir::Value carry(ir::Kernel& kernel, ir::Op& loop, ir::Value initial, const std::string& name) {
  const ir::Type type = kernel.type(initial);
  const ir::Value inside = kernel.make_value(type, name, nullptr);
  loop.operands.push_back(initial);
  loop.regions[0].arguments.push_back(inside);
  loop.results.push_back(kernel.make_value(type, "", &loop));
  return inside;
}

}  // namespace tilewright
