// SPDX-License-Identifier: Apache-2.0
// frontend/python/evaluate_call.cpp — calls of functions, methods and known externals.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/python/interpreter.h"

namespace tilewright::python {
namespace {

// Is some fact about a member of this call's result known? Then the result itself stays a name.
bool has_member_facts(const Facts& facts, const std::string& call) {
  const auto next = facts.lower_bound(call + ".");
  return next != facts.end() && next->first.starts_with(call + ".");
}

const Value* find_keyword(const Keywords& keywords, std::string_view name) {
  for (const auto& [known, value] : keywords)
    if (known == name) return &value;
  return nullptr;
}

}  // namespace

Value Interpreter::call(const Call& node) {
  std::vector<Value> arguments = elements(node.arguments);
  Keywords keywords;
  for (const Node* child : node.keywords) {
    const auto& keyword = cast<Keyword>(child);
    const Value value = expression(keyword.value);
    if (!keyword.name.empty()) {
      keywords.emplace_back(std::string(keyword.name), value);
      continue;
    }
    if (value.dict() == nullptr)
      throw Unsupported{fmt::format("'**' of {} is not evaluated", type_name(value))};
    for (const auto& [name, item] : value.dict()->items) keywords.emplace_back(str(name), item);
  }
  const auto* member = cast_if<Attribute>(node.function);
  if (member != nullptr) {
    const bool global = is_named_call(*member);
    const Value owner = global ? Value() : expression(member->value);
    const bool named = global || owner.is<ExternalValue>() || owner.is<ModuleValue>();
    if (!named) return method(owner, member->name, arguments, keywords);
  }
  return call_value(expression(node.function), arguments, keywords);
}

// Is a name called, and no method of a value: triton.cdiv, but not triton.__version__.split?
bool Interpreter::is_named_call(const Attribute& member) {
  if (!is_global(&member)) return false;
  const Binding binding = shared_.loader_.resolve(module_, &member, how());
  if (binding.kind != Binding::Kind::External) return static_cast<bool>(binding);
  if (find_builtin(binding.external) != nullptr) return true;
  const std::string owner = binding.external.substr(0, binding.external.rfind('.'));
  return !shared_.options_.facts.contains(owner) && find_constant(owner) == nullptr &&
         owner != "os.environ";
}

Value Interpreter::call_value(const Value& callee, const std::vector<Value>& arguments,
                              const Keywords& keywords) {
  if (const auto* function = callee.get_if<FunctionValue>())
    return call_function(*function, arguments, keywords);
  if (const auto* outside = callee.get_if<ExternalValue>())
    return call_external(outside->name, arguments, keywords);
  if (const PartialValue* partial = callee.partial()) {
    std::vector<Value> all = partial->arguments;
    all.insert(all.end(), arguments.begin(), arguments.end());
    Keywords named = keywords;
    for (const auto& [name, value] : partial->keywords)
      if (find_keyword(keywords, name) == nullptr) named.emplace_back(name, value);
    return call_value(partial->function, all, named);
  }
  throw Unsupported{fmt::format("{} cannot be called", type_name(callee))};
}

Value Interpreter::method(const Value& owner, std::string_view name,
                          const std::vector<Value>& arguments, const Keywords& keywords) {
  const Arguments all{arguments, keywords,
                      [this](const Value& callee, const std::vector<Value>& values) {
                        return call_value(callee, values, {});
                      },
                      [this](const Value& value) { return iterate(value); }};
  return call_method(owner, name, all);
}

Value Interpreter::call_external(const std::string& name, const std::vector<Value>& arguments,
                                 const Keywords& keywords) {
  const std::string as_call = name + "()";
  const auto fact = shared_.options_.facts.find(as_call);
  if (fact != shared_.options_.facts.end()) return fact->second;
  if (has_member_facts(shared_.options_.facts, as_call)) return ExternalValue{as_call};
  if (name == "builtins.hasattr") return call_hasattr(arguments);
  if (name == "builtins.getattr") return call_getattr(arguments);
  const Builtin builtin = find_builtin(name);
  if (builtin == nullptr)
    throw Unsupported{fmt::format("a call of '{}' is not evaluated while reading a file", name)};
  const Arguments all{arguments, keywords,
                      [this](const Value& callee, const std::vector<Value>& values) {
                        return call_value(callee, values, {});
                      },
                      [this](const Value& value) { return iterate(value); }};
  return builtin(all);
}

Value Interpreter::call_function(const FunctionValue& function, const std::vector<Value>& arguments,
                                 const Keywords& keywords) {
  Scope* scope = new_scope(function.scope);
  Interpreter frame(shared_, *function.module, scope, depth_ + 1, moment_);
  frame.step(*function.node);
  if (const auto* lambda = cast_if<Lambda>(function.node)) {
    frame.bind_parameters(lambda->parameters, *scope, arguments, keywords);
    return frame.expression(lambda->body);
  }
  const auto& definition = cast<FunctionDef>(function.node);
  if (definition.is_async) throw Unsupported{"an async function is not evaluated"};
  frame.bind_parameters(definition.parameters, *scope, arguments, keywords);
  return frame.run(definition.body) ? frame.result() : Value();
}

// Positions first, then names, then defaults; what is left over goes to *args and **kwargs.
void Interpreter::bind_parameters(NodeList parameters, Scope& scope,
                                  const std::vector<Value>& arguments, const Keywords& keywords) {
  std::size_t used = 0;
  std::size_t named = 0;
  bool takes_rest = false;
  bool takes_keywords = false;
  for (const Node* node : parameters) {
    const auto& parameter = cast<Parameter>(node);
    const std::string name(parameter.name);
    if (parameter.role == ParameterRole::Arguments) {
      takes_rest = true;
      scope.names[name] = make_tuple(
          {arguments.begin() + static_cast<std::ptrdiff_t>(std::min(used, arguments.size())),
           arguments.end()});
    } else if (parameter.role == ParameterRole::Keywords) {
      takes_keywords = true;
      std::vector<std::pair<Value, Value>> rest;
      for (const auto& [key, value] : keywords)
        if (!scope.names.contains(key)) rest.emplace_back(key, value);
      scope.names[name] = make_dict(std::move(rest));
    } else if (parameter.role != ParameterRole::KeywordOnly && used < arguments.size()) {
      scope.names[name] = arguments[used++];
    } else if (const Value* given = find_keyword(keywords, name)) {
      scope.names[name] = *given;
      ++named;
    } else if (parameter.default_value != nullptr) {
      scope.names[name] = expression(parameter.default_value);
    } else {
      throw Unsupported{fmt::format("no value is given for parameter '{}'", name)};
    }
  }
  if (used < arguments.size() && !takes_rest)
    throw Unsupported{
        fmt::format("{} arguments are given to a function that takes {}", arguments.size(), used)};
  if (named < keywords.size() && !takes_keywords)
    throw Unsupported{"a keyword argument is given that the function does not take"};
}

}  // namespace tilewright::python
