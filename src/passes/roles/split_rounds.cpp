// SPDX-License-Identifier: Apache-2.0
// passes/roles/split_rounds.cpp — the depth of tiles, of their coordinates and of the loop.
#include "passes/roles/split_rounds.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ir/builder.h"
#include "ir/constant.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Value;

constexpr std::int64_t line_bytes = 128;  // what swizzled rows of shared memory have

// An operand of the product on its way from a load.
struct Operand {
  std::size_t load = 0;         // the number of the load among the loop's
  std::vector<Op*> views = {};  // from the load to the product
  int depth = 0;                // the dimension of the load's tile
  std::size_t coordinate = 0;   // of its map
};

std::optional<Operand> find_operand(const Kernel& kernel, const RingLoop& loop,
                                    std::size_t number) {
  Operand out{.depth = number == 0 ? 1 : 0};
  Op* maker = kernel.maker(loop.dots[0]->operands[number]);
  for (; maker != nullptr && maker->kind == OpKind::Permute;
       maker = kernel.maker(maker->operands[0])) {
    out.depth = static_cast<int>(maker->integers("order")[static_cast<std::size_t>(out.depth)]);
    out.views.insert(out.views.begin(), maker);
  }
  const auto found = std::find(loop.loads.begin(), loop.loads.end(), maker);
  if (found == loop.loads.end()) return std::nullopt;
  out.load = static_cast<std::size_t>(found - loop.loads.begin());
  const auto& dimensions = loop.maps[out.load].map.dimensions;
  const auto is_depth = [&](const auto& dimension) { return dimension.of_tile == out.depth; };
  const auto at = std::find_if(dimensions.begin(), dimensions.end(), is_depth);
  if (at == dimensions.end()) return std::nullopt;
  out.coordinate = static_cast<std::size_t>(at - dimensions.begin());
  return out;
}

// Whether the tile of round k begins k times its depth behind the first one's, and nothing else of
// it changes from round to round.
bool walks_along_depth(const Kernel& kernel, const RingLoop& loop, const Operand& operand) {
  const ir::Region& body = loop.loop->regions[0];
  std::set<std::uint32_t> inside;
  for (const Value value : body.arguments) inside.insert(value.id);
  ir::walk(body, [&](const Op& op) {
    for (const Value value : op.results) inside.insert(value.id);
  });
  const std::int64_t depth = kernel.type(loop.loads[operand.load]->result()).size(operand.depth);
  const Polynomial step = Polynomial::of(body.arguments[0]).times(Polynomial::number(depth));
  const auto& coordinates = loop.maps[operand.load].coordinates;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const Polynomial rest =
        i == operand.coordinate ? coordinates[i].plus(step, -1) : coordinates[i];
    for (const auto& [factors, times] : rest.terms())
      for (const std::uint32_t id : factors)
        if (inside.contains(id)) return false;
  }
  return true;
}

bool leaves_its_sum_alone(const Kernel& kernel, const RingLoop& loop) {
  std::set<std::uint32_t> others;
  const std::vector<Value>& yielded = loop.loop->regions[0].ops.back()->operands;
  for (std::size_t i = 0; i < yielded.size(); ++i)
    if (yielded[i] != loop.dots[0]->result()) others.insert(loop.loop->results[i].id);
  bool found = false;
  ir::walk(kernel.body, [&](const Op& op) {
    for (const Value operand : op.operands) found |= others.contains(operand.id);
  });
  return !found;
}

// The value in one tile with less depth.
Value retyped(Kernel& kernel, Op& op, int dimension, std::int64_t parts) {
  const ir::Type& type = kernel.type(op.result());
  auto shape = type.shape();
  shape[static_cast<std::size_t>(dimension)] /= parts;
  op.results = {kernel.make_value(type.with_shape(shape), kernel.name_of(op.result()), &op)};
  return op.result();
}

void split_operand(Kernel& kernel, RingLoop& loop, std::size_t number, std::int64_t parts) {
  const Operand operand = *find_operand(kernel, loop, number);
  Op& load = *loop.loads[operand.load];
  const std::int64_t depth = kernel.type(load.result()).size(operand.depth);
  Polynomial& at = loop.maps[operand.load].coordinates[operand.coordinate];
  at = at.plus(Polynomial::of(loop.loop->regions[0].arguments[0])
                   .times(Polynomial::number(depth - depth / parts)),
               -1);
  int dimension = operand.depth;
  Value tile = retyped(kernel, load, dimension, parts);
  for (Op* view : operand.views) {
    const std::vector<std::int64_t> order = view->integers("order");
    dimension = static_cast<int>(std::find(order.begin(), order.end(), dimension) - order.begin());
    view->operands = {tile};
    tile = retyped(kernel, *view, dimension, parts);
  }
  loop.dots[0]->operands[number] = tile;
}

void insert_before(ir::Region& region, const Op& wanted, const ir::Region& before) {
  const auto at = std::find(region.ops.begin(), region.ops.end(), &wanted);
  if (at != region.ops.end()) region.ops.insert(at, before.ops.begin(), before.ops.end());
  else
    for (Op* op : region.ops)
      for (ir::Region& inner : op->regions) insert_before(inner, wanted, before);
}

}  // namespace

std::int64_t most_parts_of_rounds(const Kernel& kernel, const RingLoops& found) {
  if (!found.is_lagging || found.loops.size() != 1) return 1;
  const RingLoop& loop = found.loops.front();
  if (loop.dots.size() != 1 || loop.loads.size() != 2 || !leaves_its_sum_alone(kernel, loop) ||
      ir::integer_constant(kernel, loop.loop->operands[0]) != 0 ||
      ir::integer_constant(kernel, loop.loop->operands[2]) != 1)
    return 1;
  std::int64_t most = 1024;
  for (const std::size_t number : {0u, 1u}) {
    const auto operand = find_operand(kernel, loop, number);
    if (!operand || !walks_along_depth(kernel, loop, *operand)) return 1;
    const ir::Type& type = kernel.type(loop.loads[operand->load]->result());
    most = std::min(most, type.size(operand->depth) *
                              static_cast<std::int64_t>(type.element_bytes()) / line_bytes);
  }
  return std::max<std::int64_t>(most, 1);
}

void split_rounds(Kernel& kernel, RingLoops& found, std::int64_t parts) {
  RingLoop& loop = found.loops.front();
  for (const std::size_t number : {0u, 1u}) split_operand(kernel, loop, number, parts);
  ir::Builder build(kernel);
  build.set_location(loop.loop->location);
  ir::Region before;
  {
    const ir::Builder::Into into(build, before);
    Value& rounds = loop.loop->operands[1];
    rounds = build.binary(OpKind::Multiply, rounds, build.constant(kernel.type(rounds), parts));
  }
  insert_before(kernel.body, *loop.loop, before);
  found.stage_bytes /= parts;
}

}  // namespace tilewright
