// SPDX-License-Identifier: Apache-2.0
// codegen/lower/expression_facts.cpp — from a value back to the names that it is computed from.
#include "codegen/lower/expression_facts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "codegen/print/cuda_expressions.h"
#include "codegen/text/expressions.h"

namespace tilewright {

using ir::Op;
using ir::OpKind;
using ir::Type;

namespace {

bool is_small_float(const Type& type) {
  return type.is_float() && !type.is_pointer && size_of(type.dtype) < 4;
}

// Numbers that no literal of C++ is.
bool is_made_number(const Type& type, const Op& constant) {
  if (type.is_pointer || !type.is_float()) return false;
  return is_small_float(type) || !std::isfinite(constant.number("value", 0));
}

}  // namespace

ExpressionFacts::ExpressionFacts(const ir::Kernel& kernel,
                                 std::unique_ptr<const ExpressionPrinter> language)
    : kernel_(kernel), language_(std::move(language)) {}
ExpressionFacts::~ExpressionFacts() = default;

ExpressionFacts ExpressionFacts::of_host(const ir::Kernel& kernel) {
  return {kernel, std::make_unique<const ExpressionPrinter>(kernel)};
}
ExpressionFacts ExpressionFacts::of_threads(const ir::Kernel& kernel) {
  return {kernel, std::make_unique<const CudaExpressions>(kernel)};
}

const Op* ExpressionFacts::expression_of(ir::Value value) const {
  const Op* maker = kernel_.maker(value);
  const bool is_name = !maker || maker->facts().has(ir::Nested) ||
                       !kernel_.name_of(value).empty() || maker->kind == OpKind::Constant;
  return is_name ? nullptr : maker;
}

const Op* ExpressionFacts::behind_hints(ir::Value value) const {
  const Op* op = expression_of(value);
  while (op && op->kind == OpKind::Hint) op = expression_of(op->operands[0]);
  return op;
}

bool ExpressionFacts::is_plain(ir::Value value) const {
  if (const Op* op = behind_hints(value))
    return op->kind == OpKind::Read && kernel_.type(op->operands[0]).space == ir::Space::Registers;
  const Op* maker = kernel_.maker(value);
  return !maker || maker->kind != OpKind::Constant || !is_made_number(kernel_.type(value), *maker);
}

bool ExpressionFacts::reads_element(ir::Value value) const {
  const Op* op = expression_of(value);
  if (!op) return false;
  if (op->kind == OpKind::Load) return true;
  if (op->kind == OpKind::Read) return kernel_.type(op->operands[0]).space != ir::Space::Registers;
  return std::any_of(op->operands.begin(), op->operands.end(),
                     [&](ir::Value operand) { return reads_element(operand); });
}

bool ExpressionFacts::is_computed(ir::Value value) const {
  const Op* op = behind_hints(value);
  if (op) return op->kind != OpKind::Read;
  const Op* maker = kernel_.maker(value);
  return maker && maker->kind == OpKind::Constant && is_made_number(kernel_.type(value), *maker);
}

bool ExpressionFacts::calls_function(ir::Value value) const {
  const Op* op = expression_of(value);
  if (!op) {
    const Op* maker = kernel_.maker(value);
    return maker && maker->kind == OpKind::Constant && is_made_number(kernel_.type(value), *maker);
  }
  if (op->kind == OpKind::Call || op->kind == OpKind::Load) return true;
  if (op->facts().is(ir::Family::Elementwise)) {
    std::vector<OperandText> operands;
    for (const ir::Value operand : op->operands) {
      const Op* maker = kernel_.maker(operand);
      OperandText known{.text = "", .type = kernel_.type(operand)};
      if (maker && maker->kind == OpKind::Constant && known.type.is_int())
        known.constant = maker->integer("value");
      operands.push_back(std::move(known));
    }
    if (is_function_call(*op, kernel_.type(value), operands)) return true;
  }
  return std::any_of(op->operands.begin(), op->operands.end(),
                     [&](ir::Value operand) { return calls_function(operand); });
}

bool ExpressionFacts::is_element(ir::Value value, ir::Value array, ir::Value index) const {
  const Op* op = behind_hints(value);
  if (!op || op->kind != OpKind::Read || op->operands[0] != array) return false;
  return kernel_.type(array).space == ir::Space::Registers || key(op->operands[1]) == key(index);
}

std::size_t ExpressionFacts::length(const Op& op) const { return language_->expression(op).size(); }

void ExpressionFacts::add_key(ir::Value value, std::string& out) const {
  const Op* op = expression_of(value);
  const Op* maker = kernel_.maker(value);
  if (!op && !(maker && maker->kind == OpKind::Constant)) {
    fmt::format_to(std::back_inserter(out), "%{} ", value.id);
    return;
  }
  if (!op) op = maker;
  fmt::format_to(std::back_inserter(out), "({} ", static_cast<int>(op->kind));
  for (const ir::Attribute& attribute : op->attributes)
    std::visit(
        [&](const auto& given) {
          using Given = std::decay_t<decltype(given)>;
          if constexpr (std::is_arithmetic_v<Given> || std::is_same_v<Given, std::string>)
            fmt::format_to(std::back_inserter(out), "{}={} ", attribute.name, given);
          else
            for (const auto& one : given)
              fmt::format_to(std::back_inserter(out), "{}:{} ", attribute.name, one);
        },
        attribute.value);
  for (const ir::Value operand : op->operands) add_key(operand, out);
  out += ')';
}

std::string ExpressionFacts::key(ir::Value value) const {
  std::string out;
  add_key(value, out);
  return out;
}

}  // namespace tilewright
