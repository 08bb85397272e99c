// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/host_run.cpp — statement by statement towards the launch.
#include "compiler/triton/guess/host_run.h"

#include <algorithm>
#include <array>

#include "frontend/python/arithmetic.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using namespace python;

bool holds_node(const Node& node, const Node* wanted) {
  if (&node == wanted) return true;
  bool found = false;
  for_each_child(node, [&](const Node& child) { found = found || holds_node(child, wanted); });
  return found;
}

bool holds_node(NodeList statements, const Node* wanted) {
  return std::any_of(statements.begin(), statements.end(),
                     [&](const Node* node) { return holds_node(*node, wanted); });
}

std::vector<NodeList> blocks_of(const Node& statement) {
  if (const auto* branch = cast_if<If>(&statement)) return {branch->body, branch->otherwise};
  if (const auto* with = cast_if<With>(&statement)) return {with->body};
  if (const auto* attempt = cast_if<Try>(&statement))
    return {attempt->body, attempt->otherwise, attempt->finally};
  if (const auto* loop = cast_if<While>(&statement)) return {loop->body};
  if (const auto* loop = cast_if<For>(&statement)) return {loop->body};
  return {};
}

}  // namespace

std::string_view tensor_name(const Node* node) {
  static constexpr std::array<std::string_view, 8> views = {
      "contiguous", "view", "reshape", "detach", "to", "flatten", "cuda", "clone"};
  while (const auto* call = cast_if<Call>(node)) {
    const auto* member = cast_if<Attribute>(call->function);
    if (member == nullptr || std::find(views.begin(), views.end(), member->name) == views.end())
      return {};
    node = member->value;
  }
  const auto* name = cast_if<Name>(node);
  return name == nullptr ? std::string_view() : std::string_view(name->id);
}

HostRun::HostRun(ModuleLoader& loader, Evaluator& evaluator, const KernelLaunch& launch,
                 std::map<std::string, Value> given)
    : loader_(loader), evaluator_(evaluator), launch_(launch) {
  for (auto& [name, value] : given) {
    fixed_.insert(name);
    names_[name] = {std::move(value), {}};
  }
  give_sources_of_views();
  set_defaults();
  const NodeList body =
      launch.function != nullptr ? launch.function->body : launch.module->tree->root->body;
  run(body);
}

// x2 = x.view(-1, n): where x2 is given and x is not, x is that tensor too, as good as any other of
// its size.
void HostRun::give_sources_of_views() {
  if (launch_.function == nullptr) return;
  const auto visit = [&](const auto& self, const Node& node) -> void {
    for_each_child(node, [&](const Node& child) { self(self, child); });
    const auto* assign = cast_if<Assign>(&node);
    const auto* target =
        assign && assign->targets.size() == 1 ? cast_if<Name>(assign->targets[0]) : nullptr;
    if (target == nullptr || !fixed_.contains(std::string(target->id))) return;
    const std::string source(tensor_name(assign->value));
    if (source.empty() || fixed_.contains(source)) return;
    names_[source] = names_[std::string(target->id)];
    fixed_.insert(source);
  };
  visit(visit, *launch_.function);
  visit(visit, *launch_.function);  // a view of a view
}

void HostRun::set_defaults() {
  if (launch_.function == nullptr) return;
  for (const Node* node : launch_.function->parameters) {
    const auto& parameter = cast<Parameter>(node);
    if (parameter.default_value == nullptr || fixed_.contains(std::string(parameter.name)))
      continue;
    try {
      names_[std::string(parameter.name)] = value(parameter.default_value);
    } catch (const UserError&) {
      // It has no value then.
    }
  }
}

std::map<std::string, Value, std::less<>> HostRun::names() const {
  std::map<std::string, Value, std::less<>> all;
  for (const auto& [name, known] : names_) all[name] = known.value;
  return all;
}

WrapperValue HostRun::value(const Node* node) {
  if (const auto* name = cast_if<Name>(node))
    if (const auto found = names_.find(std::string(name->id)); found != names_.end())
      return found->second;
  if (const auto* choice = cast_if<IfExp>(node))
    return value(truth(value(choice->test).value) ? choice->body : choice->otherwise);
  if (const auto* call = cast_if<Call>(node)) {
    const HostOperand operand = [this](const Node* part) { return value(part); };
    const Binding function = loader_.resolve(*launch_.module, call->function);
    if (auto made = made_by_torch(function.external, *call, operand)) return *made;
    const auto* member = cast_if<Attribute>(call->function);
    if (member != nullptr && function.external.empty()) {
      const WrapperValue owner = value(member->value);
      if (owner.tensor() != nullptr)
        if (auto made = made_by_method(owner, member->name, *call, operand)) return *made;
    }
  }
  return {evaluator_.evaluate(*launch_.module, node, names()), {}};
}

bool HostRun::run(NodeList statements) {
  for (const Node* statement : statements) {
    if (holds_node(*statement, launch_.call)) return enter(*statement);
    execute(*statement);
  }
  return false;
}

// The statement with the launch in it: its block is run up to there.
bool HostRun::enter(const Node& statement) {
  if (const auto* loop = cast_if<For>(&statement)) bind_first(*loop);
  for (const NodeList block : blocks_of(statement))
    if (holds_node(block, launch_.call)) return run(block);
  return true;
}

// A launch in a loop is that of the first round.
void HostRun::bind_first(const For& loop) {
  try {
    const Value items = value(loop.iterable).value;
    const bool has_items = items.items() != nullptr && !items.items()->empty();
    const WrapperValue first{has_items ? items.items()->front() : Value(), {}};
    bind(loop.target, has_items ? &first : nullptr);
  } catch (const UserError&) {
    bind(loop.target, nullptr);
  }
}

void HostRun::execute(const Node& statement) {
  const Node* target = nullptr;
  const Node* source = nullptr;
  if (const auto* assign = cast_if<Assign>(&statement); assign && assign->targets.size() == 1) {
    target = assign->targets[0];
    source = assign->value;
  } else if (const auto* typed = cast_if<AnnAssign>(&statement); typed && typed->value) {
    target = typed->target;
    source = typed->value;
  } else if (const auto* with = cast_if<With>(&statement)) {
    run(with->body);
    return;
  } else if (const auto* branch = cast_if<If>(&statement)) {
    try {
      run(truth(value(branch->test).value) ? branch->body : branch->otherwise);
    } catch (const UserError&) {
      forget_assigned(statement);
    }
    return;
  } else if (!is<AugAssign>(&statement)) {
    forget_assigned(statement);
    return;
  }
  try {
    if (const auto* changed = cast_if<AugAssign>(&statement)) {
      const WrapperValue result{
          apply(changed->op, value(changed->target).value, value(changed->value).value), {}};
      bind(changed->target, &result);
      return;
    }
    const WrapperValue result = value(source);
    bind(target, &result);
  } catch (const UserError&) {
    forget_assigned(statement);
  } catch (const Unsupported&) {
    forget_assigned(statement);
  }
}

// Null: a value that is not known.
void HostRun::bind(const Node* target, const WrapperValue* result) {
  if (const auto* name = cast_if<Name>(target)) {
    const std::string id(name->id);
    if (fixed_.contains(id)) return;
    if (result == nullptr) names_.erase(id);
    else names_[id] = *result;
    return;
  }
  const auto* tuple = cast_if<Tuple>(target);
  const auto* list = cast_if<List>(target);
  if (tuple == nullptr && list == nullptr) return;
  const NodeList parts = tuple != nullptr ? tuple->elements : list->elements;
  const auto* items = result == nullptr ? nullptr : result->value.items();
  const bool fits = items != nullptr && items->size() == parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const WrapperValue part{fits ? (*items)[i] : Value(), {}};
    bind(parts[i], fits ? &part : nullptr);
  }
}

// Names that a statement may have changed in a way that is not followed.
void HostRun::forget_assigned(const Node& node) {
  if (is<FunctionDef>(&node) || is<ClassDef>(&node)) return;
  if (const auto* assign = cast_if<Assign>(&node))
    for (const Node* target : assign->targets) bind(target, nullptr);
  if (const auto* typed = cast_if<AnnAssign>(&node)) bind(typed->target, nullptr);
  if (const auto* changed = cast_if<AugAssign>(&node)) bind(changed->target, nullptr);
  if (const auto* loop = cast_if<For>(&node)) bind(loop->target, nullptr);
  for_each_child(node, [&](const Node& child) { forget_assigned(child); });
}

}  // namespace tilewright
