// SPDX-License-Identifier: Apache-2.0
// passes/laid/narrow.cpp — tiles that are kept as the load that they are computed from.
//
//   loop 1: w = load p : bf16; t = f32(w) + 1; keep t      =>    w = load p : bf16; keep w
//   loop 2: store a, x * t                                 =>    t = f32(w) + 1; store a, x * t
//
// A load of a narrower type takes fewer registers than what is computed from it, and one that is
// kept for another reason takes none more.
#include <algorithm>

#include "passes/laid/planner.h"

namespace tilewright {

using ir::OpKind;

// The one load that the value is computed from, together with uniform values, by ops that cost no
// more than may be repeated; null when there is none. Adds what they cost.
const ir::Op* Planner::only_load_of(ir::Value value, int& cost) const {
  const ir::Op* maker = kernel_.maker(value);
  if (!maker || maker->kind == OpKind::Load) return maker;
  const ir::OpFacts& facts = maker->facts();
  if (!facts.has(ir::Elementwise) || !facts.has(ir::Pure) || maker->results.size() != 1)
    return nullptr;
  cost += facts.cost;
  if (cost > options_.recompute_limit) return nullptr;
  const ir::Op* load = nullptr;
  for (const ir::Value operand : maker->operands) {
    const ir::Op* source = kernel_.maker(operand);
    if (!is_tile(kernel_, operand) || (source && is_uniform(*source))) continue;
    const ir::Op* found = only_load_of(operand, cost);
    if (!found || (load && found != load)) return nullptr;
    load = found;
  }
  return load;
}

// Whether each step that wants the value reads the load at the same place, and would keep nothing
// for it alone.
bool Planner::is_better_as_load(const ir::Op& op, ir::Value value) const {
  if (!options_.keeps_narrow || op.kind == OpKind::Load) return false;
  int cost = 0;
  const ir::Op* load = only_load_of(value, cost);
  if (!load || regions_[load->result().id] != regions_[value.id]) return false;
  const bool is_narrow =
      kernel_.type(value).numel() >= options_.narrow_from &&
      kernel_.type(load->result()).element_bytes() < kernel_.type(value).element_bytes();
  const std::vector<Demand>& of_load = demands_[load->result().id];
  const auto reads_load = [&](int step) {
    return step == steps_of_.at(&op) ||
           std::any_of(of_load.begin(), of_load.end(),
                       [&](const Demand& d) { return d.step == step && d.access == Access::Same; });
  };
  const std::vector<Demand>& wanted = demands_[value.id];
  return std::all_of(wanted.begin(), wanted.end(), [&](const Demand& d) {
    return d.access == Access::Same && region_of(d) == regions_[value.id] &&
           (is_narrow || reads_load(d.step));
  });
}

}  // namespace tilewright
