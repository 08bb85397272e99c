// SPDX-License-Identifier: Apache-2.0
// frontend/triton/assigned.cpp — a walk over statements for targets and returns.
#include "frontend/triton/assigned.h"

namespace tilewright::triton {

using namespace python;

namespace {

using Names = std::map<std::string, const Node*>;

bool opens_scope(const Node& node) {
  switch (node.kind) {
    case Kind::FunctionDef:
    case Kind::ClassDef:
    case Kind::Lambda:
    case Kind::ListComp:
    case Kind::SetComp:
    case Kind::DictComp:
    case Kind::GeneratorExp:
      return true;
    default:
      return false;
  }
}

void add_target(const Node* target, Names& names) {
  if (const auto* name = cast_if<Name>(target)) names.emplace(std::string(name->id), target);
  if (const auto* tuple = cast_if<Tuple>(target))
    for (const Node* element : tuple->elements) add_target(element, names);
  if (const auto* list = cast_if<List>(target))
    for (const Node* element : list->elements) add_target(element, names);
  if (const auto* starred = cast_if<Starred>(target)) add_target(starred->value, names);
}

void add_targets(const Node& node, Names& names) {
  if (const auto* assign = cast_if<Assign>(&node))
    for (const Node* target : assign->targets) add_target(target, names);
  if (const auto* augmented = cast_if<AugAssign>(&node)) add_target(augmented->target, names);
  if (const auto* annotated = cast_if<AnnAssign>(&node))
    if (annotated->value != nullptr) add_target(annotated->target, names);
  if (const auto* loop = cast_if<For>(&node)) add_target(loop->target, names);
  if (const auto* walrus = cast_if<NamedExpr>(&node)) add_target(walrus->target, names);
}

void visit(const Node& node, Names& names) {
  if (opens_scope(node)) return;
  add_targets(node, names);
  for_each_child(node, [&](const Node& child) { visit(child, names); });
}

}  // namespace

Names assigned_names(NodeList statements) {
  Names names;
  for (const Node* statement : statements) visit(*statement, names);
  return names;
}

bool contains_return(const Node& statement) {
  if (is<Return>(&statement)) return true;
  if (opens_scope(statement)) return false;
  bool found = false;
  for_each_child(statement, [&](const Node& child) { found = found || contains_return(child); });
  return found;
}

bool is_constexpr_annotation(const Node* annotation) {
  if (annotation == nullptr) return false;
  if (const auto* text = cast_if<StrLiteral>(annotation)) return text->value.ends_with("constexpr");
  if (const auto* name = cast_if<Name>(annotation)) return name->id == "constexpr";
  if (const auto* member = cast_if<Attribute>(annotation)) return member->name == "constexpr";
  if (const auto* either = cast_if<BinOp>(annotation))
    return is_constexpr_annotation(either->left) || is_constexpr_annotation(either->right);
  return false;
}

}  // namespace tilewright::triton
