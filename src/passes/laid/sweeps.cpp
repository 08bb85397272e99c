// SPDX-License-Identifier: Apache-2.0
// passes/laid/sweeps.cpp — one walk over a Laid kernel.
#include "passes/laid/sweeps.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;
using Kind = Step::Kind;

// Who stands for a buffer that several values share.
enum OwnerRank { Nobody = 0, FirstValue = 1, BranchResult = 2, CarriedValue = 3 };

bool has_buffer(const Op& sweep, std::size_t result) {
  const std::vector<std::string> into = sweep.texts("into");
  return result < into.size() && !into[result].empty();
}

bool is_laid_tile(const ir::Kernel& kernel, const Op& op) {
  const auto tile = [&](Value value) { return kernel.type(value).is_tile(); };
  return std::any_of(op.operands.begin(), op.operands.end(), tile) ||
         std::any_of(op.results.begin(), op.results.end(), tile);
}

// A sweep for the op behind it alone, which computes the tile where it reads it.
bool is_on_demand(const ir::Kernel& kernel, const Op& sweep) {
  if (sweep.results.empty()) return false;
  for (std::size_t k = 0; k < sweep.results.size(); ++k)
    if (has_buffer(sweep, k) || !kernel.type(sweep.results[k]).is_tile()) return false;
  return true;
}

}  // namespace

Sweeps::Sweeps(const ir::Kernel& kernel)
    : kernel_(kernel),
      is_placed_(kernel.value_count(), false),
      is_read_(kernel.value_count(), false),
      is_apart_(kernel.value_count(), false),
      is_used_(kernel.value_count(), false),
      buffers_(kernel.value_count(), -1),
      twins_(kernel.value_count()),
      owner_of_buffer_(kernel.buffers.size()),
      owner_ranks_(kernel.buffers.size(), Nobody) {
  TW_CHECK(kernel.stage == ir::Stage::Laid, "kernel '{}' is not laid", kernel.name);
  steps_ = visit(kernel.body);
  std::sort(repeats_.begin(), repeats_.end(), std::less<>());
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    if (owner_of_buffer_[i]) owners_.push_back(owner_of_buffer_[i]);
}

Value Sweeps::result_of(Value inside) const {
  const Op* maker = kernel_.maker(inside);
  const bool is_result = maker && maker->kind == OpKind::Sweep;
  return !is_result && twins_[inside.id] ? twins_[inside.id] : inside;
}

Value Sweeps::source_of(Value result) const {
  const Op* maker = kernel_.maker(result);
  return maker && maker->kind == OpKind::Sweep ? twins_[result.id] : result;
}

Value Sweeps::storage(Value value) const {
  const int buffer = buffers_[value.id];
  return buffer >= 0 ? owner_of_buffer_[static_cast<std::size_t>(buffer)] : result_of(value);
}

int Sweeps::buffer_of(Value value) const {
  if (buffers_[value.id] >= 0) return buffers_[value.id];
  const Op* maker = kernel_.maker(value);
  return maker && maker->kind == OpKind::ReadBuffer ? static_cast<int>(kernel_.buffer_of(*maker)) : -1;
}

bool Sweeps::is_repeat(const Op& op) const {
  return std::binary_search(repeats_.begin(), repeats_.end(), &op, std::less<>());
}

std::vector<Value> Sweeps::placed_results() const {
  std::vector<Value> out;
  ir::walk(kernel_.body, [&](const Op& op) {
    if (!op.facts().is(ir::Family::Control) && !op.facts().is(ir::Family::Across)) return;
    for (const Value result : op.results)
      if (is_placed(result)) out.push_back(result);
  });
  return out;
}

void Sweeps::place(Value value, const std::string& buffer, int rank) {
  if (!kernel_.type(value).is_tile()) return;
  is_placed_[value.id] = is_read_[value.id] = true;
  if (buffer.empty()) return;
  const std::size_t number = kernel_.buffer_named(buffer);
  buffers_[value.id] = static_cast<int>(number);
  if (rank <= owner_ranks_[number]) return;
  owner_ranks_[number] = rank;
  owner_of_buffer_[number] = value;
}

// What an op outside sweeps gives, and what its regions begin with.
void Sweeps::place_all(const Op& op) {
  const std::vector<std::string> into = op.texts("into");
  const auto buffer = [&](std::size_t k) { return k < into.size() ? into[k] : std::string(); };
  const bool is_loop = op.facts().has(ir::Loops);
  const std::size_t first = op.kind == OpKind::For ? 1 : 0;
  std::size_t at = 0;
  for (const ir::Region& region : op.regions)
    for (std::size_t k = first; is_loop && k < region.arguments.size(); ++k)
      place(region.arguments[k], buffer(at++), CarriedValue);
  const std::size_t behind = is_loop ? at - op.results.size() : 0;
  for (std::size_t k = 0; k < op.results.size(); ++k)
    place(op.results[k], buffer(behind + k), op.kind == OpKind::If ? BranchResult : FirstValue);
}

void Sweeps::visit_sweep(const Op& sweep) {
  const ir::Region& region = sweep.regions[0];
  const std::vector<std::string> into = sweep.texts("into");
  for (std::size_t k = 0; k < sweep.results.size(); ++k) {
    const Value inside = region.ops.back()->operands[k];
    twins_[sweep.results[k].id] = inside;
    twins_[inside.id] = sweep.results[k];
    if (!has_buffer(sweep, k)) continue;
    place(sweep.results[k], into[k], FirstValue);
    is_placed_[inside.id] = true;
    buffers_[inside.id] = buffers_[sweep.results[k].id];
  }
  for (const std::int64_t k : sweep.integers("apart")) {
    const Value result = sweep.results[static_cast<std::size_t>(k)];
    is_apart_[result.id] = is_apart_[twins_[result.id].id] = true;
  }
  for (const std::int64_t i : sweep.integers("repeats"))
    repeats_.push_back(region.ops[static_cast<std::size_t>(i)]);
}

Step Sweeps::elements_of(const Op& sweep) const {
  Step step{.kind = Kind::Elements,
            .op = &sweep,
            .shape = ir::Type::tile(DType::Int8, sweep.integers("shape"))};
  const std::vector<std::int64_t> repeats = sweep.integers("repeats");
  const std::vector<Op*>& ops = sweep.regions[0].ops;
  for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
    const Op& op = *ops[i];
    const auto is_kept = [&](Value value) { return is_placed(value); };
    const bool is_run = !is_view(op) || std::any_of(op.results.begin(), op.results.end(), is_kept);
    if (!is_run || std::count(repeats.begin(), repeats.end(), static_cast<std::int64_t>(i)) != 0)
      continue;
    if (op.kind == OpKind::Reduce) {
      step.reductions.push_back(&op);
      continue;
    }
    step.ops.push_back(&op);
    for (const Value value : op.results)
      if (is_placed(value)) step.kept.push_back(value);
  }
  return step;
}

Step Sweeps::step_of(const Op& op, Kind kind) {
  Step step{.kind = kind, .order = ++order_, .op = &op};
  if (kind == Kind::Elements) {
    step = elements_of(op);
    step.order = order_;
  }
  if (kind == Kind::Control)
    for (const ir::Region& region : op.regions) step.regions.push_back(visit(region));
  return step;
}

Steps Sweeps::visit(const ir::Region& region) {
  Steps steps;
  for (const Op* op : region.ops) {
    for (const Value operand : op->operands) is_used_[operand.id] = true;
    if (op->facts().is(ir::Family::Ends)) continue;
    if (op->kind == OpKind::Sweep) {
      for (const Op* inner : op->regions[0].ops)
        for (const Value operand : inner->operands) is_used_[operand.id] = true;
      visit_sweep(*op);
      if (!is_on_demand(kernel_, *op)) steps.push_back(step_of(*op, Kind::Elements));
      continue;
    }
    if (op->facts().is(ir::Family::Control)) {
      place_all(*op);
      steps.push_back(step_of(*op, Kind::Control));
    } else if (!is_laid_tile(kernel_, *op)) {
      steps.push_back(step_of(*op, Kind::Scalar));
    } else if (op->facts().is(ir::Family::Across)) {
      place_all(*op);
      steps.push_back(step_of(*op, Kind::Across));
    }
  }
  return steps;
}

}  // namespace tilewright
