// SPDX-License-Identifier: Apache-2.0
// codegen/print/expressions.cpp — one op as an expression of C++.
#include "codegen/print/expressions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/check.h"
#include "machine/library.h"

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

const LibraryFunction& function_of(const ir::Op& op) {
  const LibraryFunction* function = find_library_function(op.text("function"));
  TW_CHECK(function, "the library has no function '{}'", op.text("function"));
  return *function;
}

}  // namespace

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
  if (maker && maker->kind == OpKind::Call)
    for (const LibraryKind kind : {LibraryKind::Divisor, LibraryKind::PlainDivisor})
      if (maker->text("function") == name_of(kind)) return fmt::format("tw::{}", name_of(kind));
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
  const LibraryFunction& function = function_of(op);
  const auto& in = op.operands;
  switch (function.kind) {
    case LibraryKind::IsLarge:
      return fmt::format("tw::is_large(launch, {})", op.integers("numbers")[0]);
    case LibraryKind::IsAligned:
      return fmt::format("u64({}) % {} == 0", operand(in[0]), op.integers("numbers")[0]);
    case LibraryKind::InPlace:
      return fmt::format("{} ? {} : {}", operand(in[0]), operand(in[1]), operand(in[2]));
    case LibraryKind::RowOf:
      return fmt::format("{} ? {} : &{}", operand(in[0]), operand(in[1]), place(in[2]));
    case LibraryKind::Here:
      return fmt::format("tw::here({})", is_thread(in[0]) ? thread_again() : argument(in[0]));
    case LibraryKind::Describe: {
      const std::vector<std::int64_t> numbers = op.integers("numbers");
      return fmt::format("tw::describe<{}>({}, {}, {})", numbers[0], argument(in[0]), numbers[1],
                         numbers[2]);
    }
    case LibraryKind::Divide:
      return fmt::format("{}.divide({})", operand(in[0]), operand(in[1]));
    case LibraryKind::Rotated:
      return fmt::format("tw::rotated<{}>({}, {})", op.integers("numbers")[0], argument(in[0]),
                         argument(in[1]));
    case LibraryKind::OwnRow:
      return own_row(op);
    case LibraryKind::Clip:
    case LibraryKind::Copy:
    case LibraryKind::ExpPlus:
    case LibraryKind::DivideFast:
    case LibraryKind::Divisor:
    case LibraryKind::PlainDivisor:
    case LibraryKind::WordOf:
    case LibraryKind::WordAt:
    case LibraryKind::Uniform:
    case LibraryKind::Settled:
    case LibraryKind::Advanced:
    case LibraryKind::Further:
    case LibraryKind::IsRun: {
      std::string arguments;
      for (const ir::Value value : in)
        arguments += (arguments.empty() ? "" : ", ") + argument(value);
      return fmt::format("tw::{}({})", function.name, arguments);
    }
    case LibraryKind::Stream:
    case LibraryKind::FinishStreams:
    case LibraryKind::Map:
    case LibraryKind::Sum:
    case LibraryKind::SumF64:
    case LibraryKind::SumBeside:
    case LibraryKind::SumKept:
    case LibraryKind::Largest:
    case LibraryKind::FetchAhead:
    case LibraryKind::FetchBlock:
    case LibraryKind::FetchFarBlock:
    case LibraryKind::ByTurns:
    case LibraryKind::Defer:
    case LibraryKind::RunDeferred:
    case LibraryKind::FinishDeferred:
    case LibraryKind::Dot:
    case LibraryKind::RunningSum:
    case LibraryKind::MergeRuns:
    case LibraryKind::WaitAMoment:
    case LibraryKind::LoadMatrices:
    case LibraryKind::Mma:
    case LibraryKind::ReduceLanes:
    case LibraryKind::ReduceBlock:
    case LibraryKind::ReduceCluster:
    case LibraryKind::ClusterWait:
    case LibraryKind::FinishCopies:
    case LibraryKind::ScanLanes:
    case LibraryKind::ScanBlock:
    case LibraryKind::BeforeLanes:
    case LibraryKind::BeforeBlock:
    case LibraryKind::SortBlock:
    case LibraryKind::CountOne:
    case LibraryKind::SwapLanes:
    case LibraryKind::ShowToProducts:
    case LibraryKind::BeginProducts:
    case LibraryKind::StartProduct:
    case LibraryKind::CommitProducts:
    case LibraryKind::WaitProducts:
    case LibraryKind::TakeProducts:
    case LibraryKind::ComputeBefore:
    case LibraryKind::SetUpRing:
    case LibraryKind::PrefetchMap:
    case LibraryKind::AcquireSlot:
    case LibraryKind::CopyBox:
    case LibraryKind::AwaitSlot:
    case LibraryKind::ReleaseSlot:
    case LibraryKind::StoreBox:
    case LibraryKind::WaitBoxes:
      break;
  }
  TW_UNREACHABLE("'{}' gives nothing", function.name);
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
