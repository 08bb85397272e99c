// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_target.cpp — what may stand left of `=`, after `for`, `del` and `as`, and
// how to say that it may not.
#include <fmt/format.h>

#include "frontend/python/parser_state.h"

namespace tilewright::python {
namespace {

// Python's word for an expression that cannot be assigned to.
std::string noun_of(const Node& node) {
  switch (node.kind) {
    case Kind::Call:
      return "function call";
    case Kind::Name:
      return "name";
    case Kind::Attribute:
      return "attribute";
    case Kind::Subscript:
      return "subscript";
    case Kind::Starred:
      return "starred";
    case Kind::Tuple:
      return "tuple";
    case Kind::List:
      return "list";
    case Kind::Lambda:
      return "lambda";
    case Kind::IfExp:
      return "conditional expression";
    case Kind::Dict:
      return "dict literal";
    case Kind::Set:
      return "set display";
    case Kind::ListComp:
      return "list comprehension";
    case Kind::SetComp:
      return "set comprehension";
    case Kind::DictComp:
      return "dict comprehension";
    case Kind::GeneratorExp:
      return "generator expression";
    case Kind::Yield:
    case Kind::YieldFrom:
      return "yield expression";
    case Kind::Await:
      return "await expression";
    case Kind::Compare:
      return "comparison";
    case Kind::JoinedStr:
      return "f-string expression";
    case Kind::NamedExpr:
      return "named expression";
    case Kind::NoneLiteral:
      return "None";
    case Kind::BoolLiteral:
      return static_cast<const BoolLiteral&>(node).value ? "True" : "False";
    case Kind::EllipsisLiteral:
      return "ellipsis";
    case Kind::IntLiteral:
    case Kind::FloatLiteral:
    case Kind::ImaginaryLiteral:
    case Kind::StrLiteral:
    case Kind::BytesLiteral:
      return "literal";
    default:
      return "expression";
  }
}

bool is_plain_target(const Node& node) {
  return node.kind == Kind::Name || node.kind == Kind::Attribute || node.kind == Kind::Subscript;
}

NodeList elements_of(const Node& node) {
  if (const auto* tuple = cast_if<Tuple>(&node)) return tuple->elements;
  if (const auto* list = cast_if<List>(&node)) return list->elements;
  return {};
}

}  // namespace

// `purpose` completes "cannot ... NOUN".
void Parser::check_target(const Node& node, const char* purpose) {
  const bool assigns = std::string_view(purpose) == "assign to";
  if (assigns) {
    if (is_plain_target(node)) return;
    if (const auto* star = cast_if<Starred>(&node)) return check_target(*star->value, purpose);
    if (is<Tuple>(&node) || is<List>(&node)) {
      for (const Node* element : elements_of(node)) check_target(*element, purpose);
      return;
    }
  }
  fail(node.span, fmt::format("cannot {} {}", purpose, noun_of(node)));
}

void Parser::bad_target(const Node& node, const std::string& ending) {
  const bool constant = is<NoneLiteral>(&node) || is<BoolLiteral>(&node);
  fail(node.span, fmt::format("cannot assign to {}{}", noun_of(node), constant ? "" : ending));
}

// The whole left side of an `=` gets Python's advice; an element inside a tuple does not.
void Parser::check_assigned(const Node& node) {
  if (is<Starred>(&node)) fail(node.span, "starred assignment target must be in a list or tuple");
  const bool group = is<Tuple>(&node) || is<List>(&node);
  const bool yield = is<Yield>(&node) || is<YieldFrom>(&node);
  if (group || is_plain_target(node)) return check_target(node, "assign to");
  if (yield) fail(node.span, "assignment to yield expression not possible");
  bad_target(node, " here. Maybe you meant '==' instead of '='?");
}

void Parser::check_augmented(const Node& node) {
  if (is_plain_target(node)) return;
  fail(node.span,
       fmt::format("'{}' is an illegal expression for augmented assignment", noun_of(node)));
}

void Parser::check_annotated(const Node& node) {
  if (is_plain_target(node)) return;
  if (is<Tuple>(&node) || is<List>(&node))
    fail(node.span, fmt::format("only single target (not {}) can be annotated", noun_of(node)));
  fail(node.span, "illegal target for annotation");
}

void Parser::check_deleted(const Node& node) {
  if (is_plain_target(node)) return;
  if (is<Tuple>(&node) || is<List>(&node)) {
    for (const Node* element : elements_of(node)) check_deleted(*element);
    return;
  }
  fail(node.span, fmt::format("cannot delete {}", noun_of(node)));
}

// The targets of `for`: they end at `in`, which must not be read as a comparison.
Node* Parser::star_targets() {
  Node* target = tuple_or_single(&Parser::star_target);
  check_target(*target, "assign to");
  return target;
}

Node* Parser::star_target() {
  if (!at(Tok::Star)) return binary(1);
  auto* star = open<Starred>();
  take();
  star->value = binary(1);
  return close(star);
}

}  // namespace tilewright::python
