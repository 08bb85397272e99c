// SPDX-License-Identifier: Apache-2.0
// frontend/python/evaluate.cpp — expressions.
#include "frontend/python/evaluate.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>

#include "frontend/python/arithmetic.h"
#include "frontend/python/interpreter.h"

namespace tilewright::python {
namespace {

constexpr int max_depth = 100;

}  // namespace

Value Evaluator::evaluate(const LoadedModule& module, const Node* expression,
                          std::map<std::string, Value, std::less<>> names, const Moment& moment) {
  Scope* scope = nullptr;
  if (!names.empty()) {
    scopes_.push_back(std::make_unique<Scope>(Scope{std::move(names), nullptr}));
    scope = scopes_.back().get();
  }
  return Interpreter(*this, module, scope, 0, moment).expression(expression);
}

Binding Evaluator::lookup(const LoadedModule& module, std::string_view name) {
  return Interpreter(*this, module, nullptr, 0, {}).lookup(module, name);
}

Value Evaluator::constant(const Binding& binding, std::string_view name) {
  try {
    return Interpreter(*this, *binding.module, nullptr, 0, {}).constant(binding, name);
  } catch (const Unsupported& problem) {
    fail_at(binding.module->tree->source, binding.node->span, problem.message);
  }
}

Value Evaluator::call(const Value& function, const std::vector<Value>& arguments,
                      const Keywords& keywords) {
  const Value* inside = &function;
  while (inside->partial() != nullptr) inside = &inside->partial()->function;
  const auto* target = inside->get_if<FunctionValue>();
  if (target == nullptr)
    throw ArgumentError(fmt::format("a {} cannot be called", type_name(function)));
  try {
    return Interpreter(*this, *target->module, nullptr, 0, {})
        .call_value(function, arguments, keywords);
  } catch (const Unsupported& problem) {
    fail_at(target->module->tree->source, target->node->span, problem.message);
  }
}

Scope* Interpreter::new_scope(Scope* parent) {
  shared_.scopes_.push_back(std::make_unique<Scope>());
  shared_.scopes_.back()->parent = parent;
  return shared_.scopes_.back().get();
}

void Interpreter::step(const Node& node) {
  if (++shared_.steps_ > shared_.options_.max_steps)
    fail(node,
         fmt::format("this takes more than {} steps to evaluate", shared_.options_.max_steps));
  if (depth_ > max_depth)
    fail(node, fmt::format("functions call each other more than {} levels deep", max_depth));
}

void Interpreter::fail(const Node& node, const std::string& message) const {
  fail_at(module_.tree->source, node.span, message);
}

Value Interpreter::expression(const Node* node) {
  step(*node);
  try {
    return dispatch(*node);
  } catch (const Unsupported& problem) {
    fail(*node, problem.message);
  }
}

Value Interpreter::dispatch(const Node& node) {
  switch (node.kind) {
    case Kind::NoneLiteral:
      return {};
    case Kind::BoolLiteral:
      return cast<BoolLiteral>(&node).value;
    case Kind::IntLiteral: {
      const Integer& literal = cast<IntLiteral>(&node).value;
      if (literal.too_large ||
          literal.value > static_cast<Uint128>(std::numeric_limits<std::int64_t>::max()))
        throw Unsupported{"the integer does not fit 64 bits"};
      return static_cast<std::int64_t>(literal.value);
    }
    case Kind::FloatLiteral:
      return cast<FloatLiteral>(&node).value;
    case Kind::StrLiteral:
      return std::string(cast<StrLiteral>(&node).value);
    case Kind::JoinedStr:
      return joined_string(cast<JoinedStr>(&node));
    case Kind::Name:
      return name(cast<Name>(&node));
    case Kind::Attribute:
      return attribute(cast<Attribute>(&node));
    case Kind::Subscript:
      return subscript(cast<Subscript>(&node));
    case Kind::Call:
      return call(cast<Call>(&node));
    case Kind::List:
      return make_list(elements(cast<List>(&node).elements));
    case Kind::Tuple:
      return make_tuple(elements(cast<Tuple>(&node).elements));
    case Kind::Set:
      return make_set(elements(cast<Set>(&node).elements));
    case Kind::Dict:
      return dict(cast<Dict>(&node));
    case Kind::ListComp:
      return make_list(
          comprehension(cast<ListComp>(&node).element, cast<ListComp>(&node).generators));
    case Kind::GeneratorExp:
      return make_tuple(
          comprehension(cast<GeneratorExp>(&node).element, cast<GeneratorExp>(&node).generators));
    case Kind::SetComp:
      return make_set(comprehension(cast<SetComp>(&node).element, cast<SetComp>(&node).generators));
    case Kind::DictComp:
      return dict_comprehension(cast<DictComp>(&node));
    case Kind::BinOp: {
      const auto& operation = cast<BinOp>(&node);
      const Value left = expression(operation.left);
      return apply(operation.op, left, expression(operation.right));
    }
    case Kind::UnaryOp:
      return apply(cast<UnaryOp>(&node).op, expression(cast<UnaryOp>(&node).operand));
    case Kind::BoolOp:
      return bool_op(cast<BoolOp>(&node));
    case Kind::Compare:
      return comparison(cast<Compare>(&node));
    case Kind::IfExp: {
      const auto& choice = cast<IfExp>(&node);
      return expression(truth(expression(choice.test)) ? choice.body : choice.otherwise);
    }
    case Kind::Lambda:
      return FunctionValue{&module_, &node, scope_};
    case Kind::NamedExpr: {
      const Value value = expression(cast<NamedExpr>(&node).value);
      assign(cast<NamedExpr>(&node).target, value);
      return value;
    }
    default:
      throw Unsupported{
          fmt::format("{} is not evaluated while reading a file", name_of(node.kind))};
  }
}

// Local names first, then those of the module.
Value Interpreter::name(const Name& node) {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    const auto found = scope->names.find(node.id);
    if (found != scope->names.end()) return found->second;
  }
  return from_binding(lookup(module_, node.id), node.id);
}

Value Interpreter::from_binding(const Binding& binding, std::string_view name) {
  switch (binding.kind) {
    case Binding::Kind::Function: {
      const std::string_view own = cast<FunctionDef>(binding.node).name;
      for (const std::string& known :
           {fmt::format("{}.{}", binding.module->name, own), std::string(own)})
        if (shared_.options_.facts.contains(known + "()")) return ExternalValue{known};
      return FunctionValue{binding.module, binding.node, nullptr};
    }
    case Binding::Kind::Constant:
      return constant(binding, name);
    case Binding::Kind::External: {
      const auto fact = shared_.options_.facts.find(binding.external);
      if (fact != shared_.options_.facts.end()) return fact->second;
      if (const Value* known = find_constant(binding.external)) return *known;
      if (binding.external == "os.environ") return environment_dict();
      return ExternalValue{binding.external};
    }
    case Binding::Kind::Submodule:
      return ModuleValue{binding.module};
    case Binding::Kind::Class:
      return ExternalValue{
          fmt::format("{}.{}", binding.module->name, cast<ClassDef>(binding.node).name)};
    case Binding::Kind::Unresolved:
      if (!binding.external.empty()) return ExternalValue{binding.external};
      break;
  }
  throw Unsupported{fmt::format("the value of '{}' is not known: {}", name, binding.reason)};
}

// The first name of a dotted expression, when it is the module's and no local one.
bool Interpreter::is_global(const Node* node) const {
  while (const auto* owner = cast_if<Attribute>(node)) node = owner->value;
  const auto* root = cast_if<Name>(node);
  if (root == nullptr) return false;
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent)
    if (scope->names.contains(root->id)) return false;
  return true;
}

Value Interpreter::attribute(const Attribute& node) {
  if (is_global(&node)) {
    const Binding binding = shared_.loader_.resolve(module_, &node, how());
    if (binding) return from_binding(binding, node.name);
  }
  const Value owner = expression(node.value);
  return attribute_of(owner, std::string(node.name));
}

Value Interpreter::subscript(const Subscript& node) {
  const Value value = expression(node.value);
  if (const auto* range = cast_if<Slice>(node.index)) return slice(value, *range);
  return element(value, expression(node.index));
}

Value Interpreter::slice(const Value& value, const Slice& slice) {
  const auto* text = value.get_if<std::string>();
  const bool ordered = text != nullptr || value.list() != nullptr || value.tuple() != nullptr;
  if (!ordered) throw Unsupported{fmt::format("{} cannot be sliced", type_name(value))};
  const auto size =
      static_cast<std::int64_t>(text != nullptr ? text->size() : value.items()->size());
  const auto bound = [&](const Node* node, std::int64_t absent) {
    if (node == nullptr) return absent;
    const Value found = expression(node);
    if (found.is_none()) return absent;
    if (!found.integer()) throw Unsupported{"a slice needs integers"};
    return *found.integer();
  };
  const std::int64_t step = bound(slice.step, 1);
  if (step == 0) throw Unsupported{"slice step cannot be zero"};
  const auto clamped = [&](std::int64_t at) {
    if (at < 0) at += size;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, size)
                    : std::clamp<std::int64_t>(at, -1, size - 1);
  };
  const std::int64_t first = slice.lower == nullptr
                                 ? (step > 0 ? 0 : size - 1)
                                 : clamped(bound(slice.lower, step > 0 ? 0 : size - 1));
  const std::int64_t last = slice.upper == nullptr
                                ? (step > 0 ? size : -1)
                                : clamped(bound(slice.upper, step > 0 ? size : -size - 1));
  std::vector<Value> items;
  std::string characters;
  for (std::int64_t at = first; step > 0 ? at < last : at > last;) {
    if (text != nullptr) characters += (*text)[static_cast<std::size_t>(at)];
    else items.push_back((*value.items())[static_cast<std::size_t>(at)]);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  if (text != nullptr) return characters;
  return value.list() != nullptr ? make_list(std::move(items)) : make_tuple(std::move(items));
}

Value Interpreter::bool_op(const BoolOp& node) {
  const bool stops_at = node.op == BoolOperator::Or;
  Value value;
  for (const Node* operand : node.values) {
    value = expression(operand);
    if (truth(value) == stops_at) break;
  }
  return value;
}

Value Interpreter::comparison(const Compare& node) {
  Value left = expression(node.left);
  for (std::size_t i = 0; i < node.ops.size(); ++i) {
    Value right = expression(node.comparators[i]);
    if (!compare(node.ops[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

std::vector<Value> Interpreter::elements(NodeList nodes) {
  std::vector<Value> items;
  for (const Node* node : nodes) {
    if (const auto* star = cast_if<Starred>(node)) {
      for (Value& item : iterate(expression(star->value))) items.push_back(std::move(item));
    } else {
      items.push_back(expression(node));
    }
  }
  return items;
}

Value Interpreter::dict(const Dict& node) {
  auto result = std::make_shared<DictValue>();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (node.keys[i] != nullptr) {
      const Value key = expression(node.keys[i]);
      result->set(key, expression(node.values[i]));
      continue;
    }
    const Value other = expression(node.values[i]);
    if (other.dict() == nullptr)
      throw Unsupported{fmt::format("'**' of {} is not evaluated", type_name(other))};
    for (const auto& [key, value] : other.dict()->items) result->set(key, value);
  }
  return result;
}

// A comprehension has its own scope. `emit` runs once per combination that passes the conditions.
void Interpreter::generate(NodeList generators, std::size_t level,
                           const std::function<void()>& emit) {
  if (level == generators.size()) return emit();
  const auto& clause = cast<Comprehension>(generators[level]);
  for (const Value& item : iterate(expression(clause.iterable))) {
    assign(clause.target, item);
    bool passes = true;
    for (const Node* condition : clause.conditions) passes = passes && truth(expression(condition));
    if (passes) generate(generators, level + 1, emit);
  }
}

std::vector<Value> Interpreter::comprehension(const Node* element, NodeList generators) {
  Interpreter frame = inner(new_scope(scope_));
  std::vector<Value> items;
  frame.generate(generators, 0, [&] {
    items.push_back(frame.expression(element));
    if (items.size() > max_items) throw Unsupported{"the list is too long to be read"};
  });
  return items;
}

Value Interpreter::dict_comprehension(const DictComp& node) {
  Interpreter frame = inner(new_scope(scope_));
  auto result = std::make_shared<DictValue>();
  frame.generate(node.generators, 0, [&] {
    const Value key = frame.expression(node.key);
    result->set(key, frame.expression(node.value));
  });
  return result;
}

std::vector<Value> Interpreter::iterate(const Value& value) {
  if (value.items() != nullptr) return *value.items();
  std::vector<Value> items;
  if (value.dict() != nullptr) {
    for (const auto& [key, item] : value.dict()->items) items.push_back(key);
    return items;
  }
  if (const auto* text = value.get_if<std::string>()) {
    for (const char c : *text) items.emplace_back(std::string(1, c));
    return items;
  }
  throw Unsupported{fmt::format("{} cannot be iterated", type_name(value))};
}

Value Interpreter::joined_string(const JoinedStr& node) {
  std::string text;
  for (const Node* part : node.values) {
    if (const auto* literal = cast_if<StrLiteral>(part)) text += literal->value;
    else text += formatted(cast<FormattedValue>(part));
    if (text.size() > max_string_bytes) throw Unsupported{"the string is too long to be read"};
  }
  return text;
}

std::string Interpreter::formatted(const FormattedValue& node) {
  const Value value = expression(node.value);
  if (node.format == nullptr)
    return node.conversion == 'r' || node.conversion == 'a' ? repr(value) : str(value);
  const std::string format = str(expression(node.format));
  // Widths beyond any real table would only fill the memory.
  int digits = 0;
  for (const char c : format) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    if (digits > 3) throw Unsupported{fmt::format("the format '{}' is not evaluated", format)};
  }
  try {
    const std::string pattern = "{:" + format + "}";
    if (node.conversion != 0)
      return fmt::format(fmt::runtime(pattern), node.conversion == 's' ? str(value) : repr(value));
    if (const auto* whole = value.get_if<std::int64_t>()) {
      const bool as_float = format.ends_with('f') || format.ends_with('e') || format.ends_with('g');
      if (as_float) return fmt::format(fmt::runtime(pattern), static_cast<double>(*whole));
      return fmt::format(fmt::runtime(pattern), *whole);
    }
    if (const auto* real = value.get_if<double>()) return fmt::format(fmt::runtime(pattern), *real);
    return fmt::format(fmt::runtime(pattern), str(value));
  } catch (const fmt::format_error&) {
    throw Unsupported{fmt::format("the format '{}' is not evaluated", format)};
  }
}

}  // namespace tilewright::python
