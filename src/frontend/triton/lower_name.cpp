// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_name.cpp — what global names stand for: functions, constants, modules, and
// names of the functions around a nested one.
#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "frontend/triton/frame.h"

namespace tilewright::triton {
namespace {

// A call of tl.constexpr: what Triton itself demands of a constant of a module.
bool is_constexpr_call(const py::Node* node) {
  const auto* call = py::cast_if<py::Call>(node);
  return call != nullptr && py::dotted_name(call->function).ends_with("constexpr");
}

bool asks_noinline(const py::DecoratedFunction& function) {
  const py::Decorator* jit = function.find(py::Decorator::Kind::Jit);
  if (jit == nullptr || jit->call == nullptr) return false;
  for (const py::Node* node : jit->call->keywords) {
    const auto& keyword = py::cast<py::Keyword>(node);
    const auto* value = py::cast_if<py::BoolLiteral>(keyword.value);
    if (keyword.name == "noinline" && value != nullptr && value->value) return true;
  }
  return false;
}

bool find_path(const py::Node& node, const py::FunctionDef& wanted,
               std::vector<const py::FunctionDef*>& path) {
  if (&node == &wanted) return true;
  const auto* function = py::cast_if<py::FunctionDef>(&node);
  if (function != nullptr) path.push_back(function);
  bool found = false;
  py::for_each_child(
      node, [&](const py::Node& child) { found = found || find_path(child, wanted, path); });
  if (function != nullptr && !found) path.pop_back();
  return found;
}

// The import statement of the body that binds `name`, at any depth of blocks.
py::Node* find_import(py::NodeList body, std::string_view name) {
  for (py::Node* statement : body) {
    const bool imports = py::is<py::Import>(statement) || py::is<py::ImportFrom>(statement);
    if (imports && py::collect_definitions({&statement, 1}).names.contains(name)) return statement;
  }
  return nullptr;
}

const py::Parameter* find_parameter(const py::FunctionDef& function, std::string_view name) {
  for (const py::Node* node : function.parameters)
    if (py::cast<py::Parameter>(node).name == name) return &py::cast<py::Parameter>(node);
  return nullptr;
}

}  // namespace

std::optional<py::Value> to_python(const Value& value) {
  if (const auto* constant = value.get_if<Constant>()) {
    if (const auto* truth = std::get_if<bool>(&constant->value)) return py::Value(*truth);
    if (const auto* number = std::get_if<double>(&constant->value)) return py::Value(*number);
    if (const auto* text = std::get_if<std::string>(&constant->value)) return py::Value(*text);
    if (const auto* integer = std::get_if<Int128>(&constant->value)) {
      const auto narrow = static_cast<std::int64_t>(*integer);
      if (narrow != *integer) return std::nullopt;
      return py::Value(narrow);
    }
    return py::Value();
  }
  const Tuple* tuple = value.tuple();
  if (tuple == nullptr) return std::nullopt;
  std::vector<py::Value> items;
  for (const Value& item : tuple->items) {
    std::optional<py::Value> converted = to_python(item);
    if (!converted) return std::nullopt;
    items.push_back(*std::move(converted));
  }
  return py::make_tuple(std::move(items));
}

Value Lowering::from_python(const py::Value& value) {
  if (value.is_none()) return {};
  if (const auto* truth = value.get_if<bool>()) return Value::boolean(*truth);
  if (const auto* integer = value.get_if<std::int64_t>()) return Value::integer(*integer);
  if (const auto* number = value.get_if<double>()) return Value::number(*number);
  if (const auto* text = value.get_if<std::string>()) return Value::text(*text);
  if (const auto* outside = value.get_if<py::ExternalValue>()) return external_value(outside->name);
  if (const auto* module = value.get_if<py::ModuleValue>())
    return Namespace{.module = module->module, .external = ""};
  if (const auto* function = value.get_if<py::FunctionValue>()) {
    py::Binding binding;
    binding.kind = py::Binding::Kind::Function;
    binding.module = function->module;
    binding.node = function->node;
    const auto* definition = py::cast_if<py::FunctionDef>(function->node);
    if (definition == nullptr) throw Mistake{"a lambda cannot be used in a kernel", "use a def"};
    return from_binding(binding, definition->name);
  }
  if (const auto* items = value.items()) {
    std::vector<Value> converted;
    for (const py::Value& item : *items) converted.push_back(from_python(item));
    return Value::tuple(std::move(converted));
  }
  throw Mistake{fmt::format("a {} cannot be used in a kernel", py::type_name(value)), ""};
}

Value Lowering::from_binding(const py::Binding& binding, std::string_view name) {
  switch (binding.kind) {
    case py::Binding::Kind::Function: {
      const py::DecoratedFunction read = py::read_decorators(loader_, name, binding);
      if (asks_noinline(read)) note(fmt::format("'{}' is inlined in spite of noinline", name));
      return Function{.name = std::string(py::cast<py::FunctionDef>(binding.node).name),
                      .module = binding.module,
                      .node = read.function,
                      .is_jit = read.is_jit()};
    }
    case py::Binding::Kind::Constant:
      return module_constant(binding, name);
    case py::Binding::Kind::External:
      return external_value(binding.external);
    case py::Binding::Kind::Submodule:
      return Namespace{.module = binding.module, .external = ""};
    case py::Binding::Kind::Class:
      return Class{.name = std::string(name),
                   .module = binding.module,
                   .node = &py::cast<py::ClassDef>(binding.node)};
    case py::Binding::Kind::Unresolved:
      break;
  }
  const std::string plain = fmt::format("'{}' is not defined", name);
  const bool has_reason = !binding.reason.empty() && !binding.reason.starts_with(plain);
  throw Mistake{has_reason ? binding.reason : plain, ""};
}

// The evaluator knows Python, math and torch; our own expressions know types and tl.
Value Lowering::module_constant(const py::Binding& binding, std::string_view name) {
  const auto known = constants_.find(binding.node);
  if (known != constants_.end()) return known->second;
  Value value;
  try {
    value = from_python(evaluator_.constant(binding, name));
  } catch (const SyntaxOrTypeError& error) {
    try {
      value = Frame(*this, *binding.module, nullptr, Frame::Mode::Plain).expression(binding.node);
    } catch (const SyntaxOrTypeError&) {
      throw Mistake{
          fmt::format("the value of '{}' cannot be told: {}", name, error.diagnostic().message),
          fmt::format("it is defined in {}:{}", binding.module->tree->source.file,
                      binding.node->span.line)};
    }
  }
  if (value.is_constant() && !value.is_none() && !is_constexpr_call(binding.node))
    note(
        fmt::format("the global '{}' is read as a constant; Triton wants it wrapped in "
                    "tl.constexpr(...)",
                    name));
  constants_.emplace(binding.node, value);
  return value;
}

std::optional<Value> Lowering::evaluated(const py::LoadedModule& module, const py::Node& node) {
  try {
    const py::Value value = evaluator_.evaluate(module, &node);
    if (value.get_if<py::ExternalValue>() != nullptr) return std::nullopt;
    return from_python(value);
  } catch (const SyntaxOrTypeError&) {
    return std::nullopt;
  }
}

const std::vector<const py::FunctionDef*>& Lowering::functions_around(
    const py::LoadedModule& module, const py::FunctionDef& function) {
  const auto [place, is_new] = around_.try_emplace(&function);
  if (is_new) {
    find_path(*module.tree->root, function, place->second);
    std::reverse(place->second.begin(), place->second.end());
  }
  return place->second;
}

// A name that the function `around` a nested one binds: another function, an import, a constant
// that can be told, the default of a parameter.
std::optional<Value> Lowering::enclosing_name(const py::LoadedModule& module,
                                              const py::FunctionDef& around,
                                              std::string_view name) {
  const py::Definitions inside = py::collect_definitions(around.body);
  const auto found = inside.names.find(name);
  if (found == inside.names.end()) {
    const py::Parameter* parameter = find_parameter(around, name);
    if (parameter == nullptr) return std::nullopt;
    if (parameter->default_value == nullptr)
      throw Mistake{fmt::format("'{}' is a parameter of the function '{}' around this one, whose "
                                "value is not known here",
                                name, around.name),
                    "make it a tl.constexpr parameter"};
    return Frame(*this, module, &around, Frame::Mode::Around).expression(parameter->default_value);
  }
  const py::Definition& definition = found->second.back();
  py::Binding binding;
  binding.module = &module;
  binding.node = definition.node;
  switch (definition.form) {
    case py::Definition::Form::Function:
      binding.kind = py::Binding::Kind::Function;
      return from_binding(binding, name);
    case py::Definition::Form::Value: {
      const Level level(*this);
      return Frame(*this, module, &around, Frame::Mode::Around).expression(definition.node);
    }
    case py::Definition::Form::Import:
    case py::Definition::Form::ImportFrom:
      if (py::Node* statement = find_import(around.body, name))
        for (const auto& [bound, target] : loader_.imports(module, statement))
          if (bound == name) return from_binding(target, name);
      break;
    default:
      break;
  }
  throw Mistake{
      fmt::format("'{}' of the function '{}' around this one is not known here", name, around.name),
      "make it a tl.constexpr parameter"};
}

Value Lowering::global(const py::LoadedModule& module, const py::FunctionDef* function,
                       bool is_inside, std::string_view name) {
  if (function != nullptr && is_inside)
    if (std::optional<Value> found = enclosing_name(module, *function, name)) return *found;
  if (function != nullptr)
    for (const py::FunctionDef* around : functions_around(module, *function))
      if (std::optional<Value> found = enclosing_name(module, *around, name)) return *found;
  py::Binding binding = evaluator_.lookup(module, name);
  // Functions that a module defines twice under `if` do the same on different machines (one by
  // inline PTX): the loader prefers the one that can be compiled everywhere. Numbers differ.
  if (binding.kind != py::Binding::Kind::Constant) binding = loader_.lookup(module, name);
  const bool is_own = binding && !std::string_view(binding.external).starts_with("builtins.");
  if (!is_own)  // `from triton.language import *`: the loader does not know what is in there
    for (const std::string& package : loader_.external_stars(module))
      if (const std::string full = fmt::format("{}.{}", package, name); has_external_value(full))
        return external_value(full);
  return from_binding(binding, name);
}

}  // namespace tilewright::triton
