// SPDX-License-Identifier: Apache-2.0
// passes/roles/ring_loops.cpp — from products to loops, loads and maps.
#include "passes/roles/ring_loops.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/constant.h"
#include "layout/map_box.h"
#include "passes/axis_info.h"
#include "passes/choose_units.h"
#include "passes/edit_regions.h"
#include "passes/pipeline_loops/lagging_dots.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

std::int64_t bytes_of(const ir::Type& type) {
  return type.numel() * static_cast<std::int64_t>(type.element_bytes());
}

class RingLoopFinder {
 public:
  explicit RingLoopFinder(Kernel& kernel) : kernel_(kernel), axes_(kernel) {}

  RingLoops run() {
    if (finds_loops() && finds_loads() && finds_maps() && have_same_tiles()) count_bytes();
    if (!out_.problem.empty()) out_.loops.clear();
    return std::move(out_);
  }

 private:
  bool fail(std::string problem) {
    out_.problem = std::move(problem);
    return false;
  }

  // ---- Products and their loops

  bool finds_loops() {
    std::size_t all = 0, found = 0;
    ir::walk(kernel_.body, [&](Op& op) {
      all += op.kind == OpKind::Dot;
      if (op.kind != OpKind::For) return;
      RingLoop loop{.loop = &op};
      for (Op* inside : op.regions[0].ops)
        if (inside->kind == OpKind::Dot && is_asynchronous(*inside)) loop.dots.push_back(inside);
      found += loop.dots.size();
      if (!loop.dots.empty()) out_.loops.push_back(std::move(loop));
    });
    if (out_.loops.empty()) return fail("it has no loop with products of warpgroups");
    if (found != all) return fail("it has products outside of such loops");
    for (const RingLoop& outer : out_.loops)
      for (const RingLoop& inner : out_.loops)
        if (contains(*outer.loop, *inner.loop))
          return fail("loops with products stand in each other");
    return true;
  }

  static bool contains(const Op& op, const Op& wanted) {
    bool found = false;
    for (const Region& region : op.regions)
      ir::walk(region, [&](const Op& inside) { found |= &inside == &wanted; });
    return found;
  }

  // ---- Loads

  bool finds_loads() {
    for (RingLoop& loop : out_.loops) {
      const Region& body = loop.loop->regions[0];
      std::size_t accesses = 0;
      ir::walk(body, [&](const Op& op) { accesses += op.facts().is(ir::Family::Access); });
      for (const Op* dot : loop.dots)
        for (const std::size_t i : {0u, 1u}) {
          Op* load = load_behind(dot->operands[i], body);
          if (load && std::find(loop.loads.begin(), loop.loads.end(), load) == loop.loads.end())
            loop.loads.push_back(load);
        }
      if (loop.loads.empty()) return fail("its products load nothing in their loop");
      if (accesses != loop.loads.size())
        return fail("a loop with products touches other memory than their operands");
      for (const Op* load : loop.loads)
        if (!is_read_by_dots_alone(load->result(), body))
          return fail("what a product loads is computed with, too");
    }
    if (out_.loops.size() == 1) {
      const RingLoop& loop = out_.loops.front();
      out_.is_lagging = !find_lagging_dots(kernel_, *loop.loop, loop.loads).empty();
    }
    return true;
  }

  static bool is_view(const Op& op) {
    return op.kind == OpKind::Permute || op.kind == OpKind::Reshape;
  }

  Op* load_behind(Value value, const Region& body) const {
    Op* maker = kernel_.maker(value);
    while (maker && is_view(*maker)) maker = kernel_.maker(maker->operands[0]);
    return stands_in(body, maker) && maker->kind == OpKind::Load ? maker : nullptr;
  }

  bool is_read_by_dots_alone(Value value, const Region& body) const {
    bool is_good = true;
    ir::walk(body, [&](const Op& op) {
      for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (op.operands[i] != value) continue;
        is_good = is_good && (is_view(op) ? is_read_by_dots_alone(op.result(), body)
                                          : op.kind == OpKind::Dot && i < 2);
      }
    });
    return is_good;
  }

  // ---- Maps

  bool finds_maps() {
    for (RingLoop& loop : out_.loops)
      for (const Op* load : loop.loads) {
        // Tensor maps write zeros for what is outside.
        if (load->operands.size() > 2 && !ir::is_zero(kernel_, load->operands[2]))
          return fail(
              fmt::format("the load in line {} has something else than zeros where its mask is off",
                          load->location.line));
        const auto map = find_load_map(kernel_, axes_, *loop.loop, *load);
        if (!map)
          return fail(fmt::format(
              "the load in line {} is no tile of a tensor whose sizes and strides the launch knows",
              load->location.line));
        if (line_bytes(*map, kernel_.type(load->result())) < least_line_bytes)
          return fail(fmt::format("the tile of the load in line {} has lines of less than {} bytes",
                                  load->location.line, least_line_bytes));
        if (may_be_stored(map->map.argument))
          return fail(
              fmt::format("it may store what the load in line {} reads", load->location.line));
        loop.maps.push_back(*map);
      }
    return true;
  }

  static std::int64_t line_bytes(const LoadMap& map, const ir::Type& tile) {
    return tile.size(map.map.dimensions[0].of_tile) *
           static_cast<std::int64_t>(tile.element_bytes());
  }

  bool may_be_stored(int argument) const {
    const ir::KernelArgument& loaded = kernel_.arguments[static_cast<std::size_t>(argument)];
    for (const ir::KernelArgument& other : kernel_.arguments) {
      if (!kernel_.type(other.value).is_pointer || other.is_const) continue;
      const bool is_stored = is_written(other.value);
      if (is_stored &&
          (other.value == loaded.value || (loaded.memory >= 0 && other.memory == loaded.memory)))
        return true;
    }
    return false;
  }

  // Whether a store goes to memory behind the argument; what has no argument behind it may.
  bool is_written(Value argument) const {
    bool found = false;
    ir::walk(kernel_.body, [&](const Op& op) {
      if (op.kind == OpKind::Store)
        found |= !root(op.operands[0]) || root(op.operands[0]) == argument;
    });
    return found;
  }

  Value root(Value pointer) const {
    const Op* op = kernel_.maker(pointer);
    if (op == nullptr) {
      const bool is_argument =
          std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(),
                      [&](const ir::KernelArgument& a) { return a.value == pointer; });
      return is_argument ? pointer : Value{};
    }
    const bool goes_on = op->kind == OpKind::Offset || op->facts().is(ir::Family::View);
    return goes_on && !op->operands.empty() ? root(op->operands[0]) : Value{};
  }

  bool have_same_tiles() {
    const RingLoop& first = out_.loops.front();
    for (const RingLoop& loop : out_.loops) {
      bool is_same = loop.loads.size() == first.loads.size();
      for (std::size_t i = 0; is_same && i < loop.loads.size(); ++i)
        is_same = loop.maps[i].map == first.maps[i].map &&
                  kernel_.type(loop.loads[i]->result()) == kernel_.type(first.loads[i]->result());
      if (!is_same) return fail("its loops with products read different tiles");
    }
    return true;
  }

  // ---- Shared memory

  // Tiles of the ring; what is stored takes the place of operands that are there from the start.
  void count_bytes() {
    std::int64_t stored = 0, kept = 0;
    ir::walk(kernel_.body, [&](const Op& op) {
      if (op.kind == OpKind::Store && kernel_.type(op.operands[1]).is_tile())
        stored = std::max(stored, bytes_of(kernel_.type(op.operands[1])));
    });
    std::vector<Value> seen;
    for (const RingLoop& loop : out_.loops)
      for (const Op* dot : loop.dots)
        for (const std::size_t i : {0u, 1u}) {
          const Value value = dot->operands[i];
          const bool is_new = std::find(seen.begin(), seen.end(), value) == seen.end();
          if (!is_new || load_behind(value, loop.loop->regions[0]) ||
              (i == 0 && is_made_in(value, *loop.loop)))
            continue;
          seen.push_back(value);
          kept += bytes_of(kernel_.type(value));
        }
    out_.other_bytes = std::max(stored, kept);
    for (const Op* load : out_.loops.front().loads)
      out_.stage_bytes += bytes_of(kernel_.type(load->result()));
  }

  bool is_made_in(Value value, const Op& loop) const {
    const Op* maker = kernel_.maker(value);
    return maker && contains(loop, *maker);
  }

  Kernel& kernel_;
  const AxisAnalysis axes_;
  RingLoops out_;
};

}  // namespace

RingLoops find_ring_loops(Kernel& kernel) { return RingLoopFinder(kernel).run(); }

}  // namespace tilewright
