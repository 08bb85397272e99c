// SPDX-License-Identifier: Apache-2.0
// codegen/schedule/storage.cpp — arrays shared by the values that follow each other in a loop or
// come together after a branch, so that nothing is copied.
#include <algorithm>

#include "codegen/schedule/planner.h"

namespace tilewright {

using ir::OpKind;
using Kind = Step::Kind;

Schedule::Schedule(const ir::Kernel& kernel, const SweepPolicy& options) {
  Planner(kernel, options, *this).run();
}

ir::Value Schedule::storage(ir::Value value) const {
  while (storages_[value.id]) value = storages_[value.id];
  return value;
}

bool Schedule::is_in_array(ir::Value value, const Step& step) const {
  return homes_[value.id] == Home::Stored && available_[value.id] < step.order;
}

void Planner::use_array_of(ir::Value value, ir::Value owner) {
  if (out_.storage(value) != out_.storage(owner))
    out_.storages_[out_.storage(value).id] = out_.storage(owner);
}

// Whether another region than that of `end` hands the value on: it is read where that region ends,
// which no demand tells.
bool Planner::is_yielded(ir::Value value, const ir::Op* end) const {
  const std::vector<const ir::Op*>& users = users_[value.id];
  return std::any_of(users.begin(), users.end(), [&](const ir::Op* user) {
    return user != end && user->facts().is(ir::Family::Ends);
  });
}

// Whether `next` may be written over `carried` while the body runs: nothing reads the old elements
// afterwards, and what reads them in the same loop reads the same element.
bool Planner::may_overwrite(ir::Value next, ir::Value carried, const ir::Op& end) const {
  if (next.id < options_.unshared.size() && options_.unshared[next.id]) return false;
  // A product that shares its accumulator's array is written where that is.
  const ir::Value written = out_.storages_[next.id] && kernel_.maker(next)->kind == OpKind::Dot
                                ? kernel_.maker(next)->operands[2]
                                : next;
  const PlannedStep* maker = step_of(written);
  if (!maker || out_.homes_[next.id] != Home::Stored || out_.storages_[written.id] ||
      maker->region != regions_[carried.id] || out_.storage(next) != out_.storage(written))
    return false;
  const ir::Op& op = *kernel_.maker(written);
  const bool is_dot_sum = op.kind == OpKind::Dot && op.operands[2] == carried &&
                          op.operands[0] != carried && op.operands[1] != carried;
  if ((maker->kind != Kind::Elements || op.kind == OpKind::Reduce) && !is_dot_sum) return false;
  if (std::count(end.operands.begin(), end.operands.end(), next) != 1 ||
      std::count(end.operands.begin(), end.operands.end(), carried) != 0 ||
      is_yielded(carried, &end))
    return false;
  const auto is_harmless = [&](const Demand& d) {
    const PlannedStep& reader = steps_[static_cast<std::size_t>(d.step)];
    if (reader.order == maker->order)
      return is_dot_sum ||
             (d.access == Access::Same && same_shape(kernel_.type(carried), reader.shape));
    // Steps inside a control step have orders between it and the next step.
    return reader.order < maker->order;
  };
  // A product that goes on still reads its left operand while the next one is computed.
  for (const ir::Op* user : users_[carried.id])
    if (user->kind == OpKind::Dot && user->integer("pending", 0) > 0 && user->operands[0] == carried) return false;
  // Those of a product that was made in the carried array, too.
  std::vector<Demand> reads = demands_[carried.id];
  for (const ir::Op* user : users_[carried.id])
    if (user->kind == OpKind::Dot && out_.storage(user->result()) == carried)
      reads.insert(reads.end(), demands_[user->result().id].begin(), demands_[user->result().id].end());
  return std::all_of(reads.begin(), reads.end(), is_harmless);
}

void Planner::share_loop(const ir::Op& op) {
  const ir::Region& body = op.regions.back();
  const ir::Op& end = *body.ops.back();
  const std::size_t inputs = op.operands.size() - op.results.size();
  const std::size_t arguments = body.arguments.size() - op.results.size();
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    const ir::Value carried = body.arguments[arguments + k];
    if (!is_tile(kernel_, carried)) continue;
    use_array_of(op.results[k], carried);
    if (op.kind != OpKind::For) continue;
    if (may_overwrite(end.operands[k], carried, end)) use_array_of(end.operands[k], carried);
    // An initial value that nothing else reads is made in place.
    const ir::Value initial = op.operands[inputs + k];
    const PlannedStep* maker = step_of(initial);
    const bool is_only_here = demands_[initial.id].size() == 1 && !is_yielded(initial) &&
                              std::count(op.operands.begin(), op.operands.end(), initial) == 1;
    if (maker && maker->kind == Kind::Elements && out_.homes_[initial.id] == Home::Stored &&
        !out_.storages_[initial.id] && is_only_here && maker->region == regions_[op.results[k].id])
      use_array_of(initial, carried);
  }
}

void Planner::share_branch(const ir::Op& op) {
  for (const ir::Region& region : op.regions) {
    const ir::Op& end = *region.ops.back();
    for (std::size_t k = 0; k < op.results.size(); ++k) {
      const ir::Value value = end.operands[k];
      const PlannedStep* maker = step_of(value);
      const bool is_own =
          maker && maker->kind == Kind::Elements && out_.homes_[value.id] == Home::Stored &&
          !out_.storages_[value.id] &&
          std::find(region_steps_.at(&region).begin(), region_steps_.at(&region).end(),
                    steps_of_.at(kernel_.maker(value))) != region_steps_.at(&region).end();
      if (is_own && std::count(end.operands.begin(), end.operands.end(), value) == 1)
        use_array_of(value, op.results[k]);
    }
  }
}

void Planner::share_accumulator(const ir::Op& op) {
  const ir::Value accumulator = op.operands[2];
  const PlannedStep* maker = step_of(accumulator);
  if (maker && maker->kind == Kind::Elements && out_.homes_[accumulator.id] == Home::Stored &&
      demands_[accumulator.id].size() == 1 && !is_yielded(accumulator) &&
      accumulator != op.operands[0] && accumulator != op.operands[1] &&
      maker->region == regions_[op.result().id])
    use_array_of(op.result(), accumulator);
}

// A product that goes on adds to the tile that its loop carries where it lies, if it is the only one to read it: what the round
// yields for it is made from the product.
void Planner::share_carried_sum(const ir::Op& op) {
  const ir::Value sum = op.operands[2];
  const bool is_carried = !kernel_.maker(sum) && regions_[sum.id] != 0 && regions_[sum.id] == regions_[op.result().id];
  if (op.integer("pending", 0) > 0 && is_carried && demands_[sum.id].size() == 1 && !is_yielded(sum) && !is_yielded(op.result()))
    use_array_of(op.result(), sum);
}

void Planner::share_arrays() {
  out_.storages_.assign(kernel_.value_count(), ir::Value{});
  for (const ir::Op* op : program_)
    if (op->kind == OpKind::Dot && options_.shares_accumulators) {
      share_accumulator(*op);
      share_carried_sum(*op);
    }
  for (const ir::Op* op : program_) {
    if (op->facts().has(ir::Loops)) share_loop(*op);
    if (op->kind == OpKind::If) share_branch(*op);
  }
}

}  // namespace tilewright
