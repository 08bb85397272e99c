// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_expression.cpp — expressions.
#include <fmt/format.h>

#include "base/nearest.h"
#include "frontend/triton/frame.h"

namespace tilewright::triton {
namespace {

// How an f-string shows a constant: as Python's str() does.
std::string shown(const ir::Kernel& kernel, const Value& value) {
  if (value.is_constant())
    if (const std::optional<py::Value> converted = to_python(value)) return py::str(*converted);
  if (const auto* type = value.get_if<TypeValue>()) return describe(type->type);
  if (const Tuple* tuple = value.tuple()) {
    std::string text;
    for (const Value& item : tuple->items) text += (text.empty() ? "" : ", ") + shown(kernel, item);
    return fmt::format("({})", text);
  }
  return describe(kernel, value);
}

// What stands in an expression that kernels cannot have, as a person calls it.
std::string_view construct_name(py::Kind kind) {
  switch (kind) {
    case py::Kind::Lambda:
      return "a lambda";
    case py::Kind::Dict:
    case py::Kind::DictComp:
      return "a dictionary";
    case py::Kind::Set:
    case py::Kind::SetComp:
      return "a set";
    case py::Kind::GeneratorExp:
      return "a generator expression";
    case py::Kind::Await:
      return "'await'";
    case py::Kind::Yield:
    case py::Kind::YieldFrom:
      return "'yield'";
    case py::Kind::ImaginaryLiteral:
      return "a complex number";
    case py::Kind::BytesLiteral:
      return "a bytes literal";
    case py::Kind::EllipsisLiteral:
      return "'...'";
    case py::Kind::Starred:
      return "'*' outside of a call";
    default:
      return py::name_of(kind);
  }
}

// Whether the name is an attribute of an element type, such as tl.float16.itemsize.
bool is_of_type(const py::Binding& binding) {
  const std::size_t dot = binding.external.rfind('.');
  if (binding.kind != py::Binding::Kind::External || dot == std::string::npos) return false;
  const std::string owner = binding.external.substr(0, dot);
  return has_external_value(owner) && external_value(owner).get_if<TypeValue>() != nullptr;
}

}  // namespace

std::string Frame::describe(const Value& value) const {
  return triton::describe(lowering_.kernel(), value);
}

// Mistakes get the place of the smallest expression around them.
Value Frame::expression(const py::Node* node) {
  const ir::Location before = builder().location();
  try {
    const Lowering::Level level(lowering_);
    lowering_.set_place(&module_, node);
    Value value = dispatch(*node);
    builder().set_location(before);
    return value;
  } catch (const Mistake& mistake) {
    lowering_.fail(module_, *node, mistake);
  }
}

Value Frame::dispatch(const py::Node& node) {
  switch (node.kind) {
    case py::Kind::NoneLiteral:
    case py::Kind::BoolLiteral:
    case py::Kind::IntLiteral:
    case py::Kind::FloatLiteral:
    case py::Kind::StrLiteral:
      return constant(node);
    case py::Kind::Name:
      return name(py::cast<py::Name>(&node));
    case py::Kind::Attribute:
      return attribute(py::cast<py::Attribute>(&node));
    case py::Kind::Subscript:
      return subscript(py::cast<py::Subscript>(&node));
    case py::Kind::Slice:
      return slice(py::cast<py::Slice>(&node));
    case py::Kind::Call:
      return call(py::cast<py::Call>(&node));
    case py::Kind::Tuple:
      return Value::tuple(elements(py::cast<py::Tuple>(&node).elements));
    case py::Kind::List:
      return Value::tuple(elements(py::cast<py::List>(&node).elements));
    case py::Kind::BinOp:
      return binary(py::cast<py::BinOp>(&node));
    case py::Kind::UnaryOp: {
      const Value operand = expression(py::cast<py::UnaryOp>(&node).operand);
      lowering_.set_place(&module_, &node);
      return semantic().unary(py::cast<py::UnaryOp>(&node).op, operand);
    }
    case py::Kind::BoolOp:
      return bool_op(py::cast<py::BoolOp>(&node));
    case py::Kind::Compare:
      return comparison(py::cast<py::Compare>(&node));
    case py::Kind::IfExp:
      return ternary(py::cast<py::IfExp>(&node));
    case py::Kind::NamedExpr:
      return walrus(py::cast<py::NamedExpr>(&node));
    case py::Kind::JoinedStr:
      return joined_string(py::cast<py::JoinedStr>(&node));
    case py::Kind::ListComp:
      return comprehension(py::cast<py::ListComp>(&node));
    default:
      throw Mistake{fmt::format("{} is not supported in a kernel", construct_name(node.kind)), ""};
  }
}

Value Frame::constant(const py::Node& node) {
  if (const auto* truth = py::cast_if<py::BoolLiteral>(&node)) return Value::boolean(truth->value);
  if (const auto* number = py::cast_if<py::FloatLiteral>(&node))
    return Value::number(number->value);
  if (const auto* text = py::cast_if<py::StrLiteral>(&node))
    return Value::text(std::string(text->value));
  if (const auto* integer = py::cast_if<py::IntLiteral>(&node)) {
    const auto value = static_cast<Int128>(integer->value.value);
    if (integer->value.too_large || value < 0)
      throw Mistake{"this integer is too large for any type", ""};
    return Value::integer(value);
  }
  return {};
}

Value Frame::binary(const py::BinOp& node) {
  const Value left = expression(node.left);
  const Value right = expression(node.right);
  lowering_.set_place(&module_, &node);
  return semantic().binary(node.op, left, right);
}

// Constants short-circuit or vanish; tensors are combined, all of them.
Value Frame::bool_op(const py::BoolOp& node) {
  std::vector<Value> tensors;
  Value last;
  for (const py::Node* child : node.values) {
    last = expression(child);
    if (last.is_tensor()) {
      tensors.push_back(last);
      continue;
    }
    if (semantic().truth(last) == (node.op == py::BoolOperator::Or)) return last;
  }
  if (tensors.empty()) return last;
  lowering_.set_place(&module_, &node);
  Value result = tensors.back();
  for (std::size_t i = tensors.size() - 1; i-- > 0;)
    result = semantic().logical(node.op, tensors[i], result);
  return result;
}

Value Frame::comparison(const py::Compare& node) {
  if (node.ops.size() > 1)
    throw Mistake{"a chained comparison is not supported in a kernel",
                  "write (a < b) & (b < c) for tensors, 'a < b and b < c' for constants"};
  const Value left = expression(node.left);
  const Value right = expression(node.comparators[0]);
  lowering_.set_place(&module_, &node);
  return semantic().compare(node.ops[0], left, right);
}

Value Frame::name(const py::Name& node) {
  const auto found = variables_.find(node.id);
  if (found != variables_.end()) {
    if (!found->second.problem.empty()) throw Mistake{found->second.problem, found->second.remedy};
    return found->second.value;
  }
  try {
    return lowering_.global(module_, function_, mode_ == Mode::Around, node.id);
  } catch (Mistake& mistake) {
    std::vector<std::string> known;
    for (const auto& [local, variable] : variables_) known.push_back(local);
    const std::vector<std::string> close = nearest_names(node.id, known);
    const bool is_unknown = mistake.message.ends_with("is not defined");
    if (is_unknown && mistake.hint.empty() && !close.empty())
      mistake.hint = fmt::format("did you mean '{}'?", close.front());
    throw;
  }
}

// Does the dotted expression start at a variable of this call?
bool Frame::is_local(const py::Node* node) const {
  while (const auto* member = py::cast_if<py::Attribute>(node)) node = member->value;
  const auto* base = py::cast_if<py::Name>(node);
  return base == nullptr || variables_.contains(base->id);
}

// A constant of another package, where it can be told: torch.finfo(torch.float32).max,
// torch.version.hip.
std::optional<Value> Frame::outside_constant(const py::Attribute& node) {
  return is_outside(node) ? lowering_.evaluated(module_, node) : std::nullopt;
}

// Made of names of other packages alone?
bool Frame::is_outside(const py::Node& node) const {
  if (const auto* name = py::cast_if<py::Name>(&node)) {
    if (variables_.contains(name->id)) return false;
    const py::Binding binding = lowering_.loader().resolve(module_, &node);
    return binding.kind == py::Binding::Kind::External && is_of_outside_package(binding.external);
  }
  if (!py::is<py::Attribute>(&node) && !py::is<py::Call>(&node)) return false;
  bool are_outside = true;
  py::for_each_child(
      node, [&](const py::Node& child) { are_outside = are_outside && is_outside(child); });
  return are_outside;
}

Value Frame::attribute(const py::Attribute& node) {
  if (std::optional<Value> constant = outside_constant(node)) return *std::move(constant);
  if (!is_local(&node)) {
    const py::Binding binding = lowering_.loader().resolve(module_, &node);
    if (binding && !is_of_type(binding)) return lowering_.from_binding(binding, node.name);
  }
  const Value owner = expression(node.value);
  lowering_.set_place(&module_, &node);
  if (const auto* space = owner.get_if<Namespace>()) {
    if (space->module != nullptr)
      return lowering_.from_binding(lowering_.loader().lookup(*space->module, node.name),
                                    node.name);
    return external_value(fmt::format("{}.{}", space->external, node.name));
  }
  if (const auto* function = owner.get_if<Function>()) {
    if (node.name == "fn") return owner;  // a decorated function without its decorator
    if (node.name == "__name__") return Value::text(function->name);
  }
  // Of what is known at compile time, as of Triton's constexpr.
  const bool is_constexpr = !owner.is_tensor() && owner.tuple() == nullptr;
  if (node.name == "value" && is_constexpr) return owner;
  return triton::attribute(semantic(), owner, node.name);
}

Value Frame::subscript(const py::Subscript& node) {
  const Value owner = expression(node.value);
  const Value index = expression(node.index);
  lowering_.set_place(&module_, &node);
  return triton::subscript(semantic(), owner, index);
}

Value Frame::slice(const py::Slice& node) {
  Tuple parts{.items = {}, .names = {}, .class_name = "slice"};
  for (const py::Node* part : {node.lower, node.upper, node.step})
    parts.items.push_back(part == nullptr ? Value() : expression(part));
  return std::make_shared<const Tuple>(std::move(parts));
}

Value Frame::walrus(const py::NamedExpr& node) {
  assign(node.target, expression(node.value));
  return expression(node.target);
}

Value Frame::joined_string(const py::JoinedStr& node) {
  std::string text;
  for (const py::Node* part : node.values) {
    const auto* formatted = py::cast_if<py::FormattedValue>(part);
    const Value value = expression(formatted == nullptr ? part : formatted->value);
    text += shown(lowering_.kernel(), value);
  }
  return Value::text(std::move(text));
}

// [f(x) for x in tuple if condition]: one loop over a tuple.
Value Frame::comprehension(const py::ListComp& node) {
  const auto& generator = py::cast<py::Comprehension>(node.generators[0]);
  if (node.generators.size() > 1)
    throw Mistake{"a list comprehension with several 'for' is not supported in a kernel", ""};
  const Value source = expression(generator.iterable);
  if (source.tuple() == nullptr)
    throw Mistake{
        fmt::format("a list comprehension goes over a tuple, not over {}", describe(source)), ""};
  const Variables before = variables_;
  std::vector<Value> items;
  for (const Value& item : source.tuple()->items) {
    const auto* target = py::cast_if<py::Name>(generator.target);
    if (target != nullptr) set(target->id, item, target);
    else assign(generator.target, item);
    bool wanted = true;
    for (const py::Node* condition : generator.conditions)
      wanted = wanted && semantic().truth(expression(condition));
    if (wanted) items.push_back(expression(node.element));
  }
  variables_ = before;
  return Value::tuple(std::move(items));
}

std::vector<Value> Frame::elements(py::NodeList nodes) {
  std::vector<Value> values;
  for (const py::Node* node : nodes) {
    const auto* starred = py::cast_if<py::Starred>(node);
    if (starred == nullptr) {
      values.push_back(expression(node));
      continue;
    }
    const Value spread = expression(starred->value);
    if (spread.tuple() == nullptr)
      lowering_.fail(module_, *node,
                     {fmt::format("'*' spreads a tuple, not {}", describe(spread)), ""});
    values.insert(values.end(), spread.tuple()->items.begin(), spread.tuple()->items.end());
  }
  return values;
}

}  // namespace tilewright::triton
