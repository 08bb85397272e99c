// SPDX-License-Identifier: Apache-2.0
// frontend/python/decorators.cpp — names of decorators resolved and sorted.
#include "frontend/python/decorators.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace tilewright::python {
namespace {

std::string last_part(const std::string& dotted) {
  const std::size_t dot = dotted.rfind('.');
  return dot == std::string::npos ? dotted : dotted.substr(dot + 1);
}

// The full name of what a decorator calls, as far as it can be told.
std::string full_name(const Binding& binding, const Node* callee) {
  if (!binding.external.empty()) return binding.external;
  if (binding.kind == Binding::Kind::Function)
    return fmt::format("{}.{}", binding.module->name, cast<FunctionDef>(binding.node).name);
  if (binding.kind == Binding::Kind::Class)
    return fmt::format("{}.{}", binding.module->name, cast<ClassDef>(binding.node).name);
  return dotted_name(callee);
}

bool is_triton_jit(const std::string& name) {
  return name == "triton.jit" || name == "triton.runtime.jit.jit" || name == "triton.runtime.jit" ||
         name == "jit";
}

// A function of the user's that knows what to tune makes a decorator: @tuned()
bool is_given_nothing(const Decorator& decorator) {
  const Call* call = decorator.call;
  return call != nullptr && call->arguments.empty() && call->keywords.empty();
}

void sort_out(Decorator& decorator) {
  const std::string last = last_part(decorator.name);
  const bool from_triton = decorator.name.starts_with("triton.");
  if (is_triton_jit(decorator.name)) {
    decorator.kind = Decorator::Kind::Jit;
  } else if (from_triton && last == "heuristics") {
    decorator.kind = Decorator::Kind::Heuristics;
  } else if (from_triton && last == "autotune") {
    decorator.kind = Decorator::Kind::Autotune;
  } else if (from_triton && last == "constexpr_function") {
    decorator.kind = Decorator::Kind::ConstexprFunction;
  } else if ((last.ends_with("autotune") && !is_given_nothing(decorator)) || last == "libtuner") {
    decorator.kind = Decorator::Kind::Autotune;
    decorator.note = fmt::format("'{}' is read as triton.autotune", decorator.name);
  } else {
    decorator.note = fmt::format("decorator '{}' is skipped", decorator.name);
  }
}

// The call, when it is one of functools.partial with a function to call.
const Call* partial_call(ModuleLoader& loader, const Node* node, const Moment& moment) {
  const auto* call = cast_if<Call>(node);
  if (call == nullptr || call->arguments.empty()) return nullptr;
  const Binding callee = loader.resolve(*moment.module, call->function, {moment, {}});
  return callee.external == "functools.partial" ? call : nullptr;
}

// What a decorator calls: through functools.partial the function inside, whose arguments are noted.
std::string called_name(ModuleLoader& loader, Decorator& decorator, const Node* callee,
                        Moment moment) {
  constexpr std::size_t most_partials = 10;
  while (decorator.partials.size() < most_partials) {
    const Node* made = callee;
    Moment then = moment;
    const Binding binding = loader.resolve(*moment.module, callee, {moment, {}});
    if (binding.kind == Binding::Kind::Constant) {
      made = binding.node;
      then = {binding.module, binding.statement};
    }
    const Call* partial = partial_call(loader, made, then);
    if (partial == nullptr) return full_name(binding, callee);
    decorator.partials.insert(decorator.partials.begin(), {partial, then});
    callee = partial->arguments[0];
    moment = then;
  }
  return dotted_name(callee);
}

Decorator read_decorator(ModuleLoader& loader, const Moment& moment, const Node* node) {
  Decorator decorator;
  decorator.node = node;
  decorator.module = moment.module;
  decorator.moment = moment;
  // @functools.partial(triton.jit, ...): the whole is what decorates
  if (partial_call(loader, node, moment) == nullptr) decorator.call = cast_if<Call>(node);
  const Node* callee = decorator.call == nullptr ? node : decorator.call->function;
  decorator.name = called_name(loader, decorator, callee, moment);
  if (decorator.name.empty()) decorator.name = std::string(name_of(callee->kind));
  sort_out(decorator);
  return decorator;
}

DecoratedFunction read_function(ModuleLoader& loader, const LoadedModule& module,
                                const FunctionDef& function) {
  DecoratedFunction result;
  result.name = std::string(function.name);
  result.module = &module;
  result.function = &function;
  result.moment = moment_of(module, &function);
  result.moment.module = &module;
  for (const Node* node : function.decorators)
    result.decorators.push_back(read_decorator(loader, result.moment, node));
  return result;
}

}  // namespace

const Decorator* DecoratedFunction::find(Decorator::Kind kind) const {
  for (const Decorator& decorator : decorators)
    if (decorator.kind == kind) return &decorator;
  return nullptr;
}

DecoratedFunction read_decorators(ModuleLoader& loader, std::string_view name,
                                  const Binding& binding) {
  DecoratedFunction result =
      read_function(loader, *binding.module, cast<FunctionDef>(binding.node));
  result.name = std::string(name);
  std::vector<Decorator> outer;
  for (std::size_t i = 0; i < binding.wrappers.size(); ++i)
    outer.push_back(read_decorator(loader, binding.wrapper_moments[i], binding.wrappers[i]));
  result.decorators.insert(result.decorators.begin(), outer.begin(), outer.end());
  return result;
}

std::vector<DecoratedFunction> jit_functions(ModuleLoader& loader, const LoadedModule& module) {
  std::vector<DecoratedFunction> found;
  // A call form names a function by assignment; the function below it is then not listed a second
  // time.
  std::set<const Node*> wrapped;
  for (const auto& [name, definitions] : module.definitions.names) {
    if (definitions.back().form != Definition::Form::Value) continue;
    const Binding binding = loader.lookup(module, name);
    if (binding.kind != Binding::Kind::Function || binding.module != &module) continue;
    DecoratedFunction function = read_decorators(loader, name, binding);
    if (binding.wrappers.empty() || !function.is_jit()) continue;
    wrapped.insert(binding.node);
    found.push_back(std::move(function));
  }
  const auto visit = [&](const Node& node, const auto& self) -> void {
    if (const auto* function = cast_if<FunctionDef>(&node);
        function != nullptr && !wrapped.contains(&node)) {
      DecoratedFunction read = read_function(loader, module, *function);
      if (read.is_jit()) found.push_back(std::move(read));
    }
    for_each_child(node, [&](const Node& child) { self(child, self); });
  };
  visit(*module.tree->root, visit);
  const auto by_line = [](const DecoratedFunction& a, const DecoratedFunction& b) {
    return a.function->span.line < b.function->span.line;
  };
  std::stable_sort(found.begin(), found.end(), by_line);
  return found;
}

}  // namespace tilewright::python
