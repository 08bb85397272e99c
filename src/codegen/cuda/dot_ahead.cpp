// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/dot_ahead.cpp — a loop around a matrix product whose operands lie in slots of
// buffers: tensor cores never wait for shared memory.
//
// The words of a step along the depth are read while those of the step before are multiplied, also
// from one round to the next: the wait for the next round's slots, and the barrier that goes with
// it, stand before the last step's multiplications. Copies of later rounds start between the
// steps, a few at a time.
#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "codegen/schedule/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

constexpr int most_words = 200;  // of sums and of two steps' operands; a thread has 255 registers

bool has_copies(const Step& branch) {
  for (const Step& step : branch.regions[0])
    if (step.kind == Step::Kind::Elements && step.ops.front()->kind == OpKind::CopyAsync)
      return true;
  return false;
}

}  // namespace

// ---- Which loops

// None when something else than one product reads the slots, or when shared memory is used behind
// it: the barrier inside the product is the only one of a round.
std::optional<Emitter::Ahead> Emitter::find_ahead(const Step& loop) {
  Ahead out;
  const auto uses_shared = [&](const Step& step, bool slots_only) {
    for (const TileRead& read : reads_of(kernel_, schedule_, step).arrays)
      if (layouts_.is_slot(read.value) || (!slots_only && layouts_.is_shared(read.value)))
        return true;
    for (ir::Value value : step.kept)
      if (!slots_only && layouts_.is_shared(value)) return true;
    return !slots_only && !step.reductions.empty();
  };
  for (const Step& step : loop.regions[0]) {
    if (step.kind == Step::Kind::Elements) {
      if (uses_shared(step, out.dot == nullptr)) return std::nullopt;
      continue;
    }
    const OpKind kind = step.op->kind;
    if (kind == OpKind::WaitCopies || kind == OpKind::CommitCopies) {
      const Step*& only = kind == OpKind::WaitCopies ? out.wait : out.commit;
      if (only || out.dot) return std::nullopt;
      only = &step;
    } else if (kind == OpKind::Dot) {
      if (out.dot || !layouts_.fits(*step.op)) return std::nullopt;
      out.dot = &step;
    } else if (kind == OpKind::If && !out.dot && !out.copies && has_copies(step)) {
      if (can_weave(step)) out.copies = &step;
    } else if (step.kind == Step::Kind::Control || (step.kind == Step::Kind::Across && out.dot)) {
      return std::nullopt;
    }
  }
  if (!out.wait || !out.commit || !out.dot || !finds_slots(*loop.op, out)) return std::nullopt;
  return out;
}

bool Emitter::finds_slots(const ir::Op& loop, Ahead& ahead) const {
  const DotPlan& plan = layouts_.plan_of(*ahead.dot->op);
  const std::vector<ir::Value>& arguments = loop.regions[0].arguments;
  const bool has_steps = plan.sizes.depth > plan.shape.log_depth && plan.sizes.batch == 0;
  if (!has_steps) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::optional<SharedView> view = shared_view(*ahead.dot, ahead.dot->op->operands[side]);
    if (!view || !layouts_.is_slot(view->array)) return false;
    ahead.reads[side] = kernel_.maker(view->array);
    const ir::Value slot = ahead.reads[side]->operands[0];
    if (ahead.slot && slot != ahead.slot) return false;
    ahead.slot = slot;
  }
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] != ahead.slot) continue;
    ahead.initial_slot = loop.operands[i + 2];
    ahead.next_slot = loop.regions[0].ops.back()->operands[i - 1];
    return true;
  }
  return false;
}

// Whether the copies of a branch can start at any place: each is a call without more around it.
bool Emitter::can_weave(const Step& branch) {
  if (!branch.regions[1].empty() || !branch.op->results.empty()) return false;
  for (const Step& step : branch.regions[0]) {
    if (step.kind != Step::Kind::Elements || step.ops.front()->kind != OpKind::CopyAsync)
      return false;
    const ElementLoop loop = copy_loop(step);
    if (loop.log_slices > 0 || !can_copy_vectors(loop, *step.ops.front())) return false;
  }
  return true;
}

bool Emitter::is_taken_ahead(const Step& step) const {
  if (!ahead_) return false;
  const bool is_woven = &step == ahead_->copies || &step == ahead_->commit;
  return &step == ahead_->wait || (ahead_->copies && is_woven);
}

// ---- Before the loop

bool Emitter::begin_ahead(Ahead& ahead, const std::string& has_rounds) {
  const ir::Op& dot = *ahead.dot->op;
  const DotPlan& plan = layouts_.plan_of(dot);
  ahead.left = dot_operand(*ahead.dot, plan, true);
  ahead.right = dot_operand(*ahead.dot, plan, false);
  int words = plan.layouts.result.register_count();
  for (const DotOperand* operand : {&ahead.left, &ahead.right}) {
    if (!matrix_view(*ahead.dot, *operand)) return false;
    words += 2 << (operand->log_words + operand->log_tiles);
  }
  if (words > most_words) return false;

  parts_.insert("mma");
  out_.line("// Two steps' words: of the one that is multiplied, and of the next one.");
  for (const std::size_t side : {0, 1}) {
    const DotOperand& operand = side == 0 ? ahead.left : ahead.right;
    ahead.matrices[side] = prepare_matrices(operand, *matrix_view(*ahead.dot, operand));
    out_.format("u32 {}[2][{}];", operand.part, 1 << (operand.log_words + operand.log_tiles));
  }
  emit_wait(*ahead.wait->op);
  out_.open(fmt::format("if ({})", has_rounds));
  for (const std::size_t side : {0, 1})
    read_ahead(ahead, side, slot_text(*ahead.reads[side], ahead.initial_slot), "0", nullptr);
  out_.close();
  return true;
}

void Emitter::read_ahead(const Ahead& ahead, std::size_t side, const std::string& array,
                         const std::string& half, const DotLoops* loops) {
  const DotOperand& operand = side == 0 ? ahead.left : ahead.right;
  read_matrices(ahead.matrices[side], array, fmt::format("{}[{}]", operand.part, half), loops);
}

// ---- In the loop

// Reading ahead is no read for the tracking of barriers: the slot is not the one that copies of the
// next round go to. After the last round the same slot is read once more.
void Emitter::multiply_ahead(const Step& step, const Sums& sums) {
  Ahead& ahead = *ahead_;
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const DotLoops loops{{names_.make("step"), plan.sizes.depth - plan.shape.log_depth}, {"", 0}};
  const auto multiply = [&](const std::string& half) {
    DotOperand left = ahead.left, right = ahead.right;
    left.part += half;
    right.part += half;
    multiply_parts(plan, sums.name, left, right, loops.batch);
  };
  std::array<std::string, 2> next;
  const std::string next_slot = names_.make("next_slot");
  out_.format("const i32 {} = {} ? {} : {};", next_slot, ahead.goes_on,
              atom(scalar(ahead.next_slot)), scalar(ahead.slot));
  for (const std::size_t side : {0, 1}) {
    const ir::Op& read = *ahead.reads[side];
    next[side] = names_.make("next_" + array_name(read.result()));
    out_.format("{}* const {} = {};", type_of(read.result()), next[side],
                slot_text(read, next_slot));
  }
  out_.line("#pragma unroll");
  out_.open(
      fmt::format("for (int {0} = 1; {0} < {1}; ++{0})", loops.step.name, 1 << loops.step.bits));
  for (const std::size_t side : {0, 1})
    read_ahead(ahead, side, array_name(ahead.reads[side]->result()), loops.step.name + " & 1",
               &loops);
  for (WovenCopy& copy : ahead.woven) weave(copy, loops.step);
  multiply(fmt::format("[({} - 1) & 1]", loops.step.name));
  out_.close();
  if (ahead.copies) emit_commit(*ahead.commit->op);
  emit_wait(*ahead.wait->op);
  for (const std::size_t side : {0, 1}) read_ahead(ahead, side, next[side], "0", nullptr);
  multiply("[1]");
}

void Emitter::begin_copies() {
  if (!ahead_->copies) return;
  const Step& branch = *ahead_->copies;
  const std::string starts = names_.make("is_ahead");
  out_.format("const bool {} = {};", starts, bare(scalar(branch.op->operands[0])));
  for (const Step& step : branch.regions[0])
    ahead_->woven.push_back({&step, copy_loop(step), begin_copy(step), starts});
}

// A part of the copies for each step but the first.
void Emitter::weave(WovenCopy& copy, const SpaceVariable& step) {
  const int parts = (1 << step.bits) - 1;
  const int count = 1 << copy.loop.log_vectors;
  const auto bound = [&](const std::string& number) {
    const std::string all = fmt::format("{} * {}", number, count);
    return parts == 1 ? all : fmt::format("{} / {}", all, parts);
  };
  out_.line("#pragma unroll");
  out_.open(fmt::format("for (int k = {}; k < {}; ++k)", bound(fmt::format("({} - 1)", step.name)),
                        bound(step.name)));
  copy.loop.frame.scopes.emplace_back();
  copy_vectors(copy.loop, *copy.step->ops.front(), copy.slot, copy.starts);
  copy.loop.frame.scopes.pop_back();
  out_.close();
}

}  // namespace tilewright
