// SPDX-License-Identifier: Apache-2.0
// frontend/python/follow.cpp — one definition of a name, followed to what it stands for.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/python/module_loader.h"

namespace tilewright::python {
namespace {

bool is_reference(const Node* node) {
  while (const auto* attribute = cast_if<Attribute>(node)) node = attribute->value;
  return is<Name>(node);
}

// By the last name of what decorates it.
bool is_jit(const Node* decorator) {
  const auto* call = cast_if<Call>(decorator);
  const std::string name = dotted_name(call == nullptr ? decorator : call->function);
  return name == "jit" || name.ends_with(".jit");
}

bool is_kernel(const Binding& function) {
  const auto& decorators = cast<FunctionDef>(function.node).decorators;
  return std::any_of(function.wrappers.begin(), function.wrappers.end(), is_jit) ||
         std::any_of(decorators.begin(), decorators.end(), is_jit);
}

}  // namespace

Binding ModuleLoader::follow(const LoadedModule& module, std::string_view name,
                             const Definition& definition) {
  Binding binding;
  binding.module = &module;
  binding.node = definition.node;
  switch (definition.form) {
    case Definition::Form::Function:
      binding.kind = Binding::Kind::Function;
      return binding;
    case Definition::Form::Class:
      binding.kind = Binding::Kind::Class;
      return binding;
    case Definition::Form::Value:
      return follow_value(module, name, definition);
    case Definition::Form::Import:
      return import_module(module, definition.module, 0);
    case Definition::Form::ImportFrom:
      return import_symbol(module, definition, definition.symbol);
    case Definition::Form::Opaque:
      break;
  }
  binding.reason = fmt::format("'{}' is bound on line {} of {} in a way that is not followed", name,
                               definition.node->span.line, module.file);
  return binding;
}

// `exp = tl.exp` is followed; `f = triton.jit(f)` is the function f; anything else is a constant.
// Names mean what they did when the statement ran.
Binding ModuleLoader::follow_value(const LoadedModule& module, std::string_view name,
                                   const Definition& definition) {
  const Node* value = definition.node;
  const Moment then{&module, definition.statement};
  if (is_reference(value)) {
    Binding binding = follow_expression(module, value, then);
    const bool opaque_member = !binding && is<Attribute>(value);
    if (!opaque_member) return binding;
  }
  if (const auto* call = cast_if<Call>(value)) {
    Binding binding = wrapped_function(module, *call, then, name);
    if (binding) return binding;
  }
  Binding binding;
  binding.kind = Binding::Kind::Constant;
  binding.module = &module;
  binding.node = value;
  binding.statement = definition.statement;
  return binding;
}

Binding ModuleLoader::follow_expression(const LoadedModule& module, const Node* node,
                                        const Moment& moment) {
  if (const auto* reference = cast_if<Name>(node)) return lookup_at(module, reference->id, moment);
  if (const auto* attribute = cast_if<Attribute>(node)) {
    const Binding owner = follow_expression(module, attribute->value, moment);
    return member(owner, attribute->name);
  }
  Binding binding;
  binding.reason = "this expression is no name";
  return binding;
}

// triton.jit(f), triton.heuristics({...})(f), libentry()(triton.jit(f)); and whatever makes a
// kernel of a kernel under its own name, `f = tuned()(f)`.
Binding ModuleLoader::wrapped_function(const LoadedModule& module, const Call& call,
                                       const Moment& moment, std::string_view name) {
  Binding inner;
  if (call.arguments.size() != 1 || !call.keywords.empty()) return inner;
  const Node* argument = call.arguments[0];
  const auto* reference = cast_if<Name>(argument);
  const bool is_its_own = reference != nullptr && reference->id == name;
  const bool wraps = is_wrapper(module, call.function, moment);
  if (!wraps && !is_its_own) return inner;
  if (const auto* nested = cast_if<Call>(argument))
    inner = wrapped_function(module, *nested, moment, name);
  else if (is_reference(argument)) inner = follow_expression(module, argument, moment);
  // A builtin of Triton's is called at compile time as it is.
  const bool is_marked = dotted_name(call.function).ends_with("constexpr_function");
  if (is_marked && inner.kind == Binding::Kind::External) return inner;
  if (inner.kind != Binding::Kind::Function || (!wraps && !is_kernel(inner))) return {};
  inner.wrappers.insert(inner.wrappers.begin(), call.function);
  inner.wrapper_moments.insert(inner.wrapper_moments.begin(), moment);
  return inner;
}

// Does this callee decorate kernels? Judged by the last name, which Triton's own and libraries'
// decorators share.
bool ModuleLoader::is_wrapper(const LoadedModule& module, const Node* callee,
                              const Moment& moment) {
  static constexpr std::array<std::string_view, 7> known = {
      "autotune", "constexpr_function", "fla_cache_autotune", "heuristics", "jit", "libentry",
      "libtuner"};
  const auto* call = cast_if<Call>(callee);
  std::string name = dotted_name(call == nullptr ? callee : call->function);
  const Binding binding =
      follow_expression(module, call == nullptr ? callee : call->function, moment);
  if (!binding.external.empty()) name = binding.external;
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos) name = name.substr(dot + 1);
  return std::find(known.begin(), known.end(), name) != known.end();
}

}  // namespace tilewright::python
