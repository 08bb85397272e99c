// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/program.cpp — steps in order, scalar statements, and the arrays of a program.
#include "codegen/cpu/program.h"

#include <algorithm>

#include "base/check.h"
#include "codegen/lower/reduction_facts.h"
#include "codegen/print/statements.h"

namespace tilewright {

using ir::OpKind;

ProgramWriter::ProgramWriter(const ir::Kernel& kernel, const Sweeps& schedule,
                             const CpuEmitOptions& options, TextWriter& out, Names& names)
    : NestFacts(kernel, schedule), options_(options), out_(out), names_(names) {}

// A short value without a name is written where it is used.
bool ProgramWriter::is_inlined(const ir::Op& op, const std::string& expression) const {
  constexpr std::size_t longest = 48;
  return op.facts().has(ir::Elementwise) && kernel_.name_of(op.result()).empty() &&
         expression.size() <= longest;
}

// ---- Arrays

// The owner may be nameless where a value that shares its array has the user's name.
std::string ProgramWriter::array_base(ir::Value owner) const {
  std::string name = kernel_.name_of(owner);
  for (const ir::Value value : schedule_.placed_results())
    if (name.empty() && schedule_.storage(value) == owner) name = kernel_.name_of(value);
  return name.empty() ? "tile" : name + "_tile";
}

void ProgramWriter::place_arrays() {
  struct Array {
    std::string name;
    ir::Type type;
    std::int64_t bytes;
  };
  std::vector<Array> arrays;
  std::int64_t total = 0;
  const auto add = [&](const std::string& name, const ir::Type& type) {
    const std::int64_t bytes = type.numel() * static_cast<std::int64_t>(type.element_bytes());
    arrays.push_back({name, type, padded(bytes)});
    total += arrays.back().bytes;
  };
  for (const ir::Value owner : schedule_.owners()) {
    arrays_[owner.id] = names_.make(array_base(owner));
    if (late_arrays_.contains(owner.id)) add_late_array(owner);
    else add(arrays_[owner.id], kernel_.type(owner));
  }
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    for (std::size_t k = 0; op.kind == OpKind::Dot && k < 2; ++k) {
      const ir::Value value = op.operands[k];
      if (strided(value) || operand_arrays_.contains({&op, value.id})) continue;
      const std::string name = names_.make(k == 0 ? "left_tile" : "right_tile");
      operand_arrays_[{&op, value.id}] = name;
      add(name, kernel_.type(value));
    }
    const std::optional<ir::Type> type = wide_array_type(kernel_, op);
    if (!type || !schedule_.is_placed(op.result())) return;
    wide_arrays_[op.result().id] =
        names_.make(array(op.result()) + "_" + type_text(type->element()));
    add(wide_arrays_[op.result().id], *type);
  });
  const bool is_on_stack = total <= stack_limit;
  std::int64_t offset = 0;
  for (const auto& [name, type, bytes] : arrays) {
    if (is_on_stack)
      out_.format("alignas({}) {} {}[{}];", array_alignment, type_text(type.element()), name,
                  type.numel());
    else
      out_.format("{}* const {} = ({}*)(arena + {});", type_text(type.element()), name,
                  type_text(type.element()), offset);
    offset += bytes;
  }
  arena_bytes_ = is_on_stack ? 0 : total;
}

std::string ProgramWriter::array(ir::Value value) const {
  return arrays_.at(schedule_.storage(value).id);
}

// ---- Steps

void ProgramWriter::write() {
  find_streams();
  find_late();
  // Rows of the program before are written at any time.
  if (!late_.step) find_in_place(kernel_.body);
  place_arrays();
  find_runs();
  steps(schedule_.steps());
}

void ProgramWriter::steps(const Steps& all) {
  for (const Step& step : all) {
    switch (step.kind) {
      case Step::Kind::Scalar:
        scalar(*step.op);
        break;
      case Step::Kind::Elements:
        elements(step);
        for (const ir::Value result : step.op->results)
          if (kernel_.type(result).is_scalar())
            texts_[result.id] = text(schedule_.source_of(result));
        break;
      case Step::Kind::Across:
        comment(*step.op);
        across(step);
        break;
      case Step::Kind::Control:
        comment(*step.op);
        control(step);
        break;
    }
  }
}

// ---- Comments

void ProgramWriter::comment(const ir::Op& op) {
  const ir::Location& place = op.location;
  if (place.line <= 0 || (place.line == last_location_.line && place.file == last_location_.file))
    return;
  last_location_ = place;
  out_.line(source_comment(kernel_, options_.line_text, place));
}

void ProgramWriter::comment_lines(const std::vector<const ir::Op*>& ops) {
  std::vector<const ir::Op*> lines = ops;
  const auto before = [](const ir::Op* a, const ir::Op* b) {
    return a->location.file != b->location.file ? a->location.file < b->location.file
                                                : a->location.line < b->location.line;
  };
  std::stable_sort(lines.begin(), lines.end(), before);
  for (const ir::Op* op : lines) comment(*op);
}

// ---- Scalars

OperandText ProgramWriter::operand(ir::Value value, const std::string& written) const {
  return {written, kernel_.type(value).element(), constant(value)};
}

const std::string& ProgramWriter::text(ir::Value value) {
  const auto found = texts_.find(value.id);
  if (found != texts_.end()) return found->second;
  const ir::Op* maker = kernel_.maker(value);
  TW_CHECK(maker && maker->kind == OpKind::Constant, "a scalar is used before it is written");
  return texts_[value.id] = literal_text(kernel_.type(value), *maker->find("value"));
}

void ProgramWriter::define(ir::Value value, const std::string& expression) {
  const ir::Type& type = kernel_.type(value);
  const std::string name = names_.make(kernel_.name_of(value));
  if (type.is_pointer) out_.format("{} const {} = {};", type_text(type), name, expression);
  else out_.format("const {} {} = {};", type_text(type), name, expression);
  texts_[value.id] = name;
  declared_[name] = type_text(type);
}

std::string ProgramWriter::scalar_expression(const ir::Op& op) {
  std::vector<OperandText> operands;
  for (const ir::Value value : op.operands) operands.push_back(operand(value, text(value)));
  return expression_text(op, kernel_.type(op.result()), operands);
}

void ProgramWriter::scalar(const ir::Op& op) {
  const ir::OpFacts& facts = op.facts();
  // One thread runs a program, so nothing waits; constants are written where they are used.
  if (op.kind == OpKind::Constant || op.kind == OpKind::Assume || facts.is(ir::Family::Sync))
    return;
  if (facts.has(ir::Elementwise) && is_inlined(op, scalar_expression(op))) {
    texts_[op.result().id] = atom(scalar_expression(op));
    return;
  }
  comment(op);
  if (facts.is(ir::Family::Source))
    return define(op.result(),
                  fmt::format("{}[{}]", op.kind == OpKind::ProgramId ? "id" : "programs",
                              op.integer("axis")));
  if (facts.is(ir::Family::Check)) {
    std::string condition = text(op.operands[0]);
    if (op.mask()) condition = fmt::format("({} || !{})", condition, atom(text(op.mask())));
    return check(op, condition, nullptr);
  }
  if (op.kind == OpKind::Print) return print({.kind = Step::Kind::Across, .op = &op});
  if (facts.maps(ir::Spread | ir::Repeated | ir::Reshaped | ir::Permuted))
    return define(op.result(), text(op.operands[0]));
  if (facts.has(ir::Reads) || facts.has(ir::Writes)) return scalar_memory(op);
  TW_CHECK(facts.has(ir::Elementwise), "'{}' is no op on scalars", facts.name);
  define(op.result(), scalar_expression(op));
}

// The scalar forms are elements of a nest without loops.
void ProgramWriter::scalar_memory(const ir::Op& op) {
  const Step step{.kind = Step::Kind::Scalar, .order = 1 << 30, .op = &op};
  Nest nest = make_nest(step, ir::Type{}, {});
  if (op.kind == OpKind::Load) {
    const Placed value = loaded(nest, op, {});
    flush(nest, 0);
    return define(op.result(), value.text);
  }
  effect(nest, op);
  flush(nest, 0);
  // The old value of an atomic, under the name that it got in the nest.
  if (!op.results.empty()) {
    names_ = nest.names;
    texts_[op.result().id] = nest.known.at({op.result().id, ""}).text;
  }
}

void ProgramWriter::check(const ir::Op& op, const std::string& condition,
                          std::vector<std::string>* lines) {
  const std::string line = assertion_text(kernel_, op, condition);
  if (lines) lines->push_back(line);
  else out_.line(line);
}

}  // namespace tilewright
