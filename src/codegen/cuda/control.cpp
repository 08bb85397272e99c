// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/control.cpp — for, while and if. Conditions are scalars, which all threads of a
// block agree on, so that barriers may stand in any region.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "passes/defer_stores.h"
#include "passes/laid/hand_overs.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/spins.h"

namespace tilewright {
namespace {

using ir::OpKind;

const Step at_end{.order = 1 << 30};

std::vector<ir::Value> from(const std::vector<ir::Value>& values, std::size_t first) {
  return {values.begin() + static_cast<std::ptrdiff_t>(first), values.end()};
}

// What is more than 0 without being constant.
bool is_program_count(const ir::Kernel& kernel, ir::Value value) {
  const ir::Op* maker = kernel.maker(value);
  if (maker && maker->kind == OpKind::Cast) maker = kernel.maker(maker->operands[0]);
  return maker && (maker->kind == OpKind::NumPrograms || maker->kind == OpKind::NumBlocks);
}

}  // namespace

void Emitter::steps(const Steps& all) {
  for (const Step& step : all) {
    if (is_taken_ahead(step)) continue;
    if (step.kind != Step::Kind::Scalar) wait_for_touched(*step.op);
    switch (step.kind) {
      case Step::Kind::Scalar:
        scalar_step(*step.op);
        break;
      case Step::Kind::Elements:
        elements_step(step);
        share_scalars(*step.op);
        note_computed(step);
        break;
      case Step::Kind::Across:
        across_step(step);
        break;
      case Step::Kind::Control:
        control_step(step);
        break;
    }
    show_written();
  }
}

// Behind a sweep: its results are the scalars that it has found.
void Emitter::share_scalars(const ir::Op& sweep) {
  for (const ir::Value result : sweep.results)
    if (!is_tile(kernel_, result)) scalars_[result.id] = scalar(schedule_.source_of(result));
}

void Emitter::control_step(const Step& step) {
  switch (ir::control_op(step.op->kind)) {
    case ir::ControlOp::For:
      return emit_for(step);
    case ir::ControlOp::While:
      return emit_while(step);
    case ir::ControlOp::If:
      return emit_if(step);
    case ir::ControlOp::Sweep:
      break;
  }
  TW_UNREACHABLE("'{}' is written as the loop that it holds", step.op->facts().name);
}

// Variables that change: each begins as the value given for it.
void Emitter::declare_carried(const std::vector<ir::Value>& values,
                              const std::vector<ir::Value>& initial, const Step& at) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_tile(kernel_, values[i])) {
      declare_array(values[i]);
      if (!initial.empty()) assign_tile(values[i], initial[i], at);
      continue;
    }
    const std::string name = new_name(values[i], "carried");
    const std::string start = initial.empty() ? "" : " = " + scalar(initial[i]);
    out_.format("{} {}{};", type_of(values[i]), name, start);
    scalars_[values[i].id] = name;
  }
}

// A copy in shared memory, in which elements stand as they will in the array of `to`.
std::string Emitter::put_aside(ir::Value value, ir::Value to, const std::string& scratch,
                               const Step& at) {
  const std::string name = names_.make("next_shared");
  shared_.add(name, type_of(value), kernel_.type(value).numel(),
              kernel_.buffers[kernel_.buffer_named(scratch)], true);
  ElementLoop loop = make_loop(at, layouts_.of_array(to));
  barrier();
  open_slices(loop);
  open_vectors(loop);
  open_elements(loop);
  Frame& frame = loop.frame;
  const std::string from = array_element(frame, value, frame.place);
  const std::string index = layouts_.is_shared(to) ? shared_index(frame, to, frame.place)
                                                   : index_text(frame, frame.place);
  const std::string owner = owner_text(*frame.layout);
  out_.format("{}{}[{}] = {};", owner.empty() ? "" : "if (" + owner + ") ", name, index, from);
  close_elements(loop);
  close_vectors(loop);
  close_slices(loop);
  barrier();
  return name;
}

// By the threads that hold the elements of `to`: later reads of theirs need no barrier.
void Emitter::assign_aside(ir::Value to, const std::string& aside) {
  const bool is_shared = layouts_.is_shared(to);
  ElementLoop loop = make_loop(at_end, layouts_.of_array(to));
  Frame& frame = loop.frame;
  open_slices(loop);
  open_vectors(loop);
  open_elements(loop);
  const std::string index = array_index(frame, to, frame.place);
  const std::string from = is_shared ? index : index_text(frame, frame.place);
  const std::string owner = is_shared ? owner_text(*frame.layout) : "";
  out_.format("{}{}[{}] = {}[{}];", owner.empty() ? "" : "if (" + owner + ") ", array_name(to),
              index, aside, from);
  close_elements(loop);
  close_vectors(loop);
  close_slices(loop);
  if (is_shared) shared_.note_write(array_name(to));
  shared_.note_read(aside);
}

// All values take their new ones at once: where one of them is another's new value, by copies.
void Emitter::enter(const ir::Op& control, std::size_t region) {
  const HandOver hand_over = hand_overs_of(control)[region];
  const auto& [values, to, first_scratch] = hand_over;
  const std::vector<std::string> scratch = control.texts("scratch");
  std::vector<std::string> texts;
  std::set<std::string> targets;
  for (ir::Value target : to)
    if (!is_tile(kernel_, target)) targets.insert(scalar(target));
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (is_tile(kernel_, to[i])) {
      texts.emplace_back();
      continue;
    }
    std::string text = scalar(values[i]);
    const bool is_plain = text.find_first_of(" (") == std::string::npos;
    const bool is_target = targets.contains(text) && text != scalar(to[i]);
    if ((is_target || !is_plain) && to.size() > 1) {
      const std::string name = names_.make("next");
      out_.line(constant_text(to[i], name, text));
      text = name;
    }
    texts.push_back(text);
  }
  // Tiles whose new value is another carried tile's old one are copied aside first.
  std::map<std::size_t, std::string> aside;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!is_overwritten(kernel_, schedule_, hand_over, i)) continue;
    if (layouts_.is_shared(values[i]) || layouts_.is_shared(to[i])) {
      aside[i] = put_aside(values[i], to[i], scratch.at(first_scratch + i), at_end);
      continue;
    }
    aside[i] = names_.make("next_tile");
    const int count = layouts_.of_array(values[i]).layout.register_count();
    out_.format("{} {}[{}];", type_of(values[i]), aside[i], count);
    out_.line("#pragma unroll");
    out_.format("for (int k = 0; k < {0}; ++k) {1}[k] = {2}[k];", count, aside[i],
                array_name(values[i]));
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!is_tile(kernel_, to[i])) {
      if (texts[i] != scalar(to[i])) out_.format("{} = {};", scalar(to[i]), texts[i]);
    } else if (const auto found = aside.find(i);
               found != aside.end() &&
               (layouts_.is_shared(values[i]) || layouts_.is_shared(to[i]))) {
      assign_aside(to[i], found->second);
    } else if (found != aside.end()) {
      out_.line("#pragma unroll");
      out_.format("for (int k = 0; k < {0}; ++k) {1}[k] = {2}[k];",
                  layouts_.of_array(to[i]).layout.register_count(), array_name(to[i]),
                  found->second);
    } else {
      assign_tile(to[i], values[i], at_end);
    }
  }
  show_written();
}

void Emitter::emit_for(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Region& body = op.regions[0];
  const std::vector<ir::Value> carried = from(body.arguments, 1);
  declare_carried(carried, from(op.operands, 3), step);
  note_line(op.location);
  const std::string index = new_name(body.arguments[0], "i");
  scalars_[body.arguments[0].id] = index;
  const std::string to = atom(scalar(op.operands[1]));
  const std::string by = atom(scalar(op.operands[2]));
  const std::optional<std::int64_t> known = constant_of(op.operands[2]);
  std::string condition = fmt::format("{} < {}", index, to);
  if (known && *known < 0) condition = fmt::format("{} > {}", index, to);
  if (!known && !is_program_count(kernel_, op.operands[2]))
    condition = fmt::format("{2} > 0 ? {0} < {1} : {0} > {1}", index, to, by);
  hold_operands(step);
  std::optional<Ahead> ahead = begin_ahead(step, index, to, by);
  std::swap(ahead, ahead_);
  // Products that go on end before the loop's branch meets the one around it: where both meet, registers may be copied.
  const bool drains = op.integer("drains") != 0;
  if (drains) out_.open(fmt::format("if ({} < {})", scalar(op.operands[0]), to));
  const std::vector<Started> lagging = drains ? lagging_products(op) : std::vector<Started>{};
  const bool drained_before = std::exchange(drains_, drains && lagging.empty());
  started_.insert(started_.end(), lagging.begin(), lagging.end());
  // Consumers meet once before their rounds and not in each: what products read beside the ring was
  // written before.
  if (is_consuming_ && !drains && is_by_warpgroups_of(step) && shared_.has_written()) barrier();
  if (const std::int64_t unroll = op.integer("unroll"); unroll > 1)
    out_.format("#pragma unroll {}", unroll);
  else if (!(constant_of(op.operands[0]) && constant_of(op.operands[1])))
    out_.line("#pragma unroll 1");
  out_.open(fmt::format("for ({} {} = {}; {}; {} += {})", type_of(body.arguments[0]), index,
                        scalar(op.operands[0]), condition, index, by));
  const GlobalMemory::Uses used_before = global_.uses();
  shared_.begin_loop(step.order);
  global_.begin_loop(op);
  if (ahead_ && ahead_->reads_ahead)
    shared_.note_barrier();  // the one inside the product, or before the loop
  ++loop_depth_;
  const ir::Op* outer = std::exchange(loop_, &op);
  steps(step.regions[0]);
  loop_ = outer;
  advance_copies(op);
  if (!drains || (!lagging.empty() && !are_lagging(lagging))) wait_for_products(0);
  enter(op, 0);
  --loop_depth_;
  out_.close();
  shared_.end_loop(step.order);
  global_.end_loop(op, used_before);
  std::swap(ahead, ahead_);
  if (drains) {
    wait_for_products(0);
    out_.close();
  }
  drains_ = drained_before;
  for (std::size_t i = 0; i < op.results.size(); ++i)
    if (!is_tile(kernel_, op.results[i])) scalars_[op.results[i].id] = scalar(carried[i]);
}

void Emitter::emit_while(const Step& step) {
  if (is_spin(step)) return emit_spin(step);
  const ir::Op& op = *step.op;
  const ir::Region& head = op.regions[0];
  const ir::Region& body = op.regions[1];
  declare_carried(head.arguments, op.operands, step);
  declare_carried(body.arguments, {}, step);
  note_line(op.location);
  out_.line("#pragma unroll 1");
  out_.open("while (true)");
  const GlobalMemory::Uses used_before = global_.uses();
  shared_.forget();
  global_.begin_loop(op);
  ++loop_depth_;
  steps(step.regions[0]);
  const ir::Op& condition = *head.ops.back();
  const std::string goes_on = scalar(condition.operands[0]);
  const std::string name = names_.make("goes_on");
  out_.format("const bool {} = {};", name, goes_on);
  enter(op, 0);
  out_.format("if (!{}) break;", name);
  const GlobalMemory::Uses used_by_head = global_.uses();
  steps(step.regions[1]);
  enter(op, 1);
  --loop_depth_;
  out_.close();
  shared_.forget();
  global_.end_loop(op, used_before);
  global_.merge(used_by_head);
  for (std::size_t i = 0; i < op.results.size(); ++i)
    if (!is_tile(kernel_, op.results[i])) scalars_[op.results[i].id] = scalar(body.arguments[i]);
}

namespace {

// Whether the branch stores a part of a tile that is held beside the sums of a loop: its addresses
// are computed there, and take no registers around the loop.
bool stores_part(const ir::Kernel& kernel, const ir::Op& branch) {
  bool found = false;
  for (const ir::Op* op : branch.regions[0].ops)
    if (op->kind == ir::OpKind::Sweep)
      ir::walk(op->regions[0], [&](const ir::Op& inside) { found |= is_deferred_store(kernel, inside); });
  return found;
}

}  // namespace

void Emitter::emit_if(const Step& step) {
  const ir::Op& op = *step.op;
  if (producer_ != nullptr && kernel_.maker(op.operands[0]) == producer_) return emit_roles(step);
  declare_carried(op.results, {}, step);
  note_line(op.location);
  const SharedMemory::States before = shared_.states();
  const GlobalMemory::Uses used_before = global_.uses();
  out_.open(fmt::format("if ({})", scalar(op.operands[0])));
  if (stores_part(kernel_, op)) out_.line("const int thread = tw::here(int(threadIdx.x));");
  steps(step.regions[0]);
  enter(op, 0);
  const bool has_else = !step.regions[1].empty() || !op.results.empty();
  const SharedMemory::States after = shared_.states();
  const GlobalMemory::Uses used_after = global_.uses();
  global_.restore(used_before);
  shared_.restore(before);
  if (has_else) {
    out_.outdent();
    out_.open("} else");
    steps(step.regions[1]);
    enter(op, 1);
  }
  out_.close();
  shared_.merge(after);
  global_.merge(used_after);
}

}  // namespace tilewright
