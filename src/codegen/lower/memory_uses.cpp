// SPDX-License-Identifier: Apache-2.0
// codegen/lower/memory_uses.cpp — pairs of accesses that no barrier parts yet.
#include "codegen/lower/memory_uses.h"

#include <algorithm>
#include <utility>

#include "ir/roles.h"
#include "passes/defer_stores.h"

namespace tilewright {
namespace {

bool holds(const MemoryUses::Uses& uses, const MemoryUses::Use& use) {
  return std::find(uses.begin(), uses.end(), use) != uses.end();
}

bool is_inside(const ir::Op& loop, const ir::Op& wanted) {
  bool found = false;
  for (const ir::Region& region : loop.regions)
    ir::walk(region, [&](const ir::Op& op) { found |= &op == &wanted; });
  return found;
}

}  // namespace

// Whether both accesses are in order without a barrier: they never meet, or one thread makes both.
bool MemoryUses::is_ordered(const Use& before, const Use& use) const {
  const ir::Op& op = *use.op;
  if (!order_.must_order(*before.op, op)) return true;
  // Programs that a block takes one after the other are in no order.
  if (before.loop && ir::is_over_programs(kernel_, *before.loop)) return true;
  if (is_deferred_store(kernel_, *before.op) && is_deferred_store(kernel_, op)) return true;
  const ir::Value pointer = op.operands[0];
  const bool is_in_round = !before.loop || order_.is_same_in_rounds(*before.loop, pointer);
  if (is_in_round && order_.is_apart(before.op->operands[0], pointer)) return true;
  const bool is_same_place = order_.is_same_place(before.op->operands[0], pointer);
  if (before.loop && order_.is_apart_in_rounds(*before.loop, *before.op, op)) return true;
  if (before.is_anyone) return false;
  // Thread 0 alone writes scalars, one after the other.
  const bool are_writes = before.op->facts().has(ir::Writes) && op.facts().has(ir::Writes);
  if (!before.layout && !use.layout) return are_writes;
  // Through another view a thread has other elements of the access.
  const bool is_same_owner = before.layout && use.layout && *before.layout == *use.layout &&
                             use.layout->copy_bits() == 0 && before.map == use.map;
  return is_same_owner && is_same_place && is_in_round;
}

bool MemoryUses::needs_barrier(const Use& use) {
  bool needs = false;
  bool is_feared = false;
  for (const Use& before : uses_) {
    if (is_ordered(before, use)) continue;
    needs = true;
    is_feared |= before.is_anyone;
  }
  has_feared_rounds_ |= is_feared;
  return needs;
}

void MemoryUses::note(Use use) {
  if (ir::is_access(kernel_, *use.op) && !holds(uses_, use)) uses_.push_back(std::move(use));
}

void MemoryUses::merge(const Uses& uses) {
  for (const Use& use : uses)
    if (!holds(uses_, use)) uses_.push_back(use);
}

void MemoryUses::begin_loop(const ir::Op& loop) {
  if (const auto found = assumed_.find(&loop); found != assumed_.end()) return merge(found->second);
  for (const ir::Region& region : loop.regions)
    ir::walk(region, [&](const ir::Op& op) {
      if (ir::is_access(kernel_, op)) merge({{.op = &op, .is_anyone = true, .loop = &loop}});
    });
}

void MemoryUses::end_loop(const ir::Op& loop, const Uses& before) {
  Uses& end = loop_ends_[&loop];
  for (Use use : uses_) {
    if (is_inside(loop, *use.op)) use.loop = &loop;
    if (!holds(end, use)) end.push_back(use);
  }
  merge(before);
}

bool MemoryUses::holds_assumed() const {
  return std::all_of(assumed_.begin(), assumed_.end(), [&](const auto& loop) {
    const auto found = loop_ends_.find(loop.first);
    return found != loop_ends_.end() &&
           std::all_of(found->second.begin(), found->second.end(),
                       [&](const Use& use) { return holds(loop.second, use); });
  });
}

}  // namespace tilewright
