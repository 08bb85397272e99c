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
#include "frontend/triton/structure.h"

namespace tilewright::triton {
namespace {

constexpr std::int64_t max_unrolled = 100'000;

struct RangeKind {
  std::string_view name;
  bool is_static;
};
constexpr RangeKind range_kinds[] = {
    {"builtins.range", false},
    {"triton.language.range", false},
    {"triton.language.core.range", false},
    {"triton.language.static_range", true},
    {"triton.language.core.static_range", true},
};

const RangeKind* range_kind(const Value& callee) {
  const auto* builtin = callee.get_if<Builtin>();
  if (builtin == nullptr) return nullptr;
  for (const RangeKind& kind : range_kinds)
    if (kind.name == builtin->name) return &kind;
  return nullptr;
}

struct LoopOption {
  std::string_view name;
  std::string_view attribute;  // of the op; empty: accepted and left aside
};
constexpr LoopOption loop_options[] = {
    {"num_stages", "stages"},          {"loop_unroll_factor", "unroll"}, {"flatten", "flatten"},
    {"disallow_acc_multi_buffer", ""}, {"warp_specialize", ""},          {"disable_licm", ""},
};

// The bounds of range(stop), range(start, stop), range(start, stop, step), also by name.
struct Bounds {
  Value start = Value::integer(0);
  Value stop;
  Value step = Value::integer(1);
};

Bounds read_bounds(const CallArguments& range) {
  const std::vector<Value>& given = range.positional;
  if (given.size() > 3)
    throw Mistake{fmt::format("a range takes at most 3 bounds, not {}", given.size()), ""};
  Bounds bounds;
  bool has_stop = !given.empty();
  if (given.size() == 1) bounds.stop = given[0];
  if (given.size() > 1) bounds = {given[0], given[1], Value::integer(1)};
  if (given.size() > 2) bounds.step = given[2];
  for (const auto& [name, value] : range.keywords) {
    if (name == "start" || name == "arg1") bounds.start = value;
    if (name == "step") bounds.step = value;
    const bool is_stop = name == "stop" || name == "end" || name == "arg2";
    if (is_stop) bounds.stop = value;
    has_stop = has_stop || is_stop;
  }
  if (!has_stop) throw Mistake{"a range needs its end", ""};
  if (bounds.stop.is_none()) {  // range(n, None)
    bounds.stop = bounds.start;
    bounds.start = Value::integer(0);
  }
  return bounds;
}

// The larger width; of one width, unsigned wins.
DType promoted(DType a, DType b) {
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return is_signed(a) ? b : a;
}

bool is_negative(const Value& value) {
  const auto* constant = value.get_if<Constant>();
  const auto* integer = constant ? std::get_if<Int128>(&constant->value) : nullptr;
  return integer != nullptr && *integer < 0;
}

}  // namespace

bool Frame::for_loop(const py::For& node) {
  if (!node.otherwise.empty())
    throw Mistake{"'else' of a loop is not supported in a kernel", "put it after the loop"};
  const auto* made = py::cast_if<py::Call>(node.iterable);
  const Value callee = made == nullptr ? Value() : expression(made->function);
  const RangeKind* kind = range_kind(callee);
  if (kind == nullptr) {
    const Value items = expression(node.iterable);
    if (items.tuple() != nullptr) return unrolled(node, items.tuple()->items);
    fail(*node.iterable,
         fmt::format("a loop goes over range, tl.range or tl.static_range, not over {}",
                     describe(items)));
  }
  const CallArguments range = arguments(*made);
  lowering_.set_place(&module_, node.iterable);
  if (!kind->is_static && mode_ == Mode::Jit) {
    counted(node, range);
    return false;
  }
  const Bounds bounds = read_bounds(range);
  const std::int64_t start = semantic().constant_integer(bounds.start, "the start of the range");
  const std::int64_t stop = semantic().constant_integer(bounds.stop, "the end of the range");
  const std::int64_t step = semantic().constant_integer(bounds.step, "the step of the range");
  if (step == 0) throw Mistake{"the step of a range cannot be 0", ""};
  std::vector<Value> items;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    items.push_back(Value::integer(i));
    if (static_cast<std::int64_t>(items.size()) > max_unrolled)
      throw Mistake{fmt::format("the loop is unrolled more than {} times", max_unrolled),
                    "use range instead of tl.static_range"};
  }
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
    if (!now->second.problem.empty()) fail(place, now->second.problem, now->second.remedy);
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
    if (variables_.contains(name) || !variable.problem.empty()) continue;
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

void Frame::counted(const py::For& node, const CallArguments& range) {
  const auto* target = py::cast_if<py::Name>(node.target);
  if (target == nullptr) fail(*node.target, "the variable of a range must be a single name");
  Bounds bounds = read_bounds(range);
  const bool down = is_negative(bounds.step);
  if (down) {
    bounds.step = semantic().unary(py::UnaryOperator::Negate, bounds.step);
    std::swap(bounds.start, bounds.stop);
  }
  std::vector<ir::Value> edges;
  DType dtype = i8;
  for (const Value& bound : {bounds.start, bounds.stop, bounds.step}) {
    const ir::Value edge = semantic().tensor(bound);
    const ir::Type& type = builder().type(edge);
    if (!type.is_scalar() || !(type.is_int() || type.is_bool()))
      fail(*node.iterable,
           fmt::format("the bounds of a range are integers, not {}", describe(bound)));
    dtype = promoted(dtype, type.is_bool() ? i32 : type.dtype);
    edges.push_back(edge);
  }
  for (ir::Value& edge : edges) edge = semantic().cast(edge, ir::Type::scalar(dtype));
  std::vector<ir::Attribute> attributes;
  for (const auto& [name, value] : range.keywords)
    for (const LoopOption& option : loop_options)
      if (option.name == name && !option.attribute.empty() && !value.is_none())
        attributes.push_back(
            {std::string(option.attribute), semantic().constant_integer(value, name)});
  carry(node, node.body, std::string(target->id), [&](const Loop& loop, const Variables& before) {
    ir::Region body;
    const auto argument = [&](const ir::Type& type) {
      body.arguments.push_back(lowering_.kernel().make_value(type, "", nullptr));
      return body.arguments.back();
    };
    const ir::Value counter = argument(ir::Type::scalar(dtype));
    const std::vector<ir::Value> initial = carried_values(loop);
    std::vector<ir::Type> types;
    for (const ir::Value value : initial) {
      types.push_back(builder().type(value));
      argument(types.back());
    }
    set_carried(loop, std::span(body.arguments).subspan(1));
    std::vector<ir::Value> operands = edges;
    operands.insert(operands.end(), initial.begin(), initial.end());
    {
      const ir::Builder::Into into(builder(), body);
      ir::Value index = counter;
      if (down) {  // from the end: start - (counter - stop)
        index = builder().binary(ir::OpKind::Subtract, edges[1], counter);
        index = builder().binary(ir::OpKind::Add, index, edges[0]);
      }
      lowering_.kernel().set_name(index, std::string(target->id));
      set(target->id, index, target);
      run(node.body, nullptr);
      variables_.erase(variables_.find(target->id));
      if (const auto outer = before.find(target->id); outer != before.end())
        variables_.insert(*outer);
      check_carried(loop, before);
      lowering_.set_place(&module_, &node);
      builder().yield(carried_values(loop));
    }
    ir::Op* op = builder().create(ir::OpKind::For, operands, types, attributes);
    op->regions.push_back(std::move(body));
    return op->results;
  });
}

bool Frame::while_loop(const py::While& node) {
  if (!node.otherwise.empty())
    throw Mistake{"'else' of a loop is not supported in a kernel", "put it after the loop"};
  if (mode_ != Mode::Jit) return unrolled_while(node);
  carry(node, node.body, "", [&](const Loop& loop, const Variables& before) {
    const std::vector<ir::Value> initial = carried_values(loop);
    std::vector<ir::Type> types;
    for (const ir::Value value : initial) types.push_back(builder().type(value));
    ir::Region regions[2];
    for (ir::Region& region : regions)
      for (const ir::Type& type : types)
        region.arguments.push_back(lowering_.kernel().make_value(type, "", nullptr));
    {
      const ir::Builder::Into into(builder(), regions[0]);
      set_carried(loop, regions[0].arguments);
      const Value test = expression(node.test);
      lowering_.set_place(&module_, node.test);
      std::vector<ir::Value> operands = {semantic().condition(test)};
      operands.insert(operands.end(), regions[0].arguments.begin(), regions[0].arguments.end());
      builder().create(ir::OpKind::Condition, operands, {});
    }
    {
      const ir::Builder::Into into(builder(), regions[1]);
      set_carried(loop, regions[1].arguments);
      run(node.body, nullptr);
      check_carried(loop, before);
      lowering_.set_place(&module_, &node);
      builder().yield(carried_values(loop));
    }
    ir::Op* op = builder().create(ir::OpKind::While, initial, types);
    for (ir::Region& region : regions) op->regions.push_back(std::move(region));
    return op->results;
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
