// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_loop.cpp — for and while: unrolled, or an op that carries the variables its
// body assigns.
//
// Which variables are carried is read from the body's text before it is lowered. Constants among
// them stay constants (they may only be assigned in a branch that is never taken); when the body
// does assign one, it becomes a tensor before the loop and the body is lowered anew.
#include <fmt/format.h>

#include "frontend/triton/assigned.h"
#include "frontend/triton/frame.h"
#include "frontend/triton/range.h"
#include "frontend/triton/structure.h"
#include "ir/rewrite.h"

namespace tilewright::triton {
namespace {

constexpr std::int64_t max_unrolled = 100'000;

// What a loop of the IR is made of before its op exists. Both regions of a while take the carried
// values; in a for, the index comes first.
struct Parts {
  std::vector<ir::Value> initial;
  std::vector<ir::Region> regions;
  std::size_t skip = 0;  // arguments of the regions before the carried values
};

std::vector<ir::Type> types_of(const ir::Kernel& kernel, const std::vector<ir::Value>& values) {
  std::vector<ir::Type> types;
  for (const ir::Value value : values) types.push_back(kernel.type(value));
  return types;
}

// Values that the body yields as it got them are taken out: uses inside become uses of the initial
// value. True for each that was taken out.
std::vector<bool> drop_unchanged(const ir::Kernel& kernel, Parts& parts) {
  ir::Op& last = *parts.regions.back().ops.back();
  const std::vector<ir::Value> yields = last.operands;
  std::vector<bool> dropped(parts.initial.size());
  ir::Substitution initial_for(kernel.value_count());
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    dropped[i] = yields[i] == parts.regions.back().arguments[parts.skip + i];
    if (!dropped[i]) continue;
    for (const ir::Region& region : parts.regions)
      initial_for.add(region.arguments[parts.skip + i], parts.initial[i]);
  }
  if (initial_for.is_empty()) return dropped;
  const auto keep = [&](std::vector<ir::Value>& values, std::size_t skip) {
    std::vector<ir::Value> kept(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(skip));
    for (std::size_t i = 0; i < dropped.size(); ++i)
      if (!dropped[i]) kept.push_back(values[skip + i]);
    values = std::move(kept);
  };
  for (ir::Region& region : parts.regions) {
    ir::Op& end = *region.ops.back();
    keep(end.operands, end.kind == ir::OpKind::Condition ? 1 : 0);
    keep(region.arguments, parts.skip);
    ir::walk(region, [&](ir::Op& op) { initial_for.apply(op.operands); });
  }
  keep(parts.initial, 0);
  return dropped;
}

}  // namespace

bool Frame::for_loop(const py::For& node) {
  if (!node.otherwise.empty())
    throw Mistake{"'else' of a loop is not supported in a kernel", "put it after the loop"};
  const auto* made = py::cast_if<py::Call>(node.iterable);
  const Value callee = made == nullptr ? Value() : expression(made->function);
  const RangeKind kind = range_kind(callee);
  if (kind == RangeKind::None) {
    const Value items = expression(node.iterable);
    if (items.tuple() != nullptr) return unrolled(node, items.tuple()->items);
    fail(*node.iterable,
         fmt::format("a loop goes over range, tl.range or tl.static_range, not over {}",
                     describe(items)));
  }
  const CallArguments range = arguments(*made);
  lowering_.set_place(&module_, node.iterable);
  if (kind == RangeKind::Counted && mode_ == Mode::Jit) {
    counted(node, range);
    return false;
  }
  std::vector<Value> items;
  for (const std::int64_t index : constant_range(semantic(), range, max_unrolled))
    items.push_back(Value::integer(index));
  return unrolled(node, items);
}

bool Frame::unrolled(const py::For& node, const std::vector<Value>& items) {
  ++unrolled_;
  bool returned = false;
  for (const Value& item : items) {
    if (const auto* name = py::cast_if<py::Name>(node.target)) set(name->id, item, name);
    else assign(node.target, item);
    returned = run(node.body, nullptr);
    if (returned) break;
  }
  --unrolled_;
  return returned;
}

// The variables of before the loop that its body assigns.
Frame::Loop Frame::plan_loop(const py::Node& node, py::NodeList body,
                             const std::string& index) const {
  Loop loop{.node = &node, .carried = {}, .sealed = {}};
  for (const auto& [name, place] : assigned_names(body)) {
    const auto found = variables_.find(name);
    if (found == variables_.end() || !found->second.problem.empty() || name == index) continue;
    const Value& value = found->second.value;
    if (holds_numbers(value)) loop.sealed.insert(name);
    else if (!ir_values(value).empty()) loop.carried.insert(name);
  }
  return loop;
}

std::vector<ir::Value> Frame::carried_values(const Loop& loop) const {
  std::vector<ir::Value> values;
  for (const std::string& name : loop.carried)
    for (const ir::Value value : ir_values(variables_.find(name)->second.value))
      values.push_back(value);
  return values;
}

void Frame::set_carried(const Loop& loop, std::span<const ir::Value> values) {
  for (const std::string& name : loop.carried) {
    Variable& variable = variables_.find(name)->second;
    variable.value = with_ir_values(variable.value, values);
    if (const auto* tensor = variable.value.get_if<ir::Value>())
      lowering_.kernel().set_name(*tensor, name);
  }
}

// Every variable of before the loop must be what it was, but for the IR values inside.
void Frame::check_carried(const Loop& loop, const Variables& before) const {
  for (const auto& [name, variable] : before) {
    if (!variable.problem.empty()) continue;
    const auto now = variables_.find(name);
    if (now == variables_.end()) continue;
    const Value& value = now->second.value;
    const bool carried = loop.carried.contains(name);
    const py::Node& place = now->second.place != nullptr ? *now->second.place : *loop.node;
    if (!now->second.problem.empty() && value.is_none())
      fail(place, now->second.problem, now->second.remedy);
    const bool unchanged =
        carried ? alike(lowering_.kernel(), variable.value, value) : same(variable.value, value);
    if (unchanged || loop.sealed.contains(name)) continue;
    fail(place,
         fmt::format("'{}' is {} before the loop on line {} and {} after a round of it", name,
                     describe(variable.value), loop.node->span.line, describe(value)),
         "give it its type and shape before the loop, such as tl.zeros(..., dtype=...)");
  }
}

void Frame::after_loop(const Loop& loop, Variables before, const Variables& inside,
                       const std::vector<ir::Value>& results) {
  variables_ = std::move(before);
  set_carried(loop, results);
  for (const auto& [name, variable] : inside) {
    const auto older = variables_.find(name);
    if (older != variables_.end() && older->second.problem.empty()) {
      older->second.problem = variable.problem;
      older->second.remedy = variable.remedy;
    }
    if (older != variables_.end() || !variable.problem.empty()) continue;
    variables_[name] = {.value = {},
                        .place = variable.place,
                        .problem = fmt::format("'{}' is assigned only inside the loop on line {}, "
                                               "so it does not exist after it",
                                               name, loop.node->span.line),
                        .remedy = "assign it before the loop as well"};
  }
}

// Calls `build` with a plan until the body assigns no constant of before the loop.
template <class Build>
void Frame::carry(const py::Node& node, py::NodeList body, const std::string& index,
                  const Build& build) {
  for (;;) {
    const Variables before = variables_;
    const auto constexprs = constexpr_names_;
    const Loop loop = plan_loop(node, body, index);
    const std::size_t depth = loops_.size();
    const int unrolled_before = unrolled_;
    loops_.push_back(&loop);
    try {
      const std::vector<ir::Value> results = build(loop, before);
      loops_.pop_back();
      const Variables inside = std::move(variables_);
      after_loop(loop, before, inside, results);
      return;
    } catch (const StartOver& again) {
      loops_.resize(depth);
      unrolled_ = unrolled_before;
      variables_ = before;
      constexpr_names_ = constexprs;
      if (again.loop != &loop) throw;
      lowering_.set_place(&module_, &node);
      Variable& variable = variables_.find(again.name)->second;
      variable.value = stored(semantic(), variable.value);
    }
  }
}

// Makes the loop's op; gives the value that each carried one has after it.
std::vector<ir::Value> Frame::finish_loop(ir::OpKind kind, std::vector<ir::Value> operands,
                                          const std::vector<ir::Value>& initial,
                                          std::vector<ir::Region> regions,
                                          std::vector<ir::Attribute> attributes) {
  Parts parts{initial, std::move(regions), kind == ir::OpKind::For ? 1u : 0u};
  const std::vector<bool> dropped = drop_unchanged(lowering_.kernel(), parts);
  operands.insert(operands.end(), parts.initial.begin(), parts.initial.end());
  ir::Op* op = builder().create(kind, std::move(operands),
                                types_of(lowering_.kernel(), parts.initial), std::move(attributes));
  op->regions = std::move(parts.regions);
  std::vector<ir::Value> results;
  auto next = op->results.begin();
  for (std::size_t i = 0; i < dropped.size(); ++i)
    results.push_back(dropped[i] ? initial[i] : *next++);
  return results;
}

std::vector<ir::Value> Frame::add_arguments(ir::Region& region,
                                            const std::vector<ir::Value>& like) {
  std::vector<ir::Value> made;
  for (const ir::Type& type : types_of(lowering_.kernel(), like))
    made.push_back(lowering_.kernel().make_value(type, "", nullptr));
  region.arguments.insert(region.arguments.end(), made.begin(), made.end());
  return made;
}

// The body of a loop with what it carries to the next round.
void Frame::lower_body(const py::Node& node, py::NodeList body, const Loop& loop,
                       const Variables& before, const std::string& index) {
  run(body, nullptr);
  if (!index.empty()) {
    variables_.erase(index);
    if (const auto outer = before.find(index); outer != before.end()) variables_.insert(*outer);
  }
  check_carried(loop, before);
  lowering_.set_place(&module_, &node);
  builder().yield(carried_values(loop));
}

void Frame::counted(const py::For& node, const CallArguments& range) {
  const auto* target = py::cast_if<py::Name>(node.target);
  if (target == nullptr) fail(*node.target, "the variable of a range must be a single name");
  const std::string index_name(target->id);
  const Counting counting = count_range(semantic(), range);
  const std::vector<ir::Attribute> attributes = loop_attributes(semantic(), range);
  carry(node, node.body, index_name, [&](const Loop& loop, const Variables& before) {
    const std::vector<ir::Value> edges = {counting.from, counting.to, counting.step};
    const std::vector<ir::Value> initial = carried_values(loop);
    std::vector<ir::Region> regions(1);
    const ir::Value counter = add_arguments(regions[0], {counting.from}).front();
    set_carried(loop, add_arguments(regions[0], initial));
    {
      const ir::Builder::Into into(builder(), regions[0]);
      ir::Value index = counter;
      if (counting.is_down) {  // what is left to the end, above the start
        index = builder().binary(ir::OpKind::Subtract, counting.to, counter);
        index = builder().binary(ir::OpKind::Add, index, counting.from);
      }
      lowering_.kernel().set_name(index, index_name);
      set(index_name, index, target);
      lower_body(node, node.body, loop, before, index_name);
    }
    return finish_loop(ir::OpKind::For, edges, initial, std::move(regions), attributes);
  });
  end_index(node, *target);
}

// Python leaves the last index in the variable, Triton nothing: reading it is a mistake. A value
// from before the loop stays with it, for the loops around this one to carry.
void Frame::end_index(const py::For& node, const py::Name& target) {
  Variable& variable = variables_[std::string(target.id)];
  variable.place = &target;
  variable.problem = fmt::format(
      "'{}' is the variable of the loop on line {}, which has no value after it", target.id,
      node.span.line);
  variable.remedy = "assign what is needed to another variable inside the loop";
}

bool Frame::while_loop(const py::While& node) {
  if (!node.otherwise.empty())
    throw Mistake{"'else' of a loop is not supported in a kernel", "put it after the loop"};
  if (mode_ != Mode::Jit) return unrolled_while(node);
  carry(node, node.body, "", [&](const Loop& loop, const Variables& before) {
    const std::vector<ir::Value> initial = carried_values(loop);
    std::vector<ir::Region> regions(2);
    {
      const ir::Builder::Into into(builder(), regions[0]);
      std::vector<ir::Value> operands = add_arguments(regions[0], initial);
      set_carried(loop, operands);
      const Value test = expression(node.test);
      lowering_.set_place(&module_, node.test);
      operands.insert(operands.begin(), semantic().condition(test));
      builder().create(ir::OpKind::Condition, operands, {});
    }
    {
      const ir::Builder::Into into(builder(), regions[1]);
      set_carried(loop, add_arguments(regions[1], initial));
      lower_body(node, node.body, loop, before, "");
    }
    return finish_loop(ir::OpKind::While, {}, initial, std::move(regions), {});
  });
  return false;
}

bool Frame::unrolled_while(const py::While& node) {
  for (std::int64_t round = 0; semantic().truth(expression(node.test)); ++round) {
    if (round > max_unrolled)
      throw Mistake{fmt::format("the loop runs more than {} times", max_unrolled), ""};
    if (run(node.body, nullptr)) return true;
  }
  return false;
}

}  // namespace tilewright::triton
