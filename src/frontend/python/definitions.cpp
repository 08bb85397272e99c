// SPDX-License-Identifier: Apache-2.0
// frontend/python/definitions.cpp — a walk over the statements of a module.
#include "frontend/python/definitions.h"

namespace tilewright::python {
namespace {

class Collector {
 public:
  void body(NodeList statements) {
    for (const Node* statement : statements) this->statement(*statement);
  }
  Definitions take() { return std::move(found_); }

 private:
  void statement(const Node& node) {
    statement_ = &node;
    switch (node.kind) {
      case Kind::FunctionDef:
        return add(cast<FunctionDef>(&node).name, {Definition::Form::Function, &node});
      case Kind::ClassDef:
        return add(cast<ClassDef>(&node).name, {Definition::Form::Class, &node});
      case Kind::Assign:
        return assign(cast<Assign>(&node));
      case Kind::AnnAssign:
        return annotated(cast<AnnAssign>(&node));
      case Kind::AugAssign:
        return;  // changes what a name already means
      case Kind::Import:
        return import(cast<Import>(&node));
      case Kind::ImportFrom:
        return import_from(cast<ImportFrom>(&node));
      default:
        return block(node);
    }
  }

  // What stands in a block may or may not have run.
  void block(const Node& node) {
    const bool outer = conditional_;
    const bool outer_unguarded = unguarded_;
    conditional_ = true;
    if (const auto* branch = cast_if<If>(&node)) {
      guards_.push_back({&node, true});
      body(branch->body);
      guards_.back().when = false;
      body(branch->otherwise);
      guards_.pop_back();
      conditional_ = outer;
      return;
    }
    unguarded_ = true;
    if (const auto* attempt = cast_if<Try>(&node)) {
      body(attempt->body);
      for (const Node* handler : attempt->handlers) body(cast<ExceptHandler>(handler).body);
      body(attempt->otherwise);
      body(attempt->finally);
    } else if (const auto* with = cast_if<With>(&node)) {
      for (const Node* item : with->items) bind(cast<WithItem>(item).target, nullptr);
      body(with->body);
    } else if (const auto* loop = cast_if<For>(&node)) {
      bind(loop->target, nullptr);
      body(loop->body);
      body(loop->otherwise);
    } else if (const auto* repeat = cast_if<While>(&node)) {
      body(repeat->body);
      body(repeat->otherwise);
    }
    conditional_ = outer;
    unguarded_ = outer_unguarded;
  }

  void assign(const Assign& node) {
    for (const Node* target : node.targets) bind(target, node.value);
  }

  void annotated(const AnnAssign& node) {
    if (node.value != nullptr) bind(node.target, node.value);
  }

  // Tuples are matched element by element where both sides are written out.
  void bind(const Node* target, const Node* value) {
    if (const auto* name = cast_if<Name>(target)) {
      const bool known = value != nullptr;
      return add(name->id, {known ? Definition::Form::Value : Definition::Form::Opaque,
                            known ? value : target});
    }
    const auto* targets = cast_if<Tuple>(target);
    if (targets == nullptr) return;
    const auto* values = cast_if<Tuple>(value);
    const bool matched = values != nullptr && values->elements.size() == targets->elements.size();
    for (std::size_t i = 0; i < targets->elements.size(); ++i)
      bind(targets->elements[i], matched ? values->elements[i] : nullptr);
  }

  void import(const Import& node) {
    for (const Node* child : node.names) {
      const auto& alias = cast<Alias>(child);
      Definition definition{Definition::Form::Import, &alias};
      definition.module =
          alias.as.empty() ? alias.name.substr(0, alias.name.find('.')) : alias.name;
      add(alias.as.empty() ? definition.module : alias.as, definition);
    }
  }

  void import_from(const ImportFrom& node) {
    for (const Node* child : node.names) {
      const auto& alias = cast<Alias>(child);
      Definition definition{Definition::Form::ImportFrom, &alias};
      definition.module = node.module;
      definition.symbol = alias.name;
      definition.level = node.level;
      if (alias.name == "*") found_.star_imports.push_back(definition);
      else add(alias.as.empty() ? alias.name : alias.as, definition);
    }
  }

  void add(std::string_view name, Definition definition) {
    definition.conditional = conditional_;
    definition.statement = statement_;
    definition.guards = guards_;
    definition.is_only_guarded = !unguarded_;
    found_.names[std::string(name)].push_back(definition);
  }

  Definitions found_;
  const Node* statement_ = nullptr;
  std::vector<Guard> guards_;
  bool conditional_ = false;
  bool unguarded_ = false;  // inside a `try`, a loop or a `with`
};

}  // namespace

Definitions collect_definitions(NodeList body) {
  Collector collector;
  collector.body(body);
  return collector.take();
}

}  // namespace tilewright::python
