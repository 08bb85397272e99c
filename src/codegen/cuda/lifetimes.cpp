// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/lifetimes.cpp — every use of an array in the order of steps, then loops.
#include "codegen/cuda/lifetimes.h"

#include <algorithm>

#include "passes/laid/op_facts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

using ir::OpKind;
using Kind = Step::Kind;

const Step at_end{.order = 1 << 30};

void widen(Lifetime& lifetime, int order) {
  lifetime.first = std::min(lifetime.first, order);
  lifetime.last = std::max(lifetime.last, order);
}

constexpr Lifetime never{.first = std::numeric_limits<int>::max(), .last = -1};

}  // namespace

Lifetimes::Lifetimes(const ir::Kernel& kernel, const Sweeps& schedule)
    : kernel_(kernel), schedule_(schedule), buffers_(kernel.buffers.size(), never) {
  visit(schedule.steps());
  extend_over_loops();
}

Lifetime Lifetimes::of(ir::Value value) const {
  const auto found = arrays_.find(schedule_.storage(value).id);
  return found == arrays_.end() ? Lifetime{} : found->second;
}

void Lifetimes::use(ir::Value value, int order) {
  if (!is_tile(kernel_, value) || !schedule_.is_placed(value)) return;
  const ir::Value storage = schedule_.storage(value);
  widen(arrays_.try_emplace(storage.id, never).first->second, order);
  const ir::Op* maker = kernel_.maker(storage);
  if (maker && maker->kind == OpKind::ReadBuffer) widen(buffers_[kernel_.buffer_of(*maker)], order);
}

void Lifetimes::use_reads(const Step& at, const std::vector<ir::Value>& values, int order) {
  for (const TileRead& read : reads_of(kernel_, schedule_, at, values).arrays)
    use(read.value, order);
}

int Lifetimes::visit(const Steps& steps) {
  int last = 0;
  for (const Step& step : steps) last = std::max(last, visit(step));
  return last;
}

int Lifetimes::visit(const Step& step) {
  if (step.kind == Kind::Control) return visit_control(step);
  if (step.kind == Kind::Across) {
    for (const ir::Value result : step.op->results) use(result, step.order);
    use_reads(step, step.op->operands, step.order);
  }
  if (step.kind == Kind::Elements) {
    for (const ir::Value value : step.kept) use(value, step.order);
    for (const TileRead& read : reads_of(kernel_, schedule_, step).arrays)
      use(read.value, step.order);
    for (const ir::Op* op : step.reductions)
      for (const ir::Value result : op->results) use(result, step.order);
    for (const ir::Op* op : step.ops)
      if (op->kind == OpKind::CopyAsync) widen(buffers_[kernel_.buffer_of(*op)], step.order);
  }
  return step.order;
}

// What enters a region is made by the control step itself; what a region yields, at its end.
int Lifetimes::visit_control(const Step& step) {
  const ir::Op& op = *step.op;
  for (const ir::Value operand : op.operands)
    if (is_tile(kernel_, operand)) use_reads(step, {operand}, step.order);
  for (const ir::Value result : op.results) use(result, step.order);
  int last = step.order;
  for (std::size_t i = 0; i < op.regions.size(); ++i) {
    for (const ir::Value argument : op.regions[i].arguments) use(argument, step.order);
    last = std::max(last, visit(step.regions[i]));
    for (const ir::Value value : op.regions[i].ops.back()->operands)
      if (is_tile(kernel_, value)) use_reads(at_end, {value}, last);
  }
  for (const ir::Value result : op.results) use(result, last);
  if (op.kind != OpKind::If) loops_.push_back({step.order, last});
  return last;
}

void Lifetimes::extend_over_loops() {
  const auto extend = [&](Lifetime& lifetime) {
    for (const Lifetime& loop : loops_) {
      const bool is_inside = lifetime.first > loop.first && lifetime.last <= loop.last;
      if (is_inside || !lifetime.meets(loop)) continue;
      widen(lifetime, loop.first);
      widen(lifetime, loop.last);
    }
  };
  for (auto& [storage, lifetime] : arrays_) extend(lifetime);
  for (Lifetime& lifetime : buffers_) extend(lifetime);
}

}  // namespace tilewright
