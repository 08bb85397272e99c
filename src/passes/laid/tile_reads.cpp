// SPDX-License-Identifier: Apache-2.0
// passes/laid/tile_reads.cpp — walks from what a step computes back to arrays and memory.
#include "passes/laid/tile_reads.h"

#include <bit>
#include <span>

#include "base/check.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

class Walk {
 public:
  Walk(const ir::Kernel& kernel, const Sweeps& schedule, const Step& step)
      : kernel_(kernel), schedule_(schedule), step_(step) {}

  void value(ir::Value v, const IndexMap& map) {
    if (!is_tile(kernel_, v)) return;
    for (const TileRead& seen : seen_)
      if (seen.value == v && seen.map == map) return;
    seen_.push_back({v, map});
    if (schedule_.is_in_array(v, step_)) {
      out_.arrays.push_back({v, map});
      return;
    }
    v = schedule_.source_of(v);  // of a sweep for this step alone
    const ir::Op* maker = kernel_.maker(v);
    if (!maker) {
      out_.arrays.push_back({v, map});
      return;
    }
    if (maker->kind == OpKind::Load) out_.accesses.push_back({maker, map});
    operands(*maker, is_view(*maker) ? compose(view_map(kernel_, *maker, v), map) : map);
  }

  void operands(const ir::Op& op, const IndexMap& map) {
    for (ir::Value operand : op.operands) value(operand, map);
  }

  void op(const ir::Op& op) {
    const IndexMap map = IndexMap::identity(bits_of_type(step_.shape));
    if (op.facts().has(ir::Reads) || op.facts().has(ir::Writes))
      out_.accesses.push_back({&op, map});
    for (ir::Value result : op.results)
      if (is_view(op)) return operands(op, compose(view_map(kernel_, op, result), map));
    operands(op, map);
  }

  TileReads take() { return std::move(out_); }

 private:
  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const Step& step_;
  std::vector<TileRead> seen_;
  TileReads out_;
};

}  // namespace

IndexMap view_map(const ir::Kernel& kernel, const ir::Op& op, ir::Value result) {
  const LogSizes sizes = sizes_of(kernel.type(result));
  switch (op.facts().map) {
    case ir::Repeated:
      return broadcast_map(sizes_of(kernel.type(op.operands[0])), sizes);
    case ir::Permuted:
      return permute_map(sizes_of(kernel.type(op.operands[0])), op.integers("order"));
    case ir::Halved:
      return split_map(sizes, result == op.results[1] ? 1 : 0);
    case ir::Merged:
      return join_map(sizes_of(kernel.type(op.operands[0])));
    case ir::NoMap:
    case ir::Same:
    case ir::Spread:
    case ir::Reshaped:
    case ir::ByIndex:
    case ir::Alike:
      break;
  }
  return IndexMap::identity(index_bits(sizes));
}

std::vector<TileCopy> copies_of(const ir::Kernel& kernel, const ir::Op& control) {
  std::vector<TileCopy> copies;
  const auto add = [&](std::span<const ir::Value> from, std::span<const ir::Value> to) {
    for (std::size_t k = 0; k < from.size(); ++k)
      if (is_tile(kernel, to[k])) copies.push_back({from[k], to[k]});
  };
  const auto yielded = [&](const ir::Region& region) {
    return std::span<const ir::Value>(region.ops.back()->operands);
  };
  if (control.kind == OpKind::If) {
    for (std::size_t k = 0; k < control.results.size(); ++k)
      for (const ir::Region& region : control.regions)
        add(yielded(region).subspan(k, 1), {&control.results[k], 1});
    return copies;
  }
  const bool is_for = control.kind == OpKind::For;
  const auto carried =
      std::span<const ir::Value>(control.regions[0].arguments).subspan(is_for ? 1 : 0);
  add(std::span<const ir::Value>(control.operands).subspan(is_for ? 3 : 0), carried);
  add(yielded(control.regions.back()), carried);
  if (!is_for) add(yielded(control.regions[0]).subspan(1), control.regions[1].arguments);
  return copies;
}

TileReads reads_of(const ir::Kernel& kernel, const Sweeps& schedule, const Step& step) {
  Walk walk(kernel, schedule, step);
  for (const ir::Op* op : step.ops) walk.op(*op);
  for (const ir::Op* op : step.reductions) walk.op(*op);
  return walk.take();
}

TileReads reads_of(const ir::Kernel& kernel, const Sweeps& schedule, const Step& step,
                   const std::vector<ir::Value>& values) {
  Walk walk(kernel, schedule, step);
  for (ir::Value value : values)
    walk.value(value, IndexMap::identity(bits_of_type(kernel.type(value))));
  return walk.take();
}

namespace {

int log_parts(const ir::Op& reduce) {
  return std::countr_zero(static_cast<std::uint64_t>(reduce.integer("parts", 1)));
}

}  // namespace

IndexMap total_map(const ir::Type& shape, const ir::Op& reduce) {
  return slice_map(sizes_of(shape), static_cast<int>(reduce.integer("axis")), log_parts(reduce));
}

IndexMap combined_map(const ir::Type& shape, const ir::Op& reduce) {
  const LogSizes sizes = sizes_of(shape);
  const int axis = static_cast<int>(reduce.integer("axis"));
  const int width = sizes[static_cast<std::size_t>(axis)] - log_parts(reduce);
  return run_map(width, index_bits(sizes),
                 {{.from = first_bit(sizes, axis) + log_parts(reduce), .to = 0, .count = width}});
}

}  // namespace tilewright
