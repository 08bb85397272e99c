// SPDX-License-Identifier: Apache-2.0
// frontend/python/execute.cpp — the statements that functions making configs and grids consist of.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/python/interpreter.h"

namespace tilewright::python {
namespace {

// Does the statement change the object behind `name` in place: name.append(x), name += y, name[k] =
// v?
bool changes(const Node& node, std::string_view name) {
  const auto is_it = [&](const Node* candidate) {
    const auto* reference = cast_if<Name>(candidate);
    return reference != nullptr && reference->id == name;
  };
  if (const auto* call = cast_if<Call>(&node)) {
    static constexpr std::array<std::string_view, 10> mutators = {
        "add", "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort", "update"};
    const auto* member = cast_if<Attribute>(call->function);
    if (member != nullptr && is_it(member->value) &&
        std::find(mutators.begin(), mutators.end(), member->name) != mutators.end())
      return true;
  }
  if (const auto* augmented = cast_if<AugAssign>(&node);
      augmented != nullptr && is_it(augmented->target))
    return true;
  if (const auto* assign = cast_if<Assign>(&node)) {
    for (const Node* target : assign->targets) {
      const auto* element = cast_if<Subscript>(target);
      if (element != nullptr && is_it(element->value)) return true;
    }
  }
  if (const auto* loop = cast_if<For>(&node); loop != nullptr && is_it(loop->iterable))
    return true;  // its items may be changed
  if (is<FunctionDef>(&node) || is<ClassDef>(&node)) return false;
  bool found = false;
  for_each_child(node, [&](const Node& child) { found = found || changes(child, name); });
  return found;
}

bool contains(const Node& node, const Node* wanted) {
  if (&node == wanted) return true;
  bool found = false;
  for_each_child(node, [&](const Node& child) { found = found || contains(child, wanted); });
  return found;
}

}  // namespace

bool Interpreter::run(NodeList statements) { return block(statements) == Exit::Return; }

Interpreter::Exit Interpreter::block(NodeList statements) {
  for (Node* node : statements) {
    step(*node);
    try {
      const Exit exit = statement(node);
      if (exit != Exit::Normal) return exit;
    } catch (const Unsupported& problem) {
      fail(*node, problem.message);
    }
  }
  return Exit::Normal;
}

Interpreter::Exit Interpreter::statement(Node* statement) {
  const Node& node = *statement;
  switch (node.kind) {
    case Kind::Return: {
      const Node* value = cast<Return>(&node).value;
      result_ = value == nullptr ? Value() : expression(value);
      return Exit::Return;
    }
    case Kind::Break:
      return Exit::Break;
    case Kind::Continue:
      return Exit::Continue;
    case Kind::Pass:
    case Kind::Global:
    case Kind::Nonlocal:
      return Exit::Normal;
    case Kind::If:
      return branch(cast<If>(&node));
    case Kind::For:
      return for_loop(cast<For>(&node));
    case Kind::While:
      return while_loop(cast<While>(&node));
    case Kind::Try:
      return attempt(cast<Try>(&node));
    case Kind::Import:
    case Kind::ImportFrom:
      import(statement);
      return Exit::Normal;
    case Kind::ExprStmt:
      if (!is<StrLiteral>(cast<ExprStmt>(&node).value)) expression(cast<ExprStmt>(&node).value);
      return Exit::Normal;
    case Kind::Assign: {
      const Value value = expression(cast<Assign>(&node).value);
      for (const Node* target : cast<Assign>(&node).targets) assign(target, value);
      return Exit::Normal;
    }
    case Kind::AnnAssign:
      if (cast<AnnAssign>(&node).value != nullptr)
        assign(cast<AnnAssign>(&node).target, expression(cast<AnnAssign>(&node).value));
      return Exit::Normal;
    case Kind::AugAssign: {
      const auto& augmented = cast<AugAssign>(&node);
      const Value old = expression(augmented.target);
      assign(augmented.target, apply(augmented.op, old, expression(augmented.value)));
      return Exit::Normal;
    }
    case Kind::FunctionDef:
      scope_->names[std::string(cast<FunctionDef>(&node).name)] =
          FunctionValue{&module_, &node, scope_};
      return Exit::Normal;
    case Kind::Assert:
      if (!truth(expression(cast<Assert>(&node).test))) throw Unsupported{"the assertion fails"};
      return Exit::Normal;
    case Kind::Raise:
      throw Unsupported{"the function raises an exception here"};
    default:
      throw Unsupported{
          fmt::format("a {} statement is not evaluated while reading a file", name_of(node.kind))};
  }
}

Interpreter::Exit Interpreter::branch(const If& node) {
  return block(truth(expression(node.test)) ? node.body : node.otherwise);
}

Interpreter::Exit Interpreter::for_loop(const For& node) {
  for (const Value& item : iterate(expression(node.iterable))) {
    step(node);
    assign(node.target, item);
    const Exit exit = block(node.body);
    if (exit == Exit::Return) return exit;
    if (exit == Exit::Break) return Exit::Normal;
  }
  return block(node.otherwise);
}

Interpreter::Exit Interpreter::while_loop(const While& node) {
  while (truth(expression(node.test))) {
    step(node);
    const Exit exit = block(node.body);
    if (exit == Exit::Return) return exit;
    if (exit == Exit::Break) return Exit::Normal;
  }
  return block(node.otherwise);
}

// Only the way without an exception is taken: what cannot be evaluated is an error and is never
// caught.
Interpreter::Exit Interpreter::attempt(const Try& node) {
  Exit exit = block(node.body);
  if (exit == Exit::Normal) exit = block(node.otherwise);
  const Exit last = block(node.finally);
  return last == Exit::Normal ? exit : last;
}

void Interpreter::import(Node* statement) {
  for (const auto& [name, binding] : shared_.loader_.imports(module_, statement))
    scope_->names[name] = from_binding(binding, name);
}

void Interpreter::assign(const Node* target, const Value& value) {
  if (const auto* name = cast_if<Name>(target)) {
    if (scope_ == nullptr) scope_ = new_scope(nullptr);
    scope_->names[std::string(name->id)] = value;
    return;
  }
  if (const auto* subscript = cast_if<Subscript>(target)) return assign_element(*subscript, value);
  if (const auto* attribute = cast_if<Attribute>(target))
    return assign_attribute(*attribute, value);
  const auto* tuple = cast_if<Tuple>(target);
  const auto* list = cast_if<List>(target);
  if (tuple == nullptr && list == nullptr)
    throw Unsupported{fmt::format("an assignment to {} is not evaluated", name_of(target->kind))};
  const NodeList targets = tuple != nullptr ? tuple->elements : list->elements;
  const std::vector<Value> values = iterate(value);
  if (values.size() != targets.size())
    throw Unsupported{
        fmt::format("{} values cannot be unpacked to {} names", values.size(), targets.size())};
  for (std::size_t i = 0; i < targets.size(); ++i) assign(targets[i], values[i]);
}

void Interpreter::assign_element(const Subscript& target, const Value& value) {
  const Value owner = expression(target.value);
  const Value index = expression(target.index);
  if (owner.dict() != nullptr) {
    const auto& dict = *owner.get_if<std::shared_ptr<DictValue>>();
    if (holds(value, dict.get())) throw Unsupported{"a dict that holds itself is not evaluated"};
    return dict->set(index, value);
  }
  if (owner.list() == nullptr || !index.integer())
    throw Unsupported{
        fmt::format("an assignment to an element of {} is not evaluated", type_name(owner))};
  element(owner, index);  // checks the range
  const auto& list = *owner.get_if<std::shared_ptr<ListValue>>();
  if (holds(value, list.get())) throw Unsupported{"a list that holds itself is not evaluated"};
  nest(list->depth, value);
  const auto size = static_cast<std::int64_t>(list->items.size());
  const std::int64_t at = *index.integer() < 0 ? *index.integer() + size : *index.integer();
  list->items[static_cast<std::size_t>(at)] = value;
}

// Of configs, and of the descriptors that a pre_hook is given.
void Interpreter::assign_attribute(const Attribute& target, const Value& value) {
  const Value owner = expression(target.value);
  const auto* tensor = owner.get_if<TensorValue>();
  if (tensor != nullptr && tensor->effects != nullptr && target.name == "block_shape") {
    std::vector<std::int64_t> sizes;
    for (const Value& size : iterate(value)) {
      if (!size.integer()) throw Unsupported{"a block_shape holds ints"};
      sizes.push_back(*size.integer());
    }
    tensor->effects->block_shape = std::move(sizes);
    return;
  }
  if (owner.config() != nullptr) {
    ConfigValue& config = **owner.get_if<std::shared_ptr<ConfigValue>>();
    const std::optional<std::int64_t> number = value.integer();
    if (target.name == "num_warps" && number) return void(config.num_warps = *number);
    if (target.name == "num_stages" && number) return void(config.num_stages = *number);
    if (target.name == "pre_hook" && is_function(value))
      return void(config.pre_hook = std::make_shared<const Value>(value));
  }
  throw Unsupported{
      fmt::format("an assignment to '.{}' of {} is not evaluated", target.name, type_name(owner))};
}

// A value that the module changes after its definition (a list that it fills, `N += 1`): the
// statements that do so are run on it.
void Interpreter::apply_changes(Value& value, std::string_view name, const Node* definition,
                                const Moment& until) {
  bool after = false;
  const NodeList body = module_.tree->root->body;
  for (std::size_t i = 0; i < body.size() && until.is_past(module_, *body[i]); ++i) {
    const Node* node = body[i];
    if (after && !is<FunctionDef>(node) && !is<ClassDef>(node) && changes(*node, name)) {
      moment_ = {&module_, node};
      scope_ = new_scope(nullptr);
      scope_->names[std::string(name)] = value;
      block(body.subspan(i, 1));
      value = scope_->names[std::string(name)];
    }
    after = after || contains(*node, definition);
  }
}

}  // namespace tilewright::python
