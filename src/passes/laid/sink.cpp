// SPDX-License-Identifier: Apache-2.0
// passes/laid/sink.cpp — ops that wait for the one later loop that needs their result.
//
//   loop 1: x = load p; y = load q; s = x + y; keep x, y, s      =>    (nothing)
//   loop 2: store a, s; store b, x * y                           =>    x = load p; y = load q; ...
//
// What is computed there need not be kept until then. An op sinks with everything that it is
// computed from, and only where all of that is needed in no other loop.
#include <algorithm>

#include "passes/laid/planner.h"

namespace tilewright {
namespace {

using ir::OpKind;
using Kind = Step::Kind;

constexpr std::size_t most_ops_sunk = 64;

}  // namespace

void Planner::note_users() {
  users_.assign(kernel_.value_count(), {});
  for (std::size_t i = 0; i < program_.size(); ++i) {
    positions_[program_[i]] = i;
    for (const ir::Value operand : program_[i]->operands) users_[operand.id].push_back(program_[i]);
  }
}

// A load, or one that is cast to another type, may wait for a step that needs it, when nothing that
// it reads is written in between and no op that orders memory stands there.
bool Planner::can_sink(const ir::Op& op, const Demand& wanted) const {
  const ir::Op* source = op.kind == OpKind::Cast ? kernel_.maker(op.operands[0]) : nullptr;
  if (source && source->kind == OpKind::Load) return can_sink(*source, wanted);
  return op.kind == OpKind::Load && op.integer("volatile") == 0 &&
         !is_overwritten_before(op, wanted) &&
         fences_before_[static_cast<std::size_t>(epochs_.at(&op))] ==
             fences_before_[static_cast<std::size_t>(wanted.epoch)] &&
         std::all_of(op.operands.begin(), op.operands.end(),
                     [&](ir::Value operand) { return chain_epochs_[operand.id] == -1; });
}

// Adds to `chain` what the value is computed from and what would sink with it; false when some of
// it cannot. Tiles that the step needs anyway, and much smaller ones, stay where they are.
bool Planner::collect_chain(ir::Value value, const Demand& wanted,
                            std::vector<const ir::Op*>& chain) const {
  if (!is_tile(kernel_, value)) return true;
  const ir::Op* maker = kernel_.maker(value);
  if (!maker || chain.size() > most_ops_sunk || regions_[value.id] != region_of(wanted))
    return false;
  if (std::find(chain.begin(), chain.end(), maker) != chain.end()) return true;
  const auto step = steps_of_.find(maker);
  const bool is_there = step != steps_of_.end() && step->second == wanted.step;
  const std::int64_t numel = steps_[static_cast<std::size_t>(wanted.step)].shape.numel();
  if (is_there || kernel_.type(value).numel() * 4 <= numel) return true;
  if (is_forced_[value.id]) return false;
  const auto collect_operands = [&] {
    return std::all_of(maker->operands.begin(), maker->operands.end(),
                       [&](ir::Value operand) { return collect_chain(operand, wanted, chain); });
  };
  if (is_view(*maker)) return access_of_view(kernel_, *maker) == Access::Same && collect_operands();
  chain.push_back(maker);
  if (maker->kind == OpKind::Load) return can_sink(*maker, wanted);
  return maker->facts().has(ir::Elementwise) && maker->facts().has(ir::Pure) &&
         maker->results.size() == 1 && collect_operands();
}

// Whether every op that uses the value is in the chain or in the step. Ops behind the last one of
// the chain are decided: what they want is among the demands.
bool Planner::is_used_only_at(ir::Value value, const Demand& wanted,
                              const std::vector<const ir::Op*>& chain) const {
  const std::vector<Demand>& known = demands_[value.id];
  if (std::any_of(known.begin(), known.end(),
                  [&](const Demand& d) { return d.step != wanted.step; }))
    return false;
  const std::size_t last = positions_.at(chain.front());
  return std::all_of(users_[value.id].begin(), users_[value.id].end(), [&](const ir::Op* user) {
    if (positions_.at(user) >= last || std::find(chain.begin(), chain.end(), user) != chain.end())
      return true;
    if (user->results.size() == 1 && (is_view(*user) || is_widened_load(*user)))
      return is_used_only_at(user->result(), wanted, chain);
    const auto step = steps_of_.find(user);
    return step != steps_of_.end() && step->second == wanted.step;
  });
}

bool Planner::can_sink_chain(const ir::Op& op, const Demand& wanted) const {
  if (wanted.access != Access::Same || !op.facts().has(ir::Elementwise) || op.results.size() != 1)
    return false;
  std::vector<const ir::Op*> chain;
  return collect_chain(op.result(), wanted, chain) && !chain.empty() &&
         std::all_of(chain.begin(), chain.end(), [&](const ir::Op* part) {
           return is_used_only_at(part->result(), wanted, chain);
         });
}

}  // namespace tilewright
