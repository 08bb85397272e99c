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
  Variables after = before;
  std::vector<std::string> names;
  std::vector<std::pair<Value, Value>> pairs;
  for (auto& [name, first] : then.variables) {
    const auto found = otherwise.variables.find(name);
    const bool in_both = found != otherwise.variables.end() && first.problem.empty() &&
                         found->second.problem.empty();
    if (!in_both) {
      const bool is_worse_there = found != otherwise.variables.end() && first.problem.empty();
      const Variable& known = is_worse_there ? found->second : first;
      Variable unreadable = only_in_one_branch(node, name, known);
      const auto older = before.find(name);
      unreadable.value = older == before.end() ? Value() : older->second.value;
      after.insert_or_assign(name, std::move(unreadable));
      continue;
    }
    Variable& second = found->second;
    if (same(first.value, second.value)) {
      after.insert_or_assign(name, first);
    } else if (unify(then, first.value, otherwise, second.value)) {
      names.push_back(name);
      pairs.emplace_back(first.value, second.value);
    } else {
      after.insert_or_assign(name, not_mergeable(node, name, before, first, second));
    }
  }
  for (const auto& [name, second] : otherwise.variables)
    if (!then.variables.contains(name))
      after.insert_or_assign(name, only_in_one_branch(node, name, second));
  const std::vector<Value> merged = finish_if(condition, then, otherwise, pairs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const auto* tensor = merged[i].get_if<ir::Value>())
      lowering_.kernel().set_name(*tensor, names[i]);
    Variable variable = then.variables.find(names[i])->second;
    variable.value = merged[i];
    after.insert_or_assign(names[i], std::move(variable));
  }
  variables_ = std::move(after);
}

// Numbers become tensors where the two differ; true when nothing else does.
bool Frame::unify(Arm& then, Value& first, Arm& otherwise, Value& second) {
  {
    const ir::Builder::Into into(builder(), then.region);
    first = matched(semantic(), first, second);
  }
  const ir::Builder::Into into(builder(), otherwise.region);
  second = matched(semantic(), second, first);
  return alike(lowering_.kernel(), first, second);
}

Variable Frame::only_in_one_branch(const py::If& node, const std::string& name,
                                   const Variable& variable) const {
  if (!variable.problem.empty()) return variable;  // the first reason is the real one
  return {
      .value = {},
      .place = variable.place,
      .problem = fmt::format("'{}' is assigned in only one branch of the 'if' on line {}, so it "
                             "may have no value here",
                             name, node.span.line),
      .remedy = "assign it before the 'if' or in both branches"};
}

// A mistake when the variable is older than the `if`; else it only must not be used.
Variable Frame::not_mergeable(const py::If& node, const std::string& name, const Variables& before,
                              const Variable& then, const Variable& otherwise) const {
  const auto known = before.find(name);
  if (known == before.end() || !known->second.problem.empty())
    return {.value = {},
            .place = then.place,
            .problem = fmt::format("'{}' is {} or {} after the 'if' on line {}", name,
                                   describe(then.value), describe(otherwise.value), node.span.line),
            .remedy = "give it the same type in both branches"};
  const bool changed_first = !same(known->second.value, then.value);
  const Variable& changed = changed_first ? then : otherwise;
  fail(changed.place != nullptr ? *changed.place : node,
       fmt::format("'{}' is {} in one branch of the 'if' on line {} and {} in the other", name,
                   describe(then.value), node.span.line, describe(otherwise.value)),
       "give it the same type and shape on both paths");
}

// Makes the op. Gives nothing when a pair cannot be merged.
std::vector<Value> Frame::finish_if(ir::Value condition, Arm& then, Arm& otherwise,
                                    std::vector<std::pair<Value, Value>> pairs) {
  std::vector<ir::Value> first_yields;
  std::vector<ir::Value> second_yields;
  for (auto& [first, second] : pairs) {
    if (!unify(then, first, otherwise, second)) return {};
    for (const ir::Value value : ir_values(first)) first_yields.push_back(value);
    for (const ir::Value value : ir_values(second)) second_yields.push_back(value);
  }
  std::vector<ir::Type> types;
  for (const ir::Value value : first_yields) types.push_back(builder().type(value));
  const auto yield = [&](Arm& arm, const std::vector<ir::Value>& values) {
    const ir::Builder::Into into(builder(), arm.region);
    builder().yield(values);
  };
  yield(then, first_yields);
  yield(otherwise, second_yields);
  ir::Op* op = builder().create(ir::OpKind::If, {condition}, types);
  op->regions.push_back(std::move(then.region));
  op->regions.push_back(std::move(otherwise.region));
  std::span<const ir::Value> results = op->results;
  std::vector<Value> merged;
  for (const auto& [first, second] : pairs) merged.push_back(with_ir_values(first, results));
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
