// SPDX-License-Identifier: Apache-2.0
// frontend/numba/item_loops.cpp — loops over tuples and arrays, zip and enumerate of them.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

// range(begin, end, step) inside of zip or enumerate.
std::optional<FunctionWriter::Items> FunctionWriter::range_items(const Call& call) {
  const Arguments given = arguments_of(call);
  expect_count(given, 1, 3, "range", call);
  for (const Value& bound : given.values) {
    if (bound.type.is_unknown()) return {};
    if (!bound.type.is_integer())
      fail(call, fmt::format("range(...) takes integers, not {}", text_of(bound.type)));
  }
  const Value begin = given.size() > 1 ? given.values[0] : integer_constant(0);
  const Value end = given.size() > 1 ? given.values[1] : given.values[0];
  const Value step = given.size() > 2 ? given.values[2] : integer_constant(1);
  if (step.integer().value_or(0) <= 0)
    missing(call, "a range(...) in zip or enumerate whose step is not a positive constant");
  const std::string count =
      fmt::format("{}({}, {}, {})", helper("tw_slice_count"), converted(begin, DType::Int64).text,
                  converted(end, DType::Int64).text, step.text);
  return Items{{}, count, [this, begin, step, &call](const Value& index) {
                 return binary(BinaryOperator::Add, begin,
                               binary(BinaryOperator::Multiply, index, step, call), call);
               }};
}

std::optional<FunctionWriter::Items> FunctionWriter::zipped(const Call& call) {
  std::vector<Items> all;
  for (const Node* each : call.arguments) {
    std::optional<Items> items = items_of(each);
    if (!items) return {};
    all.push_back(std::move(*items));
  }
  if (all.empty()) fail(call, "zip(...) takes arrays or tuples");
  const auto is_tuple = [](const Items& items) { return !items.at; };
  if (std::all_of(all.begin(), all.end(), is_tuple)) {
    std::size_t count = all.front().each.size();
    for (const Items& items : all) count = std::min(count, items.each.size());
    Items result;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Value> row;
      for (const Items& items : all) row.push_back(items.each[i]);
      result.each.push_back(tuple_value(std::move(row)));
    }
    return result;
  }
  if (std::any_of(all.begin(), all.end(), is_tuple)) missing(call, "zip(...) of tuples and arrays");
  std::string count = all.front().count;
  for (std::size_t i = 1; i < all.size(); ++i)
    count = fmt::format("{}<long long>({}, {})", helper("tw_min"), count, all[i].count);
  return Items{{}, count, [all](const Value& index) {
                 std::vector<Value> row;
                 for (const Items& items : all) row.push_back(items.at(index));
                 return tuple_value(std::move(row));
               }};
}

std::optional<FunctionWriter::Items> FunctionWriter::enumerated(const Call& call) {
  if (call.arguments.empty() || call.arguments.size() > 2)
    fail(call, "enumerate(...) takes an array or a tuple, and where it begins");
  const std::optional<Items> items = items_of(call.arguments[0]);
  const Value begin =
      call.arguments.size() > 1 ? expression(call.arguments[1]) : integer_constant(0);
  if (!items || begin.type.is_unknown()) return {};
  if (!items->at) {
    Items result;
    for (std::size_t i = 0; i < items->each.size(); ++i) {
      const Value number = integer_constant(static_cast<std::int64_t>(i));
      result.each.push_back(
          tuple_value({binary(BinaryOperator::Add, begin, number, call), items->each[i]}));
    }
    return result;
  }
  return Items{
      {}, items->count, [this, items, begin, &call](const Value& index) {
        return tuple_value({binary(BinaryOperator::Add, begin, index, call), items->at(index)});
      }};
}

std::optional<FunctionWriter::Items> FunctionWriter::items_of(const Node* node) {
  if (const auto* call = cast_if<Call>(node)) {
    const Value callee = expression(call->function);
    if (callee.external == "builtins.zip") return zipped(*call);
    if (callee.external == "builtins.enumerate") return enumerated(*call);
    if (callee.external == "builtins.range") return range_items(*call);
    if (!callee.external.empty())
      missing(*node, fmt::format("a loop over {}(...)", dotted_name(call->function)));
  }
  const Value items = expression(node);
  if (items.type.kind == Type::Kind::Unknown) return {};
  if (items.type.is_tuple()) return Items{items.items, {}, {}};
  if (!items.type.is_array() || items.type.ndim == 0)
    fail(*node, fmt::format("a loop cannot go over {}", text_of(items.type)),
         "loop over range(...)");
  return Items{{}, items.shape[0], [this, items](const Value& index) {
                 return items.type.ndim == 1 ? element(items, {index}) : row(items, index);
               }};
}

void FunctionWriter::item_loop(const For& node) {
  const std::optional<Items> items = items_of(node.iterable);
  if (!items) {
    assign_to(node.target, {}, node);
    return block(node.body);
  }
  if (items->at) return indexed_loop(node, *items);
  // Each item of a tuple has a turn of its own, since their types may differ.
  missing_in_unrolled(node.body);
  for (const Value& item : items->each) {
    out_.open("");
    scopes_.emplace_back();
    assign_to(node.target, item, node);
    for (const Node* each : node.body) statement(*each);
    scopes_.pop_back();
    out_.close();
  }
}

void FunctionWriter::indexed_loop(const For& node, const Items& items) {
  const std::string index = is_final_ ? names_.make("tw_i") : "i";
  Value at = scalar_value(DType::Int64, index);
  at.is_nonnegative = true;
  const std::string end = is_final_ ? names_.make("tw_end") : "0";
  if (is_final_) out_.format("const long long {} = {};", end, items.count);
  out_.open(fmt::format("for (long long {0} = 0; {0} < {1}; ++{0})", index, end));
  scopes_.emplace_back();
  assign_to(node.target, items.at(at), node);
  for (const Node* each : node.body) statement(*each);
  scopes_.pop_back();
  out_.close();
}

}  // namespace tilewright::numba
