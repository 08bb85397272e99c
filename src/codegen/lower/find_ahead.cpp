// SPDX-License-Identifier: Apache-2.0
// codegen/lower/find_ahead.cpp — which loops have slots that only one product reads, registers for
// the words of two steps, and copies that can start at any place.
#include "codegen/lower/find_ahead.h"

#include <algorithm>

#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;

namespace {

constexpr int most_words = 200;  // of sums and of two steps' operands; a thread has 255 registers

// A step may have no ops, only reductions of what an earlier one kept.
bool is_copy_step(const Step& step) {
  return step.kind == Step::Kind::Elements && !step.ops.empty() &&
         step.ops.front()->kind == OpKind::CopyAsync;
}

bool holds_copies(const Step& branch) {
  return std::any_of(branch.regions[0].begin(), branch.regions[0].end(), is_copy_step);
}

// What is written must stay before, or behind, what later rounds copy.
bool writes_in(const ir::Op& loop) {
  bool out = false;
  ir::walk(loop.regions[0], [&](const ir::Op& op) {
    out |= op.facts().has(ir::Writes) && op.kind != OpKind::CopyAsync;
  });
  return out;
}

bool uses_shared(const ThreadState& state, const Step& step, bool slots_only) {
  for (const TileRead& read : reads_of(state.laid, state.facts.sweeps, step).arrays)
    if (state.layouts.is_slot(read.value) || (!slots_only && state.layouts.is_shared(read.value)))
      return true;
  for (const ir::Value value : step.kept)
    if (!slots_only && state.layouts.is_shared(value)) return true;
  return !slots_only && !step.reductions.empty();
}

bool finds_slots(const ThreadState& state, const ir::Op& loop, LoopAhead& out) {
  const DotPlan& plan = state.layouts.plan_of(*out.dot->op);
  if (plan.sizes.depth <= plan.shape.log_depth || plan.sizes.batch != 0) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::optional<ProductPlans::SharedView> view =
        state.products.shared_view(*out.dot, out.dot->op->operands[side]);
    if (!view || !state.layouts.is_slot(view->array)) return false;
    out.reads[side] = state.laid.maker(view->array);
    const ir::Value slot = out.reads[side]->operands[0];
    if (out.slot && slot != out.slot) return false;
    out.slot = slot;
  }
  const std::vector<ir::Value>& arguments = loop.regions[0].arguments;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] != out.slot) continue;
    out.initial_slot = loop.operands[i + 2];
    out.next_slot = loop.regions[0].ops.back()->operands[i - 1];
    return true;
  }
  return false;
}

// Whether there are registers for two steps' words.
bool has_room(const ThreadState& state, const LoopAhead& ahead) {
  int words = state.layouts.plan_of(*ahead.dot->op).layouts.result.register_count();
  for (const bool is_left : {true, false}) {
    const ProductPlans::DotOperand operand = state.products.operand_of(*ahead.dot, is_left);
    if (!state.products.matrix_view(*ahead.dot, operand)) return false;
    words += 2 << (operand.log_words + operand.log_tiles);
  }
  return words <= most_words;
}

// Whether the copies of a branch can start at any place: each is a call without more around it.
bool can_start_beside(ThreadState& state, const Step& branch) {
  if (!branch.regions[1].empty() || !branch.op->results.empty()) return false;
  return std::all_of(branch.regions[0].begin(), branch.regions[0].end(), [&](const Step& step) {
    if (!is_copy_step(step)) return false;
    const ElementPlans::ElementLoop loop = state.plans.copy_loop(step);
    return loop.log_slices == 0 && state.plans.can_copy_vectors(loop, *step.ops.front());
  });
}

// None when something else than one product reads the slots, or when shared memory is used behind
// it: the barrier inside the product is the only one of a round.
std::optional<LoopAhead> find_reads_ahead(ThreadState& state, const Step& loop) {
  LoopAhead out;
  for (const Step& step : loop.regions[0]) {
    if (step.kind == Step::Kind::Elements) {
      if (uses_shared(state, step, out.dot == nullptr)) return std::nullopt;
      continue;
    }
    const OpKind kind = step.op->kind;
    if (kind == OpKind::WaitCopies || kind == OpKind::CommitCopies) {
      const Step*& only = kind == OpKind::WaitCopies ? out.wait : out.commit;
      if (only || out.dot) return std::nullopt;
      only = &step;
    } else if (kind == OpKind::Dot) {
      if (out.dot || !state.layouts.fits(*step.op)) return std::nullopt;
      out.dot = &step;
    } else if (kind == OpKind::If && !out.dot && !out.copies && holds_copies(step)) {
      if (can_start_beside(state, step)) out.copies = &step;
    } else if (step.kind == Step::Kind::Control || (step.kind == Step::Kind::Across && out.dot)) {
      return std::nullopt;
    }
  }
  const bool is_whole = out.wait && out.commit && out.dot && !writes_in(*loop.op);
  if (!is_whole || !finds_slots(state, *loop.op, out) || !has_room(state, out)) return std::nullopt;
  out.loop = loop.op;
  out.reads_ahead = true;
  return out;
}

// Other loops: copies start between the steps of the first product behind them.
std::optional<LoopAhead> find_beside(ThreadState& state, const Step& loop) {
  LoopAhead out;
  for (const Step& step : loop.regions[0]) {
    if (step.kind == Step::Kind::Elements) continue;
    const OpKind kind = step.op->kind;
    if (kind == OpKind::If && !out.copies && holds_copies(step) && can_start_beside(state, step)) {
      out.copies = &step;
    } else if (kind == OpKind::CommitCopies) {
      if (out.commit || !out.copies) return std::nullopt;
      out.commit = &step;
    } else if (kind == OpKind::Dot && out.commit) {
      const DotPlan& plan = state.layouts.plan_of(*step.op);
      const bool has_steps = plan.sizes.depth > plan.shape.log_depth && plan.sizes.batch == 0;
      if (!state.layouts.fits(*step.op) || !has_steps || writes_in(*loop.op)) return std::nullopt;
      out.dot = &step;
      return out;
    } else if (step.kind == Step::Kind::Control) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<LoopAhead> find_ahead(ThreadState& state, const Step& loop) {
  const bool is_of_groups =
      std::any_of(loop.regions[0].begin(), loop.regions[0].end(), [&](const Step& step) {
        return step.kind == Step::Kind::Across && step.op->kind == OpKind::Dot &&
               state.products.is_by_warpgroups(step);
      });
  if (is_of_groups) return std::nullopt;
  if (auto ahead = find_reads_ahead(state, loop)) return ahead;
  return find_beside(state, loop);
}

}  // namespace tilewright
