// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_statement.cpp — statements of one line.
#include <optional>

#include <fmt/format.h>

#include "frontend/python/parser_state.h"

namespace tilewright::python {
namespace {

std::optional<BinaryOperator> augmented_operator(Tok kind) {
  switch (kind) {
#define BINARY(name, text, token, assign, precedence) \
  case Tok::assign:                                   \
    return BinaryOperator::name;
#define UNARY(name, text, token)
#define COMPARE(name, text)
#define BOOL(name, text)
#include "frontend/python/operators.def"
#undef BINARY
#undef UNARY
#undef COMPARE
#undef BOOL
    default:
      return std::nullopt;
  }
}

}  // namespace

void Parser::statement(Nodes& out) {
  if (Node* compound = compound_statement()) {
    out.push_back(compound);
    return;
  }
  simple_statements(out);
}

// `a = 1; b = 2` up to the end of the line.
void Parser::simple_statements(Nodes& out) {
  while (true) {
    out.push_back(simple_statement());
    if (!accept(Tok::Semicolon)) break;
    if (at(Tok::Newline)) break;
  }
  if (!at(Tok::Newline)) end_of_line_expected(*out.back());
  take();
}

void Parser::end_of_line_expected(const Node& last) {
  const auto* statement = cast_if<ExprStmt>(&last);
  const auto* name = statement == nullptr ? nullptr : cast_if<Name>(statement->value);
  const bool old_statement = name != nullptr && (name->id == "print" || name->id == "exec");
  if (old_statement && starts_expression(now()))
    fail_from(
        last, now(),
        fmt::format("Missing parentheses in call to '{0}'. Did you mean {0}(...)?", name->id));
  unexpected();
}

template <class T>
Node* Parser::bare_statement() {
  auto* node = open<T>();
  take();
  return close(node);
}

template <class T>
Node* Parser::names_statement() {
  auto* node = open<T>();
  take();
  Nodes names;
  do {
    auto* name = open<Name>();
    name->id = identifier();
    names.push_back(close(name));
  } while (accept(Tok::Comma));
  node->names = list(names);
  return close(node);
}

Node* Parser::simple_statement() {
  switch (now().kind) {
    case Tok::Pass:
      return bare_statement<Pass>();
    case Tok::Break:
      return bare_statement<Break>();
    case Tok::Continue:
      return bare_statement<Continue>();
    case Tok::Return:
      return return_statement();
    case Tok::Raise:
      return raise_statement();
    case Tok::Assert:
      return assert_statement();
    case Tok::Del:
      return delete_statement();
    case Tok::Global:
      return names_statement<Global>();
    case Tok::Nonlocal:
      return names_statement<Nonlocal>();
    case Tok::Import:
      return import_statement();
    case Tok::From:
      return import_from();
    default:
      return at_type_alias() ? type_alias() : expression_statement();
  }
}

Node* Parser::expression_statement() {
  const Span start = now().span;
  Node* value = star_expressions();
  if (at(Tok::Equal)) return assignment(value, start);
  if (at(Tok::Colon)) return annotated_assignment(value, start);
  if (const std::optional<BinaryOperator> op = augmented_operator(now().kind)) {
    check_augmented(*value);
    take();
    auto* assign = open_at<AugAssign>(start);
    assign->target = value;
    assign->op = *op;
    assign->value = star_expressions();
    return close(assign);
  }
  auto* statement = open_at<ExprStmt>(start);
  statement->value = value;
  return close(statement);
}

Node* Parser::assignment(Node* first, Span start) {
  auto* assign = open_at<Assign>(start);
  Nodes targets;
  Node* value = first;
  while (at(Tok::Equal)) {
    check_assigned(*value);
    targets.push_back(value);
    take();
    value = star_expressions();
  }
  assign->targets = list(targets);
  assign->value = value;
  return close(assign);
}

Node* Parser::annotated_assignment(Node* target, Span start) {
  // `while x` without its keyword, `else :` and the like look the same: judge by what can be
  // annotated.
  if (!is<Name>(target) && ahead(1).kind == Tok::Newline) unexpected();
  check_annotated(*target);
  auto* assign = open_at<AnnAssign>(start);
  take();
  assign->target = target;
  assign->annotation = expression();
  if (accept(Tok::Equal)) assign->value = star_expressions();
  return close(assign);
}

Node* Parser::return_statement() {
  auto* node = open<Return>();
  take();
  if (!at(Tok::Newline) && !at(Tok::Semicolon)) node->value = star_expressions();
  return close(node);
}

Node* Parser::raise_statement() {
  auto* node = open<Raise>();
  take();
  if (!at(Tok::Newline) && !at(Tok::Semicolon)) {
    node->exception = expression();
    if (accept(Tok::From)) node->cause = expression();
  }
  return close(node);
}

Node* Parser::assert_statement() {
  auto* node = open<Assert>();
  take();
  node->test = expression();
  if (accept(Tok::Comma)) node->message = expression();
  return close(node);
}

Node* Parser::delete_statement() {
  auto* node = open<Delete>();
  take();
  Nodes targets;
  do {
    if (at(Tok::Newline) || at(Tok::Semicolon)) break;
    targets.push_back(expression());
    check_deleted(*targets.back());
  } while (accept(Tok::Comma));
  if (targets.empty()) unexpected();
  node->targets = list(targets);
  return close(node);
}

// "a.b.c" as one text, also where blanks stand between.
std::string_view Parser::dotted_text() {
  std::string name(identifier());
  std::string_view single = before().text;
  if (!at(Tok::Dot)) return single;
  while (accept(Tok::Dot)) name.append(".").append(identifier());
  return tree_.arena.copy(name);
}

Node* Parser::import_alias(bool dotted) {
  auto* alias = open<Alias>();
  alias->name = dotted ? dotted_text() : identifier();
  if (accept(Tok::As)) alias->as = identifier();
  return close(alias);
}

Node* Parser::import_statement() {
  auto* node = open<Import>();
  take();
  Nodes names;
  do names.push_back(import_alias(true));
  while (accept(Tok::Comma));
  node->names = list(names);
  return close(node);
}

// from ..a.b import c as d, e | from . import (a, b) | from a import *
Node* Parser::import_from() {
  auto* node = open<ImportFrom>();
  take();
  for (; at(Tok::Dot) || at(Tok::Ellipsis); take()) node->level += at(Tok::Dot) ? 1 : 3;
  if (node->level == 0 || at(Tok::Name)) node->module = dotted_text();
  expect(Tok::Import);
  Nodes names;
  if (at(Tok::Star)) {
    auto* alias = open<Alias>();
    alias->name = take().text;
    names.push_back(close(alias));
  } else {
    const bool in_parens = accept(Tok::LeftParen);
    if (at(Tok::Newline)) fail(now().span, "Expected one or more names after 'import'");
    names.push_back(import_alias(false));
    while (accept(Tok::Comma)) {
      if (in_parens && at(Tok::RightParen)) break;
      if (at(Tok::Newline))
        fail(now().span, "trailing comma not allowed without surrounding parentheses");
      names.push_back(import_alias(false));
    }
    if (in_parens) expect_close(Tok::RightParen, nullptr);
  }
  node->names = list(names);
  return close(node);
}

// `type` is a name like any other unless a name follows it.
bool Parser::at_type_alias() const {
  if (!at_name("type") || ahead(1).kind != Tok::Name) return false;
  return ahead(2).kind == Tok::Equal || ahead(2).kind == Tok::LeftBracket;
}

Node* Parser::type_alias() {
  auto* alias = open<TypeAlias>();
  take();
  auto* name = open<Name>();
  name->id = identifier();
  alias->name = close(name);
  alias->type_parameters = type_parameters();
  expect(Tok::Equal);
  alias->value = expression();
  return close(alias);
}

}  // namespace tilewright::python
