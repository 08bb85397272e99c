// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/dot_ahead.cpp — a loop around a matrix product whose operands lie in slots of
// buffers: tensor cores never wait for shared memory.
//
// The words of a step along the depth are read while those of the step before are multiplied, also
// from one round to the next: the wait for the next round's slots, and the barrier that goes with
// it, stand before the last step's multiplications. Copies of later rounds start between the
// steps, a few at a time.
#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

constexpr int most_words = 200;  // of sums and of two steps' operands; a thread has 255 registers
constexpr int most_held = 32;    // words of an operand that stays the same
constexpr int most_sums = 128;   // of the products beside it

// A step may have no ops, only reductions of what an earlier one kept.
bool is_copy(const Step& step) {
  return step.kind == Step::Kind::Elements && !step.ops.empty() &&
         step.ops.front()->kind == OpKind::CopyAsync;
}

bool has_copies(const Step& branch) {
  return std::any_of(branch.regions[0].begin(), branch.regions[0].end(), is_copy);
}

// What is written must stay before, or behind, what later rounds copy.
bool writes_memory(const ir::Op& loop) {
  bool out = false;
  ir::walk(loop.regions[0], [&](const ir::Op& op) {
    out |= op.facts().has(ir::Writes) && op.kind != OpKind::CopyAsync;
  });
  return out;
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
  const bool is_whole = out.wait && out.commit && out.dot && !writes_memory(*loop.op);
  if (!is_whole || !finds_slots(*loop.op, out)) return std::nullopt;
  out.reads_ahead = true;
  return out;
}

// Other loops: copies start between the steps of the first product behind them.
std::optional<Emitter::Ahead> Emitter::find_woven(const Step& loop) {
  Ahead out;
  for (const Step& step : loop.regions[0]) {
    if (step.kind == Step::Kind::Elements) continue;
    const OpKind kind = step.op->kind;
    if (kind == OpKind::If && !out.copies && has_copies(step) && can_weave(step)) {
      out.copies = &step;
    } else if (kind == OpKind::CommitCopies) {
      if (out.commit || !out.copies) return std::nullopt;
      out.commit = &step;
    } else if (kind == OpKind::Dot && out.commit) {
      const DotPlan& plan = layouts_.plan_of(*step.op);
      const bool has_steps = plan.sizes.depth > plan.shape.log_depth && plan.sizes.batch == 0;
      if (!layouts_.fits(*step.op) || !has_steps || writes_memory(*loop.op)) return std::nullopt;
      out.dot = &step;
      return out;
    } else if (step.kind == Step::Kind::Control) {
      return std::nullopt;
    }
  }
  return std::nullopt;
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
    if (!is_copy(step)) return false;
    const ElementLoop loop = copy_loop(step);
    if (loop.log_slices > 0 || !can_copy_vectors(loop, *step.ops.front())) return false;
  }
  return true;
}

bool Emitter::is_taken_ahead(const Step& step) const {
  if (!ahead_) return false;
  const bool is_woven = &step == ahead_->copies || &step == ahead_->commit;
  return (ahead_->reads_ahead && &step == ahead_->wait) || (ahead_->copies && is_woven);
}

// ---- Before the loop

bool Emitter::can_hold(const Step& loop, const Step& dot, ir::Value operand) const {
  const std::optional<SharedView> view = shared_view(dot, operand);
  if (!view || layouts_.is_slot(view->array)) return false;
  return kernel_.maker(view->array) && schedule_.storage(view->array) == view->array &&
         is_outside(*loop.op, view->array);
}

// Whether a value is there before the loop.
bool Emitter::is_outside(const ir::Op& loop, ir::Value value) const {
  const ir::Region& body = loop.regions[0];
  const auto is_argument = [&](const ir::Region& region) {
    return std::find(region.arguments.begin(), region.arguments.end(), value) !=
           region.arguments.end();
  };
  bool out = !is_argument(body);
  ir::walk(body, [&](const ir::Op& op) {
    out &= &op != kernel_.maker(value);
    for (const ir::Region& region : op.regions) out &= !is_argument(region);
  });
  return out || constant_of(value).has_value();
}

void Emitter::hold_operands(const Step& loop) {
  std::vector<const Step*> dots;
  int sums = 0;
  if (is_by_warpgroups_of(loop)) return;
  for (const Step& step : loop.regions[0]) {
    if (step.kind != Step::Kind::Across || step.op->kind != OpKind::Dot) continue;
    if (!layouts_.fits(*step.op)) return;
    dots.push_back(&step);
    sums += layouts_.plan_of(*step.op).layouts.result.register_count();
  }
  if (sums > most_sums) return;
  for (const Step* dot : dots)
    for (const bool is_left : {true, false}) {
      const ir::Value value = dot->op->operands[is_left ? 0 : 1];
      const DotPlan& plan = layouts_.plan_of(*dot->op);
      if (plan.sizes.batch > 0 || !can_hold(loop, *dot, value)) continue;
      const DotOperand operand = dot_operand(*dot, is_left);
      const std::optional<MatrixView> from = matrix_view(*dot, operand);
      const int log_words = operand.log_words + operand.log_tiles;
      const DotLoops loops{{names_.make("step"), plan.sizes.depth - plan.shape.log_depth}, {"", 0}};
      if (!from || (1 << (log_words + loops.step.bits)) > most_held) continue;
      parts_.insert("mma");
      synchronize({.step = dot}, reads_of(kernel_, schedule_, *dot, {value}), {});
      const MatrixReads reads = prepare_matrices(operand, *from);
      out_.format("u32 {}[{}][{}];  // of all steps, for all rounds", operand.part,
                  1 << loops.step.bits, 1 << log_words);
      open_unrolled(loops.step);
      read_matrices(reads, array_name(from->view.array), step_part(operand.part, loops.step),
                    &loops);
      close_unrolled(loops.step);
      held_[{dot->op, is_left}] = operand.part;
    }
}

std::string Emitter::step_part(const std::string& part, const SpaceVariable& step) {
  return fmt::format("{}[{}]", part, step.bits > 0 ? step.name : "0");
}

std::optional<Emitter::Ahead> Emitter::begin_ahead(const Step& loop, const std::string& index,
                                                   const std::string& to, const std::string& by) {
  if (is_by_warpgroups_of(loop)) return std::nullopt;
  std::optional<Ahead> ahead = find_ahead(loop);
  if (ahead) {
    ahead->goes_on = fmt::format("{} + {} < {}", index, by, to);
    const std::string has_rounds = fmt::format("{} < {}", scalar(loop.op->operands[0]), to);
    if (read_first(*ahead, *loop.op, has_rounds)) return ahead;
  }
  ahead = find_woven(loop);
  if (ahead) place_copies(*ahead, *loop.op);
  return ahead;
}

bool Emitter::read_first(Ahead& ahead, const ir::Op& loop, const std::string& has_rounds) {
  const ir::Op& dot = *ahead.dot->op;
  const DotPlan& plan = layouts_.plan_of(dot);
  ahead.left = dot_operand(*ahead.dot, true);
  ahead.right = dot_operand(*ahead.dot, false);
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
  if (ahead.copies) place_copies(ahead, loop);
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
  for (WovenCopy& copy : ahead.woven) weave(copy, loops.step, 1);
  multiply(fmt::format("[({} - 1) & 1]", loops.step.name));
  out_.close();
  if (ahead.copies) emit_commit(*ahead.commit->op);
  emit_wait(*ahead.wait->op);
  for (const std::size_t side : {0, 1}) read_ahead(ahead, side, next[side], "0", nullptr);
  multiply("[1]");
}

// ---- Copies between the steps

// One place of each thread that goes along with the loop's pointers, and distances from there: the
// compiler would rather keep all places from before the loop, and have no registers left for the
// product.
void Emitter::place_copies(Ahead& ahead, const ir::Op& loop) {
  for (const Step& step : ahead.copies->regions[0]) {
    const ir::Op& op = *step.ops.front();
    WovenCopy copy{.step = &step, .loop = copy_loop(step)};
    Frame& frame = copy.loop.frame;
    const Place first = first_of_vector(frame.place, copy.loop.log_vector);
    const IndexMap to = layouts_.swizzle_of_buffer(kernel_.buffer_of(op))(first);
    copy.image = image_of(frame.space, to, 3, 4) | to.offset;
    copy.by_vector = only_variable(frame.space, to, 1);
    copy.at = names_.make(buffer_name(op) + "_at");
    out_.format("const i32 {} = {};", copy.at, bare(linear_text(frame.space, to, 3, 4)));
    const ir::Op* affine = formula_of(copy.loop, op);
    const auto is_argument = [&](ir::Value value) {
      const std::vector<ir::Value>& all = loop.regions[0].arguments;
      return std::find(all.begin() + 1, all.end(), value) != all.end();
    };
    bool is_known = affine && is_argument(affine->operands[0]);
    for (std::size_t i = 1; is_known && i < affine->operands.size(); ++i)  // strides stay the same
      is_known = is_outside(loop, affine->operands[i]);
    if (is_known) {
      copy.base = affine->operands[0];
      const std::string offset = offset_text(frame, *affine, only_variable(frame.space, first, 3));
      copy.from = names_.make(buffer_name(op) + "_from");
      out_.format("{}* {} = {};", memory_type(op.operands[0]), copy.from,
                  sum_text(scalar(copy.base), offset));
    }
    ahead.woven.push_back(std::move(copy));
  }
}

void Emitter::begin_copies() {
  if (!ahead_->copies) return;
  ahead_->starts = names_.make("is_ahead");
  out_.format("const bool {} = {};", ahead_->starts, bare(scalar(ahead_->copies->op->operands[0])));
  for (WovenCopy& copy : ahead_->woven) copy.slot = begin_copy(*copy.step);
}

// At the end of a round.
void Emitter::advance_copies(const ir::Op& loop) {
  if (!ahead_) return;
  const std::vector<ir::Value>& carried = loop.regions[0].arguments;
  const std::vector<ir::Value>& next = loop.regions[0].ops.back()->operands;
  for (const WovenCopy& copy : ahead_->woven)
    for (std::size_t i = 1; i < carried.size(); ++i)
      if (copy.base && carried[i] == copy.base)
        out_.format("{} += {} - {};", copy.from, atom(scalar(next[i - 1])), scalar(copy.base));
}

// A part of the copies for each step from number `first_step` on.
void Emitter::weave(WovenCopy& copy, const SpaceVariable& step, int first_step) {
  const int parts = (1 << step.bits) - first_step;
  const int count = 1 << copy.loop.log_vectors;
  const auto bound = [&](const std::string& number) {
    const std::string all = fmt::format("{} * {}", number, count);
    return parts == 1 ? all : fmt::format("{} / {}", all, parts);
  };
  out_.line("#pragma unroll");
  const std::string before = fmt::format("({} - 1)", step.name),
                    behind = fmt::format("({} + 1)", step.name);
  out_.open(fmt::format("for (int k = {}; k < {}; ++k)",
                        bound(first_step == 0 ? step.name : before),
                        bound(first_step == 0 ? behind : step.name)));
  copy.loop.frame.scopes.emplace_back();
  const ir::Op& op = *copy.step->ops.front();
  Frame& frame = copy.loop.frame;
  const Place first = first_of_vector(frame.place, copy.loop.log_vector);
  const std::string to =
      sum_text(copy.slot, added_text(copy.at, copy.image, frame.space, copy.by_vector));
  const std::string from =
      copy.from.empty() ? bare(element(frame, op.operands[0], first))
                        : sum_text(copy.from, offset_text(frame, *formula_of(copy.loop, op),
                                                          only_variable(frame.space, first, 1)));
  start_copy(copy.loop, op, "copy_async_if", to, from,
             fmt::format(", {}, {}", ahead_->starts, copy_mask(copy.loop, op)));
  copy.loop.frame.scopes.pop_back();
  out_.close();
}

}  // namespace tilewright
