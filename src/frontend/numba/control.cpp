// SPDX-License-Identifier: Apache-2.0
// frontend/numba/control.cpp — branches, guards of loops over threads, returns.
#include <fmt/format.h>

#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

void FunctionWriter::conditional(const If& node, bool is_else) {
  const Value test = expression(node.test);
  std::string condition = "false";
  if (!test.type.is_unknown())
    condition = truth_of(expect_scalar(test, "a condition", *node.test)).text;
  if (!is_else && test.constant) return only_branch(node, *truth_of(test).integer() != 0);
  if (may_guard_ && is_final_ && scopes_.size() == 1 && callees.empty()) {
    if (guard(node, test)) return;
    has_guard_ |= test.row == AlongRow::Prefix;
    if (test.row == AlongRow::Prefix) condition = "tw_mode == 1 || " + condition;
  }
  may_guard_ = false;
  if (is_else) {
    out_.outdent();
    out_.open(fmt::format("}} else if ({})", condition));
  } else {
    out_.open(fmt::format("if ({})", condition));
  }
  block(node.body);
  if (node.otherwise.size() == 1 && is<If>(node.otherwise.front()) && !is_effectful_test(node)) {
    line_ = -1;
    return conditional(cast<If>(node.otherwise.front()), true);
  }
  if (!node.otherwise.empty()) {
    out_.outdent();
    out_.open("} else");
    block(node.otherwise);
  }
  out_.close();
}

// A condition that is known chooses now: what the other branch does to types does not count.
void FunctionWriter::only_branch(const If& node, bool is_true) {
  may_guard_ = false;
  out_.open("");
  block(is_true ? node.body : node.otherwise);
  out_.close();
}

// A loop over threads asks first (mode 2) whether the last thread of a row is inside; then all are,
// and no thread needs to test (mode 1). Is the statement written?
//   if i < n: ...          if i >= n: return
bool FunctionWriter::guard(const If& node, const Value& condition) {
  if (condition.row == AlongRow::Prefix)
    out_.format("if (tw_mode == 2) return {};", condition.text);
  const bool returns = node.otherwise.empty() && node.body.size() == 1 &&
                       is<Return>(node.body.front()) &&
                       cast<Return>(node.body.front()).value == nullptr;
  if (condition.row != AlongRow::Suffix || !returns) return false;
  out_.format("if (tw_mode == 2) return !({});", condition.text);
  out_.format("if (tw_mode == 0 && ({})) return true;", condition.text);
  may_guard_ = false;
  has_guard_ = true;
  return true;
}

// Would the test of `elif` write lines of its own? Those cannot stand before it.
bool FunctionWriter::is_effectful_test(const If& node) const {
  const auto visit = [](const Node& each, const auto& self) -> bool {
    bool found = is<Call>(&each);
    for_each_child(each, [&](const Node& child) { found |= self(child, self); });
    return found;
  };
  return visit(*cast<If>(node.otherwise.front()).test, visit);
}

void FunctionWriter::return_value(const Return& node) {
  const bool is_nothing = node.value == nullptr || is<NoneLiteral>(node.value);
  const Value value = is_nothing ? Value{Type::none()} : expression(node.value);
  if (value.type.is_unknown()) return out_.line("return;");
  if (value.type.is_array() || value.type.kind == Type::Kind::Constant)
    fail(node, fmt::format("a function cannot return {}", text_of(value.type)),
         "give it the array to write to as an argument");
  const std::optional<Type> joined = unify(result_, value.type);
  if (!joined)
    fail(node, fmt::format("'{}' returns {} here, but {} at line {}", function_.name,
                           text_of(value.type), text_of(result_), result_place_->span.line));
  is_changed_ |= !(result_ == *joined) && !(result_.kind == Type::Kind::Unknown && is_nothing);
  result_ = *joined;
  is_result_nonnegative_ &= value.is_nonnegative;
  result_place_ = &node;
  if (is_nothing) return out_.line(is_loop_dialect() && is_kernel_ ? "return true;" : "return;");
  if (result_.is_scalar()) return out_.format("return {};", converted(value, result_.dtype).text);
  if (value.is_packed) return out_.format("return {};", value.text);
  const std::vector<Value> parts =
      result_.is_complex ? as_complex(value, result_.items[0].dtype).items : value.items;
  std::string items;
  for (std::size_t i = 0; i < parts.size(); ++i)
    items += (i == 0 ? "" : ", ") + converted(parts[i], result_.items[i].dtype).text;
  out_.format("return {}{{{}}};", result_text(result_), items);
}

void FunctionWriter::expression_statement(const ExprStmt& node) {
  if (is<StrLiteral>(node.value) || is<EllipsisLiteral>(node.value)) return;  // a docstring
  const Value value = expression(node.value);
  if (!value.text.empty() && is<Call>(node.value)) out_.format("{};", value.text);
}

}  // namespace tilewright::numba
