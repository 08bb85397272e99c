// SPDX-License-Identifier: Apache-2.0
// codegen/print/expressions.cpp — one op as an expression of C++.
#include "codegen/print/expressions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/calls.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Of an op with regions, the variable that the result is when it ends; none for any other.
ir::Value variable_of(const ir::Op& op, ir::Value result) {
  std::size_t number = 0;
  while (op.results[number] != result) ++number;
  if (op.kind == OpKind::For) return op.regions[0].arguments[number + 1];
  if (op.kind == OpKind::While) return op.regions[1].arguments[number];
  return {};
}

}  // namespace

bool is_divisor(const ir::Op& op) {
  return ir::calls(op, LibraryKind::Divisor) || ir::calls(op, LibraryKind::PlainDivisor);
}

bool ExpressionPrinter::is_thread(ir::Value value) const {
  const ir::Op* maker = kernel_.maker(value);
  return maker && maker->kind == OpKind::Thread;
}

bool ExpressionPrinter::is_inlined(const ir::Op& op) const {
  if (op.results.size() != 1 || op.facts().has(ir::Nested)) return false;
  return op.kind == OpKind::Constant || kernel_.name_of(op.result()).empty();
}

std::string ExpressionPrinter::operand(ir::Value value) const {
  const std::string& name = kernel_.name_of(value);
  const ir::Op* maker = kernel_.maker(value);
  if (maker && maker->kind == OpKind::Constant)
    return literal_text(kernel_.type(value), *maker->find("value"));
  if (!name.empty()) return name;
  TW_CHECK(maker, "a value has neither a name nor an op");
  if (const ir::Value variable = variable_of(*maker, value)) return operand(variable);
  return atom(expression(*maker));
}

std::string ExpressionPrinter::argument(ir::Value value) const {
  const ir::Op* maker = kernel_.maker(value);
  const bool is_sum = maker && kernel_.name_of(value).empty() &&
                      (maker->kind == OpKind::Linear || maker->kind == OpKind::ArrayView);
  return is_sum ? expression(*maker) : operand(value);
}

std::string ExpressionPrinter::condition(ir::Value value) const {
  const ir::Op* maker = kernel_.maker(value);
  const bool is_open = maker && maker->kind != OpKind::Constant && is_inlined(*maker);
  return is_open ? expression(*maker) : operand(value);
}

std::string ExpressionPrinter::arguments(const ir::Op& op) const {
  std::string out;
  for (const ir::Value value : op.operands) out += (out.empty() ? "" : ", ") + argument(value);
  return out;
}

std::string ExpressionPrinter::conditions(const ir::Op& op) const {
  std::string out;
  for (const ir::Value value : op.operands) out += (out.empty() ? "" : ", ") + condition(value);
  return out;
}

std::string ExpressionPrinter::type(ir::Value value) const {
  const Type& type = kernel_.type(value);
  return type.is_array() ? type_text(type.element()) + "*" : type_text(type);
}

std::string ExpressionPrinter::place(ir::Value pointer) const {
  const ir::Op* maker = kernel_.maker(pointer);
  if (maker && maker->kind == OpKind::Offset && kernel_.name_of(pointer).empty())
    return fmt::format("{}[{}]", operand(maker->operands[0]), argument(maker->operands[1]));
  return fmt::format("{}[0]", operand(pointer));
}

std::string ExpressionPrinter::address(ir::Value pointer) const {
  const ir::Op* maker = kernel_.maker(pointer);
  if (maker && maker->kind == OpKind::Offset && kernel_.name_of(pointer).empty())
    return fmt::format("{} + {}", operand(maker->operands[0]), argument(maker->operands[1]));
  return operand(pointer);
}

std::string ExpressionPrinter::copied_type(ir::Value value) const {
  const ir::Op* maker = kernel_.maker(value);
  if (maker && is_divisor(*maker)) return fmt::format("tw::{}", maker->text("function"));
  const Type& own = kernel_.type(value);
  return own.space == ir::Space::Registers ? type_text(own.element()) : type(value);
}

std::string ExpressionPrinter::element(ir::Value array, ir::Value index) const {
  const ir::Op* group = kernel_.maker(array);
  if (group && group->kind == OpKind::Group) {
    const auto member = std::find(group->results.begin(), group->results.end(), array);
    const bool is_one = kernel_.type(array).space == ir::Space::Registers;
    return fmt::format("{}{}.v{}", operand(group->results[0]),
                       is_one ? "" : fmt::format("[{}]", argument(index)),
                       member - group->results.begin());
  }
  if (kernel_.type(array).space == ir::Space::Registers) return operand(array);
  return fmt::format("{}[{}]", operand(array), argument(index));
}

// ---- Ops

std::string ExpressionPrinter::expression(const ir::Op& op) const {
  const ir::OpFacts& facts = op.facts();
  if (op.kind == OpKind::ProgramId) return program(static_cast<int>(op.integer("axis")));
  if (op.kind == OpKind::NumPrograms) return programs(static_cast<int>(op.integer("axis")));
  if (op.kind == OpKind::NumBlocks) return blocks();
  if (facts.is(ir::Family::Final)) return final_expression(op);
  if (op.kind == OpKind::Load) return load(op);
  if (facts.is_atomic()) return atomic(op);
  return computed(op);
}

std::string ExpressionPrinter::program(int axis) const { return fmt::format("id[{}]", axis); }
std::string ExpressionPrinter::programs(int axis) const {
  return fmt::format("programs[{}]", axis);
}
std::string ExpressionPrinter::blocks() const {
  TW_UNREACHABLE("a program of the host has no blocks");
}
std::string ExpressionPrinter::thread_again() const { return thread(); }
std::string ExpressionPrinter::thread() const {
  TW_UNREACHABLE("one thread of the host runs a program");
}

std::string ExpressionPrinter::final_expression(const ir::Op& op) const {
  switch (ir::final_op(op.kind)) {
    case ir::FinalOp::ArrayView:
      return array_view(op);
    case ir::FinalOp::Read:
      return element(op.operands[0], op.operands[1]);
    case ir::FinalOp::Linear:
      return linear(op);
    case ir::FinalOp::Digit:
      return digit(op);
    case ir::FinalOp::All:
      return all(op);
    case ir::FinalOp::Call:
      return call(op);
    case ir::FinalOp::Thread:
      return thread();
    case ir::FinalOp::Array:
    case ir::FinalOp::Group:
    case ir::FinalOp::Write:
    case ir::FinalOp::LoadTo:
    case ir::FinalOp::StoreFrom:
    case ir::FinalOp::CopyTo:
    case ir::FinalOp::ForPrograms:
    case ir::FinalOp::Lines:
      break;
  }
  TW_UNREACHABLE("'{}' is no expression", op.facts().name);
}

std::string ExpressionPrinter::array_view(const ir::Op& op) const {
  const ir::Op* index = kernel_.maker(op.operands[1]);
  if (index && index->kind == OpKind::Constant && index->integer("value") == 0)
    return argument(op.operands[0]);
  return fmt::format("{} + {}", argument(op.operands[0]), argument(op.operands[1]));
}

std::string ExpressionPrinter::linear(const ir::Op& op) const {
  const std::vector<std::int64_t> factors = op.integers("factors");
  std::size_t stride = factors.size();
  std::string out;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const std::string index = operand(op.operands[k]);
    const std::int64_t factor = factors[k];
    const bool is_minus = factor == -1 && k > 0;
    out += out.empty() ? "" : is_minus ? " - " : " + ";
    if (factor == 1 || is_minus) out += index;
    else if (factor != 0) out += fmt::format("{} * {}", index, factor);
    else out += product(index, operand(op.operands[stride++]));
  }
  const std::int64_t offset = op.integer("offset");
  if (offset != 0) out += fmt::format(" {} {}", offset < 0 ? '-' : '+', std::abs(offset));
  return out;
}

std::string ExpressionPrinter::product(const std::string& index, const std::string& stride) const {
  return fmt::format("{} * {}", index, stride);
}

// Unsigned, so that the compiler shifts and masks.
std::string ExpressionPrinter::digit(const ir::Op& op) const {
  std::string text = fmt::format("u32({})", argument(op.operands[0]));
  if (op.integer("over") > 1) text += fmt::format(" / {}", op.integer("over"));
  if (op.integer("of") > 0) text += fmt::format(" % {}", op.integer("of"));
  return fmt::format("i32({})", text);
}

std::string ExpressionPrinter::all(const ir::Op& op) const {
  std::string out;
  for (const ir::Value condition : op.operands) {
    const ir::Op* maker = kernel_.maker(condition);
    const bool is_test = maker && kernel_.name_of(condition).empty() &&
                         (maker->kind == OpKind::Compare || maker->kind == OpKind::Call);
    out += (out.empty() ? "" : " && ") + (is_test ? expression(*maker) : operand(condition));
  }
  return out;
}

std::string ExpressionPrinter::call(const ir::Op& op) const {
  const auto& in = op.operands;
  const auto number = [&](std::size_t k) { return op.integers("numbers")[k]; };
  switch (value_call(ir::function_of(op))) {
    case ValueCall::IsLarge:
      return fmt::format("tw::is_large(launch, {})", number(0));
    case ValueCall::IsAligned:
      return fmt::format("u64({}) % {} == 0", operand(in[0]), number(0));
    case ValueCall::InPlace:
      return fmt::format("{} ? {} : {}", operand(in[0]), operand(in[1]), operand(in[2]));
    case ValueCall::RowOf:
      return fmt::format("{} ? {} : &{}", operand(in[0]), operand(in[1]), place(in[2]));
    case ValueCall::Here:
      return fmt::format("tw::here({})", is_thread(in[0]) ? thread_again() : argument(in[0]));
    case ValueCall::Describe:
      return fmt::format("tw::describe<{}>({}, {}, {})", number(0), argument(in[0]), number(1),
                         number(2));
    case ValueCall::Divide:
      return fmt::format("{}.divide({})", operand(in[0]), operand(in[1]));
    case ValueCall::Rotated:
      return fmt::format("tw::rotated<{}>({})", number(0), arguments(op));
    case ValueCall::OwnRow:
      return own_row(op);
    case ValueCall::Clip:
    case ValueCall::Copy:
    case ValueCall::ExpPlus:
    case ValueCall::DivideFast:
    case ValueCall::Divisor:
    case ValueCall::PlainDivisor:
    case ValueCall::WordOf:
    case ValueCall::WordAt:
    case ValueCall::Uniform:
    case ValueCall::Settled:
    case ValueCall::Advanced:
    case ValueCall::Further:
    case ValueCall::IsRun:
      return fmt::format("tw::{}({})", op.text("function"), arguments(op));
    case ValueCall::ByTurns:
      break;
  }
  TW_UNREACHABLE("'{}' is written with the entry", op.text("function"));
}

std::string ExpressionPrinter::load(const ir::Op& op) const {
  const Type& type = kernel_.type(op.result());
  std::string read = place(op.operands[0]);
  // Small floats are structs, and a copy of a whole struct keeps a loop from becoming vector code.
  const bool is_struct = type.is_float() && size_of(type.dtype) < 4;
  if (op.integer("volatile") != 0) read = fmt::format("tw::load_volatile(&{})", read);
  else if (is_struct) read = fmt::format("tw::copy({})", read);
  if (type.is_bool()) read += " != 0";
  if (op.operands.size() < 2) return read;
  const std::string other = op.operands.size() > 2 ? operand(op.operands[2])
                            : type.is_float()      ? literal_text(type, 0.0)
                                                   : literal_text(type, std::int64_t{0});
  return fmt::format("{} ? {} : {}", operand(op.operands[1]),
                     type.is_bool() ? "(" + read + ")" : read, other);
}

std::string ExpressionPrinter::own_row(const ir::Op&) const {
  TW_UNREACHABLE("a row of a thread is of the program of a thread");
}

std::string ExpressionPrinter::atomic(const ir::Op& op) const {
  const bool is_cas = op.kind == OpKind::AtomicCas;
  std::string name = is_cas ? "cas" : std::string(op.text("op"));
  if (name == "fadd") name = "add";
  std::string update =
      fmt::format("tw::atomic_{}(&{}, {}", name, place(op.operands[0]), operand(op.operands[1]));
  if (is_cas) update += ", " + operand(op.operands[2]);
  return update + ")";
}

std::vector<OperandText> ExpressionPrinter::operands_of(const ir::Op& op) const {
  std::vector<OperandText> operands;
  for (const ir::Value value : op.operands) {
    const ir::Op* maker = kernel_.maker(value);
    const ir::AttributeValue* constant =
        maker && maker->kind == OpKind::Constant ? maker->find("value") : nullptr;
    const auto* number = std::get_if<std::int64_t>(constant);
    operands.push_back(
        {operand(value), kernel_.type(value), number ? std::optional(*number) : std::nullopt});
  }
  return operands;
}

std::string ExpressionPrinter::computed(const ir::Op& op) const {
  const std::vector<OperandText> operands = operands_of(op);
  const Type& type = kernel_.type(op.result());
  const bool is_falling = op.kind == OpKind::Math && op.text("function") == "exp" &&
                          type.dtype == DType::Float32 && op.number("argument_to", HUGE_VAL) <= 0;
  if (is_falling) return fmt::format("tw::exp_down({})", operands[0].text);
  // Of bools it is 0 or 1, which is a condition as it is.
  if (op.kind == OpKind::And && type.is_bool())
    return fmt::format("{} & {}", operands[0].text, operands[1].text);
  return expression_text(op, type, operands);
}

}  // namespace tilewright
