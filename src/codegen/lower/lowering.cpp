// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lowering.cpp — the entry, arrays, steps and scalars of a program.
#include "codegen/lower/lowering.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/lower/lower_to_loops.h"
#include "codegen/lower/waiting.h"
#include "ir/verify.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

LoopLowering::LoopLowering(const ir::Kernel& laid, const Sweeps& sweeps, FinalProgram& program)
    : RowFacts(laid, sweeps),
      ProgramLowering(laid, sweeps, program),
      written_(ExpressionFacts::of_host(out_)) {}

bool LoopLowering::asks_others(const ir::Op& loop) const { return is_waiting(kernel_, loop); }

// ---- The program

ir::Kernel LoopLowering::run() {
  find_runs();
  find_streams();
  find_deferred();
  // Rows of the program before are written at any time.
  if (!deferred_.step) find_in_place(kernel_.body);
  enter();
  place_arrays();
  steps(schedule_.steps());
  statement(OpKind::Yield, {}, *list_);
  Statements& body = out_.body.ops;
  if (streamed_bytes_ > 0) {
    const ir::Value is_large = make(OpKind::Call, {}, Type::scalar(b1),
                                    {{"function", std::string(name_of(LibraryKind::IsLarge))},
                                     {"numbers", std::vector<std::int64_t>{streamed_bytes_}}});
    named(is_large, "streams", body);
    programs_->operands.insert(programs_->operands.begin(), is_large);
    auto& arguments = programs_->regions[0].arguments;
    arguments.insert(arguments.begin(), streams_);
    body.push_back(programs_);
    if (deferred_.step)
      statement(OpKind::Call, {}, body,
                {{"function", std::string(name_of(LibraryKind::FinishDeferred))}});
    statement(OpKind::Call, {is_large}, body,
              {{"function", std::string(name_of(LibraryKind::FinishStreams))}});
  } else {
    body.push_back(programs_);
  }
  return std::move(out_);
}

// The region of the programs, which has the kernel's arguments under names of C++.
void LoopLowering::enter() {
  out_.name = kernel_.name;
  out_.stage = ir::Stage::Final;
  out_.files = kernel_.files;
  for (const char* own : {"id", "programs", "arena", "launch", "parameters", "streams", "late"})
    names_.make(own);
  programs_ = out_.make_op(OpKind::ForPrograms, {}, {}, {});
  programs_->regions.resize(1);
  streams_ = out_.make_value(Type::scalar(b1), "streams", nullptr);
  for (const ir::KernelArgument& argument : kernel_.arguments) {
    const Type& type = kernel_.type(argument.value);
    const std::string& name = kernel_.name_of(argument.value);
    const ir::Value outer = out_.add_argument(type, name);
    out_.arguments.back() = argument;
    out_.arguments.back().value = outer;
    programs_->operands.push_back(outer);
    const ir::Value inner = out_.make_value(type, names_.make(name, "argument"), nullptr);
    programs_->regions[0].arguments.push_back(inner);
    scalars_[argument.value.id] = inner;
  }
  list_ = &programs_->regions[0].ops;
}

void LoopLowering::steps(const Steps& all) {
  for (const Step& step : all) {
    switch (step.kind) {
      case Step::Kind::Scalar:
        scalar_op(*step.op);
        break;
      case Step::Kind::Elements:
        elements(step);
        for (const ir::Value result : step.op->results)
          if (kernel_.type(result).is_scalar())
            scalars_[result.id] = scalar(schedule_.source_of(result));
        break;
      case Step::Kind::Control:
        control(step);
        break;
      case Step::Kind::Across:
        across(step);
        break;
    }
  }
}

// The lines of the user's source that a nest does, in their order.
void LoopLowering::note_lines(const std::vector<const ir::Op*>& ops) {
  std::vector<std::pair<std::int64_t, std::int64_t>> lines;
  for (const ir::Op* op : ops)
    if (op->location.line > 0) lines.emplace_back(op->location.file, op->location.line);
  std::stable_sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (lines.empty()) return;
  std::vector<std::int64_t> files, numbers;
  for (const auto& [file, line] : lines) {
    files.push_back(file);
    numbers.push_back(line);
  }
  statement(OpKind::Lines, {}, *list_, {{"files", files}, {"numbers", numbers}});
}

// ---- Scalars

// A short value without a name is written where it is used.
bool LoopLowering::is_inlined(const ir::Op& op, ir::Value made) const {
  constexpr std::size_t longest = 48;
  return op.facts().has(ir::Elementwise) && kernel_.name_of(op.result()).empty() &&
         written_.length(*out_.maker(made)) <= longest;
}

void LoopLowering::scalar_op(const ir::Op& op) {
  const ir::OpFacts& facts = op.facts();
  // One thread runs a program, so nothing waits; constants are written where they are used.
  if (op.kind == OpKind::Constant || op.kind == OpKind::Assume || facts.is(ir::Family::Sync))
    return;
  if (facts.has(ir::Reads) || facts.has(ir::Writes)) return scalar_memory(op);
  if (op.kind == OpKind::Print) return print({.kind = Step::Kind::Across, .op = &op});
  std::vector<ir::Value> operands;
  for (const ir::Value operand : op.operands) operands.push_back(scalar(operand));
  if (facts.is(ir::Family::Check)) {
    statement(op.kind, operands, *list_, op.attributes, op.location);
    return;
  }
  const Type& type = kernel_.type(op.result());
  if (facts.maps(ir::Spread | ir::Repeated | ir::Reshaped | ir::Permuted))
    return define(op.result(), make(OpKind::Hint, operands, type, {}, op.location));
  TW_CHECK(facts.has(ir::Elementwise) || facts.is(ir::Family::Source), "'{}' is no op on scalars",
           facts.name);
  std::vector<ir::Attribute> attributes = op.attributes;
  std::erase_if(attributes, [](const ir::Attribute& attribute) {
    return attribute.name == "argument_from" || attribute.name == "argument_to";
  });
  const ir::Value made = make(op.kind, operands, type, attributes, op.location);
  if (is_inlined(op, made)) write_at_uses(op.result(), made);
  else define(op.result(), made);
}

// Of a tile of one pointer.
ir::Value LoopLowering::only_element(const ir::Op& view, ir::Value value) {
  const Step step{.kind = Step::Kind::Scalar, .order = 1 << 30, .op = &view};
  LoweredNest nest = make_nest(step, Type{});
  const ir::Value made = viewed(nest, view, value, {}).value;
  list_->insert(list_->end(), nest.lines[0].begin(), nest.lines[0].end());
  return made;
}

// The scalar forms are elements of a nest without loops.
void LoopLowering::scalar_memory(const ir::Op& op) {
  const Step step{.kind = Step::Kind::Scalar, .order = 1 << 30, .op = &op};
  LoweredNest nest = make_nest(step, Type{});
  const auto flush = [&] {
    list_->insert(list_->end(), nest.lines[0].begin(), nest.lines[0].end());
  };
  if (op.kind == OpKind::Load) {
    const PlacedValue value = loaded(nest, op, {});
    flush();
    return define(op.result(), value.value);
  }
  effect(nest, op);
  flush();
  // The old value of an atomic, under the name that it got in the nest.
  if (op.results.empty()) return;
  names_ = nest.names;
  scalars_[op.result().id] = nest.known.at({op.result().id, ""}).value;
}

ir::Kernel lower_to_loops(const ir::Kernel& laid) {
  const Sweeps sweeps(laid);
  FinalProgram program;
  return LoopLowering(laid, sweeps, program).run();
}

}  // namespace tilewright
