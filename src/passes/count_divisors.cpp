// SPDX-License-Identifier: Apache-2.0
// passes/count_divisors.cpp — from the tiles that want to be runs back to the divisions.
#include "passes/count_divisors.h"

#include <algorithm>
#include <set>

#include "passes/axis_info.h"
#include "passes/axis_info/counts.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Value;

bool has_loop(const Op& op) {
  bool found = false;
  for (const ir::Region& region : op.regions)
    ir::walk(region, [&](const Op& inner) { found |= inner.facts().has(ir::Loops); });
  return found;
}

// Ops of loops without loops in them: what these load may be loaded ahead, for rounds that never
// come, whose divisors mean nothing.
std::set<const Op*> ops_of_innermost_loops(const Kernel& kernel) {
  std::set<const Op*> out;
  ir::walk(kernel.body, [&](const Op& op) {
    if (!op.facts().has(ir::Loops) || has_loop(op)) return;
    for (const ir::Region& region : op.regions)
      ir::walk(region, [&](const Op& inner) { out.insert(&inner); });
  });
  return out;
}

bool is_open_division(const Kernel& kernel, const std::set<const Op*>& ahead, const Op& op) {
  if (op.kind != OpKind::Divide || ahead.contains(&op)) return false;
  const ir::Type& type = kernel.type(op.result());
  return type.is_scalar() && type.is_int() && !keeps_sign(kernel, op);
}

// The open divisions that a value is computed from, through arithmetic and views.
void collect_divisions(const Kernel& kernel, const std::set<const Op*>& ahead, Value value,
                       std::set<std::uint32_t>& seen, std::vector<Op*>& out) {
  const Op* op = kernel.maker(value);
  if (!op || !seen.insert(value.id).second || !op->facts().has(ir::Pure) || !op->regions.empty())
    return;
  if (is_open_division(kernel, ahead, *op)) out.push_back(const_cast<Op*>(op));
  for (const Value operand : op->operands) collect_divisions(kernel, ahead, operand, seen, out);
}

// Whether a tile of remainders has runs once its operand is not negative. Rows that are copied by
// tensor maps are unwrapped whatever divides their number (unwrap_rows.h).
bool wants_sign(const Kernel& kernel, const AxisAnalysis& axes, const Op& op, bool has_maps) {
  if (op.kind != OpKind::Remainder || !kernel.type(op.result()).is_tile() ||
      !kernel.type(op.result()).is_int())
    return false;
  if (!has_maps && axes.of(op.operands[1]).divisor() == 1) return false;
  const AxisInfo& index = axes.of(op.operands[0]);
  return !index.is_not_negative &&
         std::any_of(index.dimensions.begin(), index.dimensions.end(),
                     [](const AxisFacts& facts) { return facts.contiguous > 1; });
}

}  // namespace

std::vector<Op*> open_divisions(Kernel& kernel) {
  const std::set<const Op*> ahead = ops_of_innermost_loops(kernel);
  std::vector<Op*> out;
  ir::walk(kernel.body, [&](Op& op) {
    if (is_open_division(kernel, ahead, op)) out.push_back(&op);
  });
  return out;
}

void count_divisors_of(const std::vector<Op*>& divisions, bool are_counts) {
  for (Op* division : divisions) {
    if (are_counts) division->set("divisor_from", 1.0);
    else
      std::erase_if(division->attributes, [](const ir::Attribute& attribute) {
        return attribute.name == "divisor_from";
      });
  }
}

void count_divisors(Kernel& kernel, const Target& target) {
  if (kernel.stage != ir::Stage::Source) return;
  std::vector<const Op*> wanting;
  {
    const AxisAnalysis axes(kernel);
    ir::walk(kernel.body, [&](const Op& op) {
      if (wants_sign(kernel, axes, op, target.has(Feature::TensorMaps))) wanting.push_back(&op);
    });
  }
  const std::set<const Op*> ahead = ops_of_innermost_loops(kernel);
  for (const Op* op : wanting) {
    std::set<std::uint32_t> seen;
    std::vector<Op*> divisions;
    collect_divisions(kernel, ahead, op->operands[0], seen, divisions);
    if (divisions.empty()) continue;
    count_divisors_of(divisions, true);
    if (!AxisAnalysis(kernel).is_not_negative(op->operands[0])) count_divisors_of(divisions, false);
  }
}

}  // namespace tilewright
