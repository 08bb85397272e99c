// SPDX-License-Identifier: Apache-2.0
// cli/stepper.cpp — following the interpreter, and going back.
#include "cli/stepper.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "tilewright/error.h"

namespace tilewright::cli {

void Stepper::run(const ir::Kernel& kernel, std::span<const ir::InterpretBuffer> buffers,
                  std::span<const ir::InterpretArgument> arguments, ir::InterpretOptions options) {
  kernel_ = &kernel;
  source_.emplace(kernel);
  std::copy(options.grid, options.grid + 3, grid_);
  for (const ir::InterpretBuffer& buffer : buffers) {
    const auto* const data = static_cast<const std::byte*>(buffer.data);
    initial_.emplace_back(data, data + buffer.bytes);
  }
  set_breakpoints(std::exchange(breakpoints_, {}));  // the lines are known only now
  if (terminal_.begins) terminal_.begins();
  options.watch = this;
  options.print = [this](const std::string& line) { say(line); };
  while (true) {
    try {
      ir::interpret(kernel, buffers, arguments, options);
      if (goal_ == Goal::Program || goal_ == Goal::Time) say("the launch ended before that");
      return say("all programs have run");
    } catch (const Quit&) {
      return;
    } catch (const Rewind&) {
      rewind(buffers, options);
    }
  }
}

void Stepper::undo_to(std::size_t writes) {
  while (undo_.size() > writes) {
    const Undo& undo = undo_.back();
    std::memcpy(reinterpret_cast<void*>(undo.address), &undo.bytes, undo.size);
    undo_.pop_back();
  }
}

void Stepper::rewind(std::span<const ir::InterpretBuffer> buffers, ir::InterpretOptions& options) {
  options.resume = nullptr;
  if (std::exchange(restores_all_, false)) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (!initial_[i].empty())
        std::memcpy(buffers[i].data, initial_[i].data(), initial_[i].size());
    options.first = 0;
    return;
  }
  resumed_ = goal_ == Goal::Time ? history_.last_until(goal_time_) : nullptr;
  undo_to(resumed_ == nullptr ? 0 : resumed_->writes);
  options.first = number_;
  if (resumed_ != nullptr) options.resume = &resumed_->program;
}

void Stepper::begins(const ir::Program& program, std::int64_t number) {
  program_ = &program;
  number_ = number;
  if (const StepMark* const mark = std::exchange(resumed_, nullptr)) {
    at_ = mark->place;
    line_times_.resize(mark->lines);
    return;
  }
  at_ = {};
  line_times_.clear();
  undo_.clear();
  history_.clear();
  for (Watched& watched : watched_) watched.is_known = false;
  if (goal_ == Goal::Program && goal_program_ == number) goal_ = Goal::Into;
  if (goal_ == Goal::Next || goal_ == Goal::Out) goal_ = Goal::Into;
}

// A line of a function that is under way is a return to it; any other function is called. What is
// left of the line that called is no line of its own.
bool Stepper::enter(const ir::Op& op) {
  const int function = source_->function_at(op.location.file, op.location.line);
  const auto found = std::find(at_.calls.begin(), at_.calls.end(), function);
  if (found == at_.calls.end()) {
    at_.calls.push_back(function);
    at_.call_lines.push_back(op.location.line);
    return true;
  }
  const auto depth = static_cast<std::size_t>(found - at_.calls.begin()) + 1;
  const bool is_return = depth < at_.calls.size() && at_.call_lines[depth - 1] == op.location.line;
  at_.calls.resize(depth);
  at_.call_lines.resize(depth);
  at_.call_lines.back() = op.location.line;
  return !is_return;
}

void Stepper::before(const ir::Program& program, const ir::Op& op) {
  history_.keep([&] {
    return StepMark{at_, line_times_.size(), undo_.size(), program.checkpoint_before(op)};
  });
  ++at_.time;
  op_ = &op;
  if (is_interrupted()) {
    forget_interrupt();
    reason_ = "interrupted";
    at_.line = 0;  // whatever the op, it stands here
  }
  if (op.location.line > 0 && op.location.file < kernel_->files.size()) {
    bool is_new_line =
        at_.has_jumped || op.location.line != at_.line || op.location.file != at_.file;
    if (is_new_line) {
      is_new_line = enter(op);
      at_.file = op.location.file;
      at_.line = op.location.line;
      at_.has_jumped = false;
      if (is_new_line) line_times_.push_back(at_.time);
    }
    if (should_stop(is_new_line)) stop();
  }
  if (op.facts().has(ir::Writes)) keep_for_undo(program, op);
}

bool Stepper::should_stop(bool is_new_line) {
  if (goal_ == Goal::Time) return at_.time == goal_time_;
  if (goal_ == Goal::Program || !is_new_line) return false;
  if (!reason_.empty()) return true;
  if (goal_ == Goal::Into) return true;
  if (goal_ == Goal::Next && at_.calls.size() <= goal_depth_) return true;
  if (goal_ == Goal::Out && at_.calls.size() < goal_depth_) return true;
  return breaks_here();
}

bool Stepper::breaks_here() {
  for (const Breakpoint& breakpoint : breakpoints_) {
    if (at_.file != 0 || breakpoint.line != at_.line) continue;
    if (breakpoint.condition.empty()) {
      reason_ = fmt::format("breakpoint at line {}", at_.line);
      return true;
    }
    try {
      const ir::Tile holds = evaluate(breakpoint.condition);
      const bool is_any = std::any_of(holds.elements.begin(), holds.elements.end(),
                                      [](ir::Element element) { return element.i != 0; });
      if (!is_any) continue;
      reason_ = fmt::format("breakpoint at line {}: {}", at_.line, breakpoint.condition);
    } catch (const Error& error) {
      reason_ = fmt::format("the condition of the breakpoint at line {} cannot be evaluated: {}",
                            at_.line, error.what());
    }
    return true;
  }
  return false;
}

void Stepper::keep_for_undo(const ir::Program& program, const ir::Op& op) {
  const ir::Tile& pointers = program.value(op.operands[0]);
  const DType dtype = pointers.type.dtype;
  const bool has_mask = op.kind != ir::OpKind::AtomicCas && op.operands.size() > 2;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (has_mask && !program.value(op.operands[2]).at(i).i) continue;
    const std::int64_t pointer = pointers.elements[i].i;
    if (!program.memory().problem(pointer, dtype, "").empty()) continue;
    Undo undo{ir::TaggedPointer::address(pointer), 0, size_of(dtype)};
    std::memcpy(&undo.bytes, reinterpret_cast<const void*>(undo.address), undo.size);
    undo_.push_back(undo);
  }
}

void Stepper::note_value(ir::Value value) {
  const std::string& name = kernel_->name_of(value);
  if (!name.empty() && !at_.calls.empty()) at_.names[{at_.calls.back(), name}] = value;
}

void Stepper::after(const ir::Program&, const ir::Op& op) {
  for (const ir::Value result : op.results) note_value(result);
  if (goal_ != Goal::Time && goal_ != Goal::Program) check_watched();
}

// The index of a loop begins a round: its first line is a new one, also where the loop has one
// line.
void Stepper::moves(std::span<const ir::Value> to, std::span<const ir::Value> from) {
  for (const ir::Value value : to) note_value(value);
  at_.has_jumped |= from.empty();
}

// Values are compared when the next line begins, so that it is shown after the one that changed it.
void Stepper::check_watched() {
  for (Watched& watched : watched_) {
    const ir::Tile* const tile = named(watched.name);
    if (tile == nullptr || tile->size() == 0) continue;
    const bool is_same =
        watched.is_known && watched.last.size() == tile->size() &&
        std::memcmp(watched.last.data(), tile->elements.data(), tile->size() * 8) == 0;
    if (is_same) continue;
    if (watched.is_known)
      reason_ = fmt::format("'{}' has changed at line {}", watched.name, at_.line);
    watched.last = tile->elements;
    watched.is_known = true;
  }
}

void Stepper::know_watched() {
  for (Watched& watched : watched_) {
    const ir::Tile* const tile = named(watched.name);
    watched.is_known = tile != nullptr && tile->size() > 0;
    if (watched.is_known) watched.last = tile->elements;
  }
}

bool Stepper::lets_pass(const ir::Program&, const ir::Op& op, const std::string& problem) {
  if (goal_ == Goal::Time || goal_ == Goal::Program) return false;
  op_ = &op;
  reason_ = "the kernel fails here: " + problem;
  stop();
  return false;
}

}  // namespace tilewright::cli
