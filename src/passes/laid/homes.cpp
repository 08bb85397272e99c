// SPDX-License-Identifier: Apache-2.0
// passes/laid/homes.cpp — which tiles are kept, and the final steps without what nobody needs.
#include <algorithm>

#include "passes/laid/planner.h"

namespace tilewright {
namespace {

using ir::OpKind;
using Kind = Step::Kind;

}  // namespace

void Planner::demand(ir::Value value, const Demand& wanted) {
  if (!is_tile(kernel_, value)) return;
  std::vector<Demand>& all = demands_[value.id];
  const auto is_known = [&](const Demand& d) {
    return d.step == wanted.step && d.access == wanted.access && d.epoch == wanted.epoch;
  };
  if (std::none_of(all.begin(), all.end(), is_known)) all.push_back(wanted);
}

void Planner::demand_operands(const ir::Op& op, int step, Access access, int epoch) {
  const Access whole = is_view(op) ? through(access, access_of_view(kernel_, op)) : access;
  for (const ir::Value operand : op.operands) demand(operand, {step, whole, epoch});
}

// Whether the chain of `value` may be computed once more where it is wanted.
bool Planner::can_repeat(ir::Value value, const Demand& wanted) const {
  if (wanted.access == Access::Array || !is_cheap(value)) return false;
  if (const ir::Op* maker = kernel_.maker(value); maker && is_kept_load(*maker)) return false;
  const bool is_inside = steps_[static_cast<std::size_t>(wanted.step)].region != regions_[value.id];
  return can_reload(value, is_inside ? -3 : wanted.epoch);
}

// Whether a write could change what the load reads before it is wanted. In the step of a write to
// the same place every element is read before it is written.
bool Planner::is_overwritten_before(const ir::Op& load, const Demand& wanted) const {
  const auto found = overwritten_.find(&load);
  if (found == overwritten_.end()) return false;
  const int order = steps_[static_cast<std::size_t>(wanted.step)].order;
  return std::any_of(found->second.begin(), found->second.end(), [&](const ir::Op* write) {
    const auto step = steps_of_.find(write);
    return step == steps_of_.end() || wanted.access != Access::Same ||
           !order_of_memory_.is_same_place(load.operands[0], write->operands[0]) ||
           steps_[static_cast<std::size_t>(step->second)].order < order;
  });
}

// Whether this is a load in a wider type: the load itself takes less space.
bool Planner::is_widened_load(const ir::Op& op) const {
  if (op.kind != OpKind::Cast || !options_.keeps_narrow) return false;
  const ir::Op* source = kernel_.maker(op.operands[0]);
  return source && source->kind == OpKind::Load &&
         kernel_.type(op.operands[0]).element_bytes() < kernel_.type(op.result()).element_bytes();
}

Home Planner::home_for(const ir::Op& op, ir::Value value) const {
  const int own = steps_of_.at(&op);
  const auto is_own = [&](const Demand& d) { return d.step == own && d.access == Access::Same; };
  const std::vector<Demand>& wanted = demands_[value.id];
  if (is_forced_[value.id]) return Home::Stored;
  if (wanted.empty()) return Home::None;
  if (std::all_of(wanted.begin(), wanted.end(), is_own)) return Home::Local;
  const bool is_computed_pure = op.facts().has(ir::Pure) || op.kind == OpKind::Load;
  if (!is_computed_pure || effects_of(op).writes) return Home::Stored;
  const bool repeats = std::all_of(wanted.begin(), wanted.end(), [&](const Demand& d) {
    return is_own(d) || can_repeat(value, d);
  });
  if (repeats) return Home::Recomputed;
  // Wanted in one other place, each element once: it is computed there instead.
  const Demand& only = wanted.front();
  const bool is_load_itself = op.kind == OpKind::Load && options_.repeats_from_loads;
  const auto is_possible_there = [&](const Demand& d) {
    const int loaded = chain_epochs_[value.id];
    return (!is_load_itself && (loaded == -1 || loaded == d.epoch)) || can_sink(op, d) ||
           can_sink_chain(op, d);
  };
  const bool moves =
      only.access <= Access::Once &&
      steps_[static_cast<std::size_t>(only.step)].kind == Kind::Elements &&
      region_of(only) == regions_[value.id] &&
      std::all_of(wanted.begin(), wanted.end(), [&](const Demand& d) {
        return d.step == only.step && d.access == only.access && is_possible_there(d);
      });
  const bool has_array_access = std::any_of(
      wanted.begin(), wanted.end(), [](const Demand& d) { return d.access == Access::Array; });
  const bool repeats_load = is_widened_load(op) && !has_array_access;
  return moves || repeats_load || is_better_as_load(op, value) ? Home::Recomputed : Home::Stored;
}

// An elementwise op, a load, or a view that must be an array.
void Planner::decide_computed(const ir::Op& op) {
  const int own = steps_of_.at(&op);
  const int own_order = steps_[static_cast<std::size_t>(own)].order;
  const int epoch = epochs_.at(&op);
  bool runs = op.facts().has(ir::Writes) || effects_of(op).writes;
  for (const ir::Value value : op.results) {
    const Home home = home_for(op, value);
    out_.homes_[value.id] = home;
    runs |= home == Home::Stored || home == Home::Local;
    for (const Demand& wanted : demands_[value.id]) {
      const bool is_own = wanted.step == own && wanted.access == Access::Same;
      if (is_own) runs = true;
      const bool reads_array =
          home == Home::Stored && steps_[static_cast<std::size_t>(wanted.step)].order > own_order;
      if (!is_own && !reads_array) demand_operands(op, wanted.step, wanted.access, wanted.epoch);
    }
  }
  if (runs) demand_operands(op, own, Access::Same, epoch);
  else steps_of_.erase(&op);
}

void Planner::decide(const ir::Op& op) {
  const int epoch = epochs_.at(&op);
  if (op.facts().is(ir::Family::Ends)) {
    for (const ir::Value value : op.operands) {
      if (!is_tile(kernel_, value)) continue;
      const ir::Op* maker = kernel_.maker(value);
      if (!maker || !is_uniform(*maker)) is_forced_[value.id] = true;
    }
    return;
  }
  const auto found = steps_of_.find(&op);
  if (found == steps_of_.end()) return;
  const int own = found->second;
  const Kind kind = steps_[static_cast<std::size_t>(own)].kind;
  if (kind == Kind::Scalar) return;
  if (kind != Kind::Elements || op.kind == OpKind::Reduce) {
    for (const ir::Value value : op.results)
      if (is_tile(kernel_, value)) out_.homes_[value.id] = Home::Stored;
    demand_operands(op, own, kind == Kind::Across ? Access::Array : Access::Same, epoch);
    return;
  }
  const auto is_forced = [&](ir::Value value) { return is_forced_[value.id]; };
  if (!is_view(op) || std::any_of(op.results.begin(), op.results.end(), is_forced))
    return decide_computed(op);
  for (const ir::Value value : op.results) {
    if (!demands_[value.id].empty()) out_.homes_[value.id] = Home::Virtual;
    for (const Demand& wanted : demands_[value.id])
      demand_operands(op, wanted.step, wanted.access, wanted.epoch);
  }
  steps_of_.erase(&op);
}

// From the last op to the first, so that every use is known before its value.
void Planner::decide_homes() {
  out_.homes_.assign(kernel_.value_count(), Home::None);
  out_.available_.assign(kernel_.value_count(), 0);
  for (const ir::Op* op : program_)
    if (!op->facts().has(ir::Combines))
      for (const ir::Region& region : op->regions)
        for (const ir::Value argument : region.arguments)
          if (is_tile(kernel_, argument)) out_.homes_[argument.id] = Home::Stored;
  for (auto at = program_.rbegin(); at != program_.rend(); ++at) decide(**at);
  for (const auto& [op, step] : steps_of_)
    for (const ir::Value value : op->results)
      out_.available_[value.id] = steps_[static_cast<std::size_t>(step)].order;
}

Step Planner::make_step(const PlannedStep& planned) {
  Step step{.kind = planned.kind, .order = planned.order, .shape = planned.shape};
  if (planned.kind != Kind::Elements) {
    step.op = planned.ops.front();
    if (planned.kind == Kind::Control)
      for (const ir::Region& region : step.op->regions) step.regions.push_back(make_steps(region));
    return step;
  }
  for (const ir::Op* op : planned.ops) {
    if (!steps_of_.contains(op)) continue;
    (op->kind == OpKind::Reduce ? step.reductions : step.ops).push_back(op);
    if (op->kind == OpKind::Reduce) continue;
    for (const ir::Value value : op->results)
      if (out_.homes_[value.id] == Home::Stored) step.kept.push_back(value);
  }
  return step;
}

Steps Planner::make_steps(const ir::Region& region) {
  Steps steps;
  for (const int number : region_steps_.at(&region)) {
    Step step = make_step(steps_[static_cast<std::size_t>(number)]);
    if (step.kind == Kind::Elements && step.ops.empty() && step.reductions.empty()) continue;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace tilewright
