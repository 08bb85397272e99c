// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_branch.cpp — if: decided while lowering when its condition is a constant,
// else an op with two regions whose variables are merged.
//
// The IR has no jumps. A branch that returns therefore takes what follows the `if` into both
// regions: the one that returned leaves it out.
#include <fmt/format.h>

#include "frontend/triton/assigned.h"
#include "frontend/triton/frame.h"
#include "frontend/triton/structure.h"

namespace tilewright::triton {

bool Frame::branch(const py::If& node, const Rest* rest) {
  const Value test = expression(node.test);
  if (!test.is_tensor()) {
    bool taken = false;
    try {
      taken = semantic().truth(test);
    } catch (const Mistake& mistake) {
      lowering_.fail(module_, *node.test, mistake);
    }
    return run(taken ? node.body : node.otherwise, rest);
  }
  if (contains_return(node)) return returning_branch(node, test, rest);
  runtime_branch(node, test);
  return false;
}

// Lowers `body` into a region of its own; the variables are put back afterwards.
template <class Body>
Frame::Arm Frame::arm(const Body& body) {
  Arm made;
  const Variables before = variables_;
  {
    const ir::Builder::Into into(builder(), made.region);
    made.result = body();
  }
  made.variables = std::exchange(variables_, before);
  return made;
}

void Frame::runtime_branch(const py::If& node, const Value& test) {
  lowering_.set_place(&module_, node.test);
  const ir::Value condition = semantic().condition(test);
  const auto lowered = [&](py::NodeList body) {
    return arm([&] {
      run(body, nullptr);
      return Value();
    });
  };
  Arm then = lowered(node.body);
  Arm otherwise = lowered(node.otherwise);
  lowering_.set_place(&module_, &node);
  const Variables before = variables_;
  merge(node, before, condition, then, otherwise);
}

bool Frame::returning_branch(const py::If& node, const Value& test, const Rest* rest) {
  if (!loops_.empty() || unrolled_ > 0)
    fail(node, "'return' inside a loop is not supported in a kernel",
         "return after the loop, or put the work under an 'if'");
  lowering_.set_place(&module_, node.test);
  const ir::Value condition = semantic().condition(test);
  const auto lowered = [&](py::NodeList body) {
    return arm([&] { return run(body, rest) ? result_ : Value(); });
  };
  Arm then = lowered(node.body);
  Arm otherwise = lowered(node.otherwise);
  lowering_.set_place(&module_, &node);
  const std::vector<std::pair<Value, Value>> results = {{then.result, otherwise.result}};
  const std::vector<Value> merged = finish_if(condition, then, otherwise, results);
  if (merged.empty())
    fail(node,
         fmt::format("the function returns {} on one path and {} on another", describe(then.result),
                     describe(otherwise.result)),
         "return the same type on every path");
  result_ = merged.front();
  return true;
}

// A variable that both branches leave alone stays; one that both give a value of one type is
// yielded; one that only one branch knows exists no more.
void Frame::merge(const py::If& node, const Variables& before, ir::Value condition, Arm& then,
                  Arm& otherwise) {
  std::vector<std::string> names;
  std::vector<std::pair<Value, Value>> pairs;
  Variables after = before;
  for (const auto& [name, first] : then.variables) {
    const auto second = otherwise.variables.find(name);
    const bool in_both = second != otherwise.variables.end() && first.problem.empty() &&
                         second->second.problem.empty();
    if (!in_both) {
      if (!first.problem.empty() && before.contains(name)) continue;
      after.insert_or_assign(
          name,
          Variable{.value = {},
                   .place = first.place,
                   .problem = fmt::format("'{}' is assigned in only one branch of the 'if' on line "
                                          "{}, so it may have no value here",
                                          name, node.span.line),
                   .remedy = "assign it before the 'if' or in both branches"});
      continue;
    }
    if (same(first.value, second->second.value)) {
      after.insert_or_assign(name, first);
      continue;
    }
    names.push_back(name);
    pairs.emplace_back(first.value, second->second.value);
  }
  for (const auto& [name, second] : otherwise.variables) {
    if (then.variables.contains(name)) continue;
    after.insert_or_assign(
        name, Variable{.value = {},
                       .place = second.place,
                       .problem = fmt::format("'{}' is assigned in only one branch of the 'if' on "
                                              "line {}, so it may have no value here",
                                              name, node.span.line),
                       .remedy = "assign it before the 'if' or in both branches"});
  }
  // Those that cannot be merged are told apart first: known before, they are a mistake.
  std::vector<std::string> kept;
  std::vector<std::pair<Value, Value>> kept_pairs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    {
      const ir::Builder::Into into(builder(), then.region);
      pairs[i].first = matched(semantic(), pairs[i].first, pairs[i].second);
    }
    {
      const ir::Builder::Into into(builder(), otherwise.region);
      pairs[i].second = matched(semantic(), pairs[i].second, pairs[i].first);
    }
    if (alike(lowering_.kernel(), pairs[i].first, pairs[i].second)) {
      kept.push_back(names[i]);
      kept_pairs.push_back(pairs[i]);
      continue;
    }
    const auto known = before.find(names[i]);
    const Variable& first = then.variables.find(names[i])->second;
    const Variable& second = otherwise.variables.find(names[i])->second;
    if (known != before.end() && known->second.problem.empty())
      fail_merge(node, names[i], first, second);
    after.insert_or_assign(
        names[i], Variable{.value = {},
                           .place = first.place,
                           .problem = fmt::format("'{}' is {} or {} after the 'if' on line {}",
                                                  names[i], describe(first.value),
                                                  describe(second.value), node.span.line),
                           .remedy = "give it the same type in both branches"});
  }
  const std::vector<Value> merged = finish_if(condition, then, otherwise, kept_pairs);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (const auto* tensor = merged[i].get_if<ir::Value>())
      lowering_.kernel().set_name(*tensor, kept[i]);
    const Variable& first = then.variables.find(kept[i])->second;
    after.insert_or_assign(
        kept[i], Variable{.value = merged[i], .place = first.place, .problem = "", .remedy = ""});
  }
  variables_ = std::move(after);
}

void Frame::fail_merge(const py::If& node, const std::string& name, const Variable& then,
                       const Variable& otherwise) const {
  const auto known = variables_.find(name);
  const bool changed_first = known == variables_.end() || !same(known->second.value, then.value);
  const Variable& changed = changed_first ? then : otherwise;
  const py::Node& place = changed.place != nullptr ? *changed.place : node;
  fail(place,
       fmt::format("'{}' is {} in one branch of the 'if' on line {} and {} in the other", name,
                   describe(then.value), node.span.line, describe(otherwise.value)),
       "give it the same type and shape on both paths");
}

// Makes the op. Gives nothing when a pair cannot be merged.
std::vector<Value> Frame::finish_if(ir::Value condition, Arm& then, Arm& otherwise,
                                    const std::vector<std::pair<Value, Value>>& pairs) {
  std::vector<Value> merged;
  std::vector<ir::Value> yields[2];
  std::vector<ir::Type> types;
  for (const auto& [first, second] : pairs) {
    Arm* arms[2] = {&then, &otherwise};
    Value values[2] = {first, second};
    for (int i : {0, 1}) {
      const ir::Builder::Into into(builder(), arms[i]->region);
      values[i] = matched(semantic(), values[i], values[1 - i]);
    }
    if (!alike(lowering_.kernel(), values[0], values[1])) return {};
    for (int i : {0, 1})
      for (const ir::Value value : ir_values(values[i])) yields[i].push_back(value);
    merged.push_back(values[0]);
  }
  for (const ir::Value value : yields[0]) types.push_back(builder().type(value));
  {
    const ir::Builder::Into into(builder(), then.region);
    builder().yield(yields[0]);
  }
  {
    const ir::Builder::Into into(builder(), otherwise.region);
    builder().yield(yields[1]);
  }
  ir::Op* op = builder().create(ir::OpKind::If, {condition}, types);
  op->regions.push_back(std::move(then.region));
  op->regions.push_back(std::move(otherwise.region));
  std::span<const ir::Value> results = op->results;
  for (Value& value : merged) value = with_ir_values(value, results);
  return merged;
}

// a if test else b: only the side that is taken is evaluated.
Value Frame::ternary(const py::IfExp& node) {
  const Value test = expression(node.test);
  if (!test.is_tensor()) return expression(semantic().truth(test) ? node.body : node.otherwise);
  lowering_.set_place(&module_, node.test);
  const ir::Value condition = semantic().condition(test);
  const auto lowered = [&](const py::Node* side) {
    return arm([&] { return stored(semantic(), expression(side)); });
  };
  Arm then = lowered(node.body);
  Arm otherwise = lowered(node.otherwise);
  lowering_.set_place(&module_, &node);
  const std::vector<Value> merged =
      finish_if(condition, then, otherwise, {{then.result, otherwise.result}});
  if (merged.empty())
    throw Mistake{fmt::format("the two sides of 'if ... else' are {} and {}", describe(then.result),
                              describe(otherwise.result)),
                  "give both the same type and shape"};
  return merged.front();
}

}  // namespace tilewright::triton
