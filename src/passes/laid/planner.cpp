// SPDX-License-Identifier: Apache-2.0
// passes/laid/planner.cpp — levels: which ops share a loop, and in which order loops run.
#include "passes/laid/planner.h"

#include <algorithm>

#include "base/check.h"
#include "passes/choose_units.h"

namespace tilewright {
namespace {

using ir::OpKind;
using Kind = Step::Kind;

constexpr int no_loads = -1;
constexpr int mixed_loads = -2;

int join_epochs(int a, int b) {
  if (a == no_loads || a == b) return b;
  return b == no_loads ? a : mixed_loads;
}

}  // namespace

Planner::Planner(const ir::Kernel& kernel, const SweepPolicy& options, Schedule& out)
    : kernel_(kernel),
      options_(options),
      order_of_memory_(kernel),
      out_(out),
      costs_(kernel.value_count(), 0),
      chain_epochs_(kernel.value_count(), no_loads),
      is_forced_(kernel.value_count(), false),
      is_small_(kernel.value_count(), false),
      demands_(kernel.value_count()),
      regions_(kernel.value_count(), 0) {}

void Planner::run() {
  for (std::uint32_t id = 0; id < is_forced_.size(); ++id) is_forced_[id] = is_apart({id});
  force_operands();
  number_epochs(kernel_.body);
  find_conflicts(kernel_.body);
  for (const ir::Op* op : program_) note_chain(*op);
  note_users();
  plan_region(kernel_.body);
  decide_homes();
  share_arrays();
  out_.steps_ = make_steps(kernel_.body);
}

// Asynchronous products read their right operand where it lies.
void Planner::force_operands() {
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Dot || !is_asynchronous(op)) return;
    ir::Value value = op.operands[1];
    const ir::Op* maker = kernel_.maker(value);
    while (maker && (maker->kind == OpKind::Permute || maker->kind == OpKind::Reshape)) {
      value = maker->operands[0];
      maker = kernel_.maker(value);
    }
    if (maker && (is_view(*maker) || maker->facts().has(ir::Elementwise)))
      is_forced_[value.id] = true;
  });
}

// ---- Facts of the whole program

void Planner::next_epoch(const ir::Op& write) {
  ++epoch_;
  fences_before_.push_back(fences_before_.back() + (write.kind == OpKind::Store ? 0 : 1));
}

void Planner::number_epochs(const ir::Region& region) {
  for (const ir::Op* op : region.ops) {
    program_.push_back(op);
    const bool is_control = op->facts().is(ir::Family::Control);
    const bool writes = effects_of(*op).writes;
    epochs_[op] = epoch_;
    if (writes) next_epoch(*op);
    if (!is_control) continue;
    for (const ir::Region& inner : op->regions) {
      number_epochs(inner);
      if (writes) next_epoch(*op);
    }
  }
}

// In one round of the loops around both.
bool Planner::must_order(const ir::Op& op, const ir::Op& other) const {
  return order_of_memory_.must_order(op, other) &&
         !order_of_memory_.is_apart(op.operands[0], other.operands[0]);
}

// Loads of memory that an op behind them may write. Such a load is not repeated where its value is
// needed: the write may be scheduled before that.
void Planner::find_conflicts(const ir::Region& region) {
  std::vector<const ir::Op*> writes;  // behind the op that is looked at
  for (auto at = region.ops.rbegin(); at != region.ops.rend(); ++at) {
    const ir::Op& op = **at;
    if (op.facts().has(ir::Combines)) continue;
    if (op.kind == OpKind::Load)
      for (const ir::Op* write : writes)
        if (must_order(op, *write)) overwritten_[&op].push_back(write);
    if (op.facts().has(ir::Writes)) writes.push_back(&op);
    for (const ir::Region& inner : op.regions) {
      find_conflicts(inner);
      ir::walk(inner, [&](const ir::Op& nested) {
        if (nested.facts().has(ir::Writes)) writes.push_back(&nested);
      });
    }
  }
}

// Keeps a small tile that is costly to compute and that a broadcast repeats.
void Planner::note_broadcast(const ir::Op& op) {
  if (options_.keep_broadcast_from == 0 || op.kind != OpKind::Broadcast) return;
  ir::Value small = op.operands[0];
  const ir::Op* maker = kernel_.maker(small);
  while (maker && (maker->kind == OpKind::Reshape || maker->kind == OpKind::Hint))
    maker = kernel_.maker(small = maker->operands[0]);
  const bool is_computed = maker && !is_view(*maker) && is_tile(kernel_, small) &&
                           !kernel_.type(small).is_pointer &&
                           (maker->facts().has(ir::Elementwise) || maker->kind == OpKind::Load);
  if (!is_computed || costs_[small.id] < options_.keep_broadcast_from ||
      kernel_.type(small).numel() * 4 > kernel_.type(op.result()).numel())
    return;
  is_forced_[small.id] = is_small_[small.id] = true;
  for (const ir::Value value : {small, op.operands[0]}) {
    costs_[value.id] = 0;
    chain_epochs_[value.id] = no_loads;
  }
}

bool Planner::is_kept_load(const ir::Op& op) const {
  return op.kind == OpKind::Load && (kernel_.type(op.result()).numel() < options_.reload_from ||
                                     op.integer("volatile") != 0 || overwritten_.contains(&op));
}

// The cost of computing an element of the op's result from what is in arrays and memory.
void Planner::note_chain(const ir::Op& op) {
  if (op.results.empty() || !is_tile(kernel_, op.result())) return;
  const bool is_chain = is_view(op) || op.kind == OpKind::Load || (op.facts().has(ir::Elementwise));
  if (!is_chain) return;
  note_broadcast(op);
  int cost = is_view(op) ? 0 : op.facts().cost;
  int epoch = no_loads;
  if (op.kind == OpKind::Load) {
    epoch = is_kept_load(op) ? mixed_loads : epochs_[&op];
    if (is_kept_load(op) && options_.repeats_from_loads) {  // read from its array
      costs_[op.result().id] = 1;
      chain_epochs_[op.result().id] = no_loads;
      return;
    }
  }
  for (const ir::Value operand : op.operands) {
    cost += costs_[operand.id];
    epoch = join_epochs(epoch, chain_epochs_[operand.id]);
  }
  for (const ir::Value result : op.results) {
    costs_[result.id] = std::min(cost, 100000);
    chain_epochs_[result.id] = epoch;
  }
}

bool Planner::can_reload(ir::Value value, int epoch) const {
  const int loaded = chain_epochs_[value.id];
  return loaded == no_loads || loaded == epoch;
}

bool Planner::is_cheap(ir::Value value) const {
  const bool is_pointer = kernel_.type(value).is_pointer;
  return costs_[value.id] <= (is_pointer
                                  ? std::max(options_.pointer_limit, options_.recompute_limit)
                                  : options_.recompute_limit);
}

// ---- Levels

Kind Planner::kind_of(const ir::Op& op) const {
  if (op.facts().is(ir::Family::Control)) return Kind::Control;
  const auto tile = [&](ir::Value value) { return is_tile(kernel_, value); };
  const bool has_tile = std::any_of(op.operands.begin(), op.operands.end(), tile) ||
                        std::any_of(op.results.begin(), op.results.end(), tile);
  if (!has_tile) return Kind::Scalar;
  return op.facts().is(ir::Family::Across) ? Kind::Across : Kind::Elements;
}

// The lowest level at which a step of this kind runs after that one.
int Planner::after(const PlannedStep& before, Kind kind, const ir::Type& shape) const {
  if (before.kind != kind) return before.kind < kind ? before.level : before.level + 1;
  return kind == Kind::Elements && !same_shape(before.shape, shape) ? before.level + 1
                                                                    : before.level;
}

const PlannedStep* Planner::step_of(ir::Value value) const {
  const ir::Op* maker = kernel_.maker(value);
  const auto found = maker ? steps_of_.find(maker) : steps_of_.end();
  return found == steps_of_.end() ? nullptr : &steps_[static_cast<std::size_t>(found->second)];
}

int Planner::level_by_operand(ir::Value operand, Kind kind, const ir::Type& shape, int epoch,
                              int region, Access access) const {
  const PlannedStep* step = step_of(operand);
  if (!step || step->region != region) return 0;
  const ir::Op& maker = *kernel_.maker(operand);
  if (!is_tile(kernel_, operand) || step->kind != Kind::Elements || maker.kind == OpKind::Reduce) {
    // A reduction's result is there after its whole loop.
    if (step->kind == Kind::Elements && kind == Kind::Elements) return step->level + 1;
    return after(*step, kind, shape);
  }
  // A region may yield a view as a tile, and then the view is an array that is filled before.
  if (is_view(maker) && kind != Kind::Control) {
    int level = 0;
    for (const ir::Value inner : maker.operands)
      level = std::max(level, level_by_operand(inner, kind, shape, epoch, region,
                                               through(access, access_of_view(kernel_, maker))));
    return level;
  }
  if (kind != Kind::Elements) return after(*step, kind, shape);
  if (is_apart(operand)) return step->level + 1;
  const bool is_same = access == Access::Same && same_shape(step->shape, shape);
  // What an atomic gives is there once: another element's comes from its array, after the loop.
  const bool is_cheap = costs_[operand.id] <= options_.recompute_limit && !is_small_[operand.id] &&
                        can_reload(operand, epoch) && !is_kept_load(maker) &&
                        !effects_of(maker).writes;
  return is_same || is_cheap ? step->level : step->level + 1;
}

// Whether both ops may run in one loop, element by element in the order of the program. Loads run
// before all stores of their loop, so a load behind a write needs a loop of its own.
bool Planner::may_share_loop(const ir::Op& op, const MemoryOp& before) const {
  const bool is_plain_load = op.kind == OpKind::Load && !effects_of(op).writes;
  if (before.is_write && is_plain_load) return false;
  if (before.op->kind == OpKind::Load && is_apart(before.op->result()) &&
      must_order(op, *before.op))
    return false;
  return !must_order(op, *before.op) ||
         order_of_memory_.is_same_place(op.operands[0], before.op->operands[0]);
}

// Whether no element of a tile of the region meets another: a loop over all of them can then do
// everything with each and keep nothing.
bool Planner::is_streamed(const ir::Region& region) const {
  return std::all_of(region.ops.begin(), region.ops.end(), [&](const ir::Op* op) {
    const Kind kind = kind_of(*op);
    return op->kind != OpKind::Reduce && (kind == Kind::Scalar || kind == Kind::Elements);
  });
}

// Whether this is a load that need not wait for a store before it.
bool Planner::loads_other_memory(const ir::Op& op, const ir::Op& before) const {
  return op.kind == OpKind::Load && op.integer("volatile") == 0 && before.kind == OpKind::Store &&
         !must_order(op, before);
}

// A product reads a slot of a ring while it runs, which is behind the op that names the slot.
Effects Planner::effects_in_order(const ir::Op& op) const {
  Effects effects = effects_of(op);
  if (op.kind != OpKind::Dot) return effects;
  for (const ir::Value operand : op.operands) {
    const ir::Op* maker = kernel_.maker(operand);
    while (maker && is_view(*maker) && !maker->operands.empty())
      maker = kernel_.maker(maker->operands[0]);
    effects.reads |= maker && maker->kind == OpKind::ReadBuffer &&
                     kernel_.is_in_ring(kernel_.buffers[kernel_.buffer_of(*maker)]);
  }
  return effects;
}

// Whether much larger tiles are computed from what this loads.
bool Planner::is_small_load(const ir::Op& op) const {
  return op.kind == OpKind::Load && is_tile(kernel_, op.result()) &&
         kernel_.type(op.result()).numel() * 4 <= largest_tile(kernel_);
}

// A loop for a small tile behind a store would part those of the larger ones, and what is computed
// before it would be kept. Such a tile is kept from the begin instead, when there are few of them.
bool Planner::small_loads_pass(const ir::Region& region) const {
  constexpr int few = 4;
  int behind = 0;
  bool has_store = false;
  for (const ir::Op* op : region.ops) {
    has_store |= op->kind == OpKind::Store;
    behind += has_store && is_small_load(*op) ? 1 : 0;
  }
  return options_.loads_before_stores && behind <= few;
}

int Planner::level_by_memory(const ir::Op& op, Kind kind, const ir::Type& shape,
                             const RegionState& state) const {
  const Effects effects = effects_in_order(op);
  int level = 0;
  for (const MemoryOp& before : state.memory) {
    if (!effects.writes && !(effects.reads && before.is_write)) continue;
    const PlannedStep& step = steps_[static_cast<std::size_t>(before.step)];
    const bool are_elements = kind == Kind::Elements && step.kind == Kind::Elements;
    // Stores to different memory need no order among themselves.
    if (op.kind == OpKind::Store && before.op->kind == OpKind::Store && kind == Kind::Elements &&
        !must_order(op, *before.op))
      continue;
    const bool passes = state.is_streamed || (state.small_loads_pass && is_small_load(op));
    if (passes && loads_other_memory(op, *before.op)) continue;
    level = std::max(level, are_elements && !may_share_loop(op, before) ? step.level + 1
                                                                        : after(step, kind, shape));
  }
  return level;
}

void Planner::free_values(const ir::Op& op, std::vector<ir::Value>& out) const {
  out.insert(out.end(), op.operands.begin(), op.operands.end());
  for (const ir::Region& region : op.regions)
    for (const ir::Op* inner : region.ops) free_values(*inner, out);
}

int Planner::level_of(const ir::Op& op, Kind kind, const ir::Type& shape,
                      const RegionState& state) {
  std::vector<ir::Value> values;
  free_values(op, values);
  int level = level_by_memory(op, kind, shape, state);
  const Access access = is_view(op) ? access_of_view(kernel_, op) : Access::Same;
  for (const ir::Value value : values)
    level =
        std::max(level, level_by_operand(value, kind, shape, epochs_[&op], state.number, access));
  return level;
}

// A copy has a step of its own: it walks through memory in its own way.
int Planner::step_for(const ir::Op& op, Kind kind, int level, const ir::Type& shape,
                      RegionState& state) {
  if (kind == Kind::Elements && op.kind != OpKind::CopyAsync)
    for (const int number : state.steps) {
      const PlannedStep& step = steps_[static_cast<std::size_t>(number)];
      if (step.kind == kind && step.level == level && same_shape(step.shape, shape) &&
          step.ops.front()->kind != OpKind::CopyAsync)
        return number;
    }
  const int number = static_cast<int>(steps_.size());
  steps_.push_back({.kind = kind, .level = level, .region = state.number, .shape = shape});
  state.steps.push_back(number);
  return number;
}

void Planner::plan_op(const ir::Op& op, RegionState& state) {
  if (op.facts().is(ir::Family::Ends)) return;
  const Kind kind = kind_of(op);
  // Loops run over the operands of a reduction and of ops without results, else over the result.
  const bool by_operand = op.results.empty() || op.kind == OpKind::Reduce;
  ir::Type shape;
  if (kind == Kind::Elements)
    shape = kernel_.type(by_operand ? op.operands[0] : op.result()).with_element(i8);
  const int level = level_of(op, kind, shape, state);
  const int number = step_for(op, kind, level, shape, state);
  steps_[static_cast<std::size_t>(number)].ops.push_back(&op);
  steps_of_[&op] = number;
  const Effects effects = effects_in_order(op);
  if (effects.reads || effects.writes) {
    state.memory.push_back({.step = number, .is_write = effects.writes, .op = &op});
  }
}

void Planner::plan_region(const ir::Region& region) {
  RegionState state{.number = region_count_++,
                    .is_streamed = is_streamed(region),
                    .small_loads_pass = small_loads_pass(region)};
  for (const ir::Value argument : region.arguments) regions_[argument.id] = state.number;
  for (const ir::Op* op : region.ops) {
    plan_op(*op, state);
    for (const ir::Value result : op->results) regions_[result.id] = state.number;
  }
  const auto by_level = [&](int a, int b) {
    const PlannedStep& x = steps_[static_cast<std::size_t>(a)];
    const PlannedStep& y = steps_[static_cast<std::size_t>(b)];
    return x.level != y.level ? x.level < y.level : x.kind < y.kind;
  };
  std::stable_sort(state.steps.begin(), state.steps.end(), by_level);
  for (const int number : state.steps) {
    steps_[static_cast<std::size_t>(number)].order = ++order_;
    if (steps_[static_cast<std::size_t>(number)].kind != Kind::Control) continue;
    const ir::Op& control = *steps_[static_cast<std::size_t>(number)].ops.front();
    for (const ir::Region& inner : control.regions) plan_region(inner);
  }
  region_steps_[&region] = std::move(state.steps);
}

}  // namespace tilewright
