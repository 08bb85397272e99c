// SPDX-License-Identifier: Apache-2.0
// frontend/numba/loops.cpp — while, and for over ranges, tuples and arrays.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

void FunctionWriter::while_loop(const While& node) {
  if (!node.otherwise.empty()) missing(*node.otherwise.front(), "'else' of a loop");
  const Value test = expression(node.test);
  std::string condition = "false";
  if (!test.type.is_unknown())
    condition = truth_of(expect_scalar(test, "a condition", *node.test)).text;
  out_.open(fmt::format("while ({})", condition));
  block(node.body);
  out_.close();
}

void FunctionWriter::for_loop(const For& node) {
  if (!node.otherwise.empty()) missing(*node.otherwise.front(), "'else' of a loop");
  if (const auto* call = cast_if<Call>(node.iterable)) {
    const Value callee = expression(call->function);
    if (callee.external == "builtins.range" || callee.external == "numba.prange")
      return range_loop(node, *call);
  }
  item_loop(node);
}

// The value as a name or number that stays the same while a loop runs.
std::string FunctionWriter::once(const Value& value, const std::string& name) {
  if (value.is_stable) return in_parentheses(value);
  const std::string made = names_.make(name);
  out_.format("const {} {} = {};", value.is_narrow() ? "int" : cpp_type(value.type.dtype), made,
              value.text);
  return made;
}

// range(n) of an int32 counts in int32, else in int64.
DType FunctionWriter::range_type(const std::vector<Value>& bounds) const {
  bool is_narrow = true, is_unsigned = true;
  for (const Value& bound : bounds) {
    const DType dtype = bound.type.dtype;
    is_narrow &= !bound.constant && size_of(dtype) <= 4 && dtype != DType::UInt32;
    is_unsigned &= dtype == DType::UInt64 || dtype == DType::UInt32;
  }
  return is_narrow ? DType::Int32 : is_unsigned ? DType::UInt64 : DType::Int64;
}

void FunctionWriter::range_loop(const For& node, const Call& call) {
  Arguments given = arguments_of(call);
  expect_count(given, 1, 3, "range", call);
  const auto* target = cast_if<Name>(node.target);
  if (target == nullptr) fail(*node.target, "a loop over range(...) has one name to count with");
  for (const Value& bound : given.values) {
    if (bound.type.is_unknown()) {
      define(target, {}, node);
      return block(node.body);
    }
    if (!bound.type.is_integer())
      fail(call, fmt::format("range(...) takes integers, not {}", text_of(bound.type)));
  }
  const Value begin = given.size() > 1 ? given.values[0] : integer_constant(0);
  const Value end = given.size() > 1 ? given.values[1] : given.values[0];
  const Value step = given.size() > 2 ? given.values[2] : integer_constant(1);
  if (step.integer() == 0) fail(call, "the step of range(...) must not be 0");
  const DType dtype = range_type(given.values);
  Value counter = scalar_value(dtype, "");
  const bool counts_up = step.integer().value_or(step.is_nonnegative ? 1 : 0) > 0;
  counter.is_nonnegative |= counts_up ? begin.is_nonnegative : end.is_nonnegative;
  const auto bound = [&](const Value& value) {
    return value.most ? value : converted(value, dtype);
  };
  counter.most = most_counted(begin, end, step);
  write_range(node, *target, {bound(begin), bound(end), step, counter});
}

// In a narrow kernel: no count, the one behind the last included, is more than this.
std::optional<std::int64_t> FunctionWriter::most_counted(const Value& begin, const Value& end,
                                                         const Value& step) const {
  const auto first = most_of(begin), last = most_of(end), by = most_of(step);
  if (!program_.is_narrow || !first || !last || !by || !step.is_nonnegative ||
      !begin.is_nonnegative || !end.is_nonnegative)
    return {};
  const std::int64_t most = std::max(*first, *last);
  if (*by > most_of_narrow / 2 || most > most_of_narrow * 3 / 2) return {};
  return most;
}

void FunctionWriter::write_range(const For& node, const Name& target, const Range& range) {
  const auto index = static_cast<std::size_t>(webs_.of_definition.at(&target));
  const WebState& state = states_[index];
  // A body that assigns the name changes nothing of the count.
  const bool is_own = is_final_ && state.is_declarable &&
                      webs_.all[index].definitions.size() == 1 &&
                      variables_[static_cast<std::size_t>(state.variable)].is_only_counted;
  Value counter = range.counter;
  std::string name = "i";
  if (is_own) name = variables_[static_cast<std::size_t>(state.variable)].name;
  else if (is_final_) name = names_.make(fmt::format("tw_{}", target.id));
  counter.text = name;
  // The name is also declared inside of its own loop: bounds are read before.
  const auto bound = [&](const Value& value, const char* what) {
    return once(value, fmt::format("{}_{}", name, what));
  };
  const std::string type = counter.is_narrow() ? "int" : cpp_type(counter.type.dtype);
  const std::string end = is_final_ ? bound(range.end, "end") : "0";
  const std::optional<std::int64_t> fixed = range.step.integer();
  std::string advance = fixed == 1    ? fmt::format("++{}", name)
                        : fixed == -1 ? fmt::format("--{}", name)
                                      : std::string();
  std::string test = fmt::format("{} {} {}", name, fixed.value_or(1) > 0 ? "<" : ">", end);
  if (advance.empty() && is_final_) {
    const std::string by = bound(range.step, "step");
    advance = fmt::format("{} += {}", name, by);
    if (!fixed && !range.step.is_nonnegative)
      test = fmt::format("{2} > 0 ? {0} < {1} : {0} > {1}", name, end, by);
  }
  std::string begin = range.begin.text;
  // `for (long long i = i; ...)` would read the new one.
  if (is_own && !range.begin.is_stable && is_final_) begin = once(range.begin, name + "_begin");
  out_.open(fmt::format("for ({} {} = {}; {}; {})", type, name, begin, test, advance));
  scopes_.emplace_back();
  if (is_own) {
    scopes_.back().insert(state.variable);
    define_silently(target, counter, node);
  } else {
    define(&target, counter, node);
  }
  for (const Node* each : node.body) statement(*each);
  scopes_.pop_back();
  out_.close();
}

// The loop's own head has assigned the variable already.
void FunctionWriter::define_silently(const Name& target, const Value& value, const Node& place) {
  const bool was_final = std::exchange(is_final_, false);
  define(&target, value, place);
  is_final_ = was_final;
}

void FunctionWriter::missing_in_unrolled(NodeList body) const {
  for (const Node* each : body) {
    if (is<Break>(each) || is<Continue>(each))
      missing(*each, "'break' and 'continue' in a loop over a tuple");
    if (const auto* branch = cast_if<If>(each)) {
      missing_in_unrolled(branch->body);
      missing_in_unrolled(branch->otherwise);
    }
  }
}

}  // namespace tilewright::numba
