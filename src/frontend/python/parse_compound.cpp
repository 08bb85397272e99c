// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_compound.cpp — statements with blocks: if, while, for, with, try.
#include <fmt/format.h>

#include "frontend/python/parser_state.h"

namespace tilewright::python {

// Null when the line is a simple statement.
Node* Parser::compound_statement() {
  const Deeper deeper(*this);
  switch (now().kind) {
    case Tok::If:
      return if_statement();
    case Tok::While:
      return while_statement();
    case Tok::For:
      return for_statement(now().span, false);
    case Tok::With:
      return with_statement(now().span, false);
    case Tok::Try:
      return try_statement();
    case Tok::Def:
      return function(now().span, false, {});
    case Tok::Class:
      return class_definition(now().span, {});
    case Tok::At:
      return decorated();
    case Tok::Async:
      return async_statement();
    default:
      return at_match_statement() ? match_statement() : nullptr;
  }
}

// The ':' that starts a block. After an expression, anything but a line end means that the
// expression is wrong.
void Parser::expect_colon(const Node* condition) {
  if (accept(Tok::Colon)) return;
  if (condition != nullptr && at(Tok::Equal))
    fail_from(*condition, now(), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  if (condition != nullptr && !at(Tok::Newline)) unexpected();
  fail(now().span, "expected ':'");
}

// `owner` and `line` tell what the block belongs to when it is missing.
NodeList Parser::block(const std::string& owner, int line) {
  Nodes body;
  if (!accept(Tok::Newline)) {
    simple_statements(body);
    return list(body);
  }
  if (!accept(Tok::Indent))
    fail(now().span, fmt::format("expected an indented block after {} on line {}", owner, line));
  while (!accept(Tok::Dedent)) statement(body);
  return list(body);
}

NodeList Parser::else_block() {
  if (!at(Tok::Else)) return {};
  const int line = take().span.line;
  expect_colon(nullptr);
  return block("'else' statement", line);
}

Node* Parser::if_statement() {
  const Deeper deeper(*this);
  auto* node = open<If>();
  const bool first = at(Tok::If);
  take();
  node->test = named_expression();
  expect_colon(node->test);
  node->body = block(first ? "'if' statement" : "'elif' statement", node->span.line);
  if (at(Tok::Elif)) node->otherwise = list({if_statement()});
  else node->otherwise = else_block();
  return close_block(node);
}

Node* Parser::while_statement() {
  auto* node = open<While>();
  take();
  node->test = named_expression();
  expect_colon(node->test);
  node->body = block("'while' statement", node->span.line);
  node->otherwise = else_block();
  return close_block(node);
}

Node* Parser::for_statement(Span start, bool is_async) {
  auto* node = open_at<For>(start);
  node->is_async = is_async;
  const int line = take().span.line;
  node->target = star_targets();
  expect(Tok::In);
  node->iterable = star_expressions();
  expect_colon(node->iterable);
  node->body = block("'for' statement", line);
  node->otherwise = else_block();
  return close_block(node);
}

// Does `with (` open a list of items, or is the bracket part of the first item? It is a list when
// ':' follows the bracket that closes it and `as` or a comma stands directly inside.
bool Parser::with_items_in_parens() const {
  if (!at(Tok::LeftParen)) return false;
  int depth = 0;
  bool several = false;
  for (std::size_t i = at_; i < tokens_.list.size(); ++i) {
    const Tok kind = tokens_.list[i].kind;
    if (kind == Tok::LeftParen || kind == Tok::LeftBracket || kind == Tok::LeftBrace) ++depth;
    if (kind == Tok::RightParen || kind == Tok::RightBracket || kind == Tok::RightBrace) --depth;
    if (depth == 1 && (kind == Tok::As || kind == Tok::Comma)) several = true;
    if (depth == 0)
      return several && i + 1 < tokens_.list.size() && tokens_.list[i + 1].kind == Tok::Colon;
  }
  return false;
}

Node* Parser::with_item() {
  auto* item = open<WithItem>();
  item->context = expression();
  if (accept(Tok::As)) {
    item->target = star_target();
    check_target(*item->target, "assign to");
  }
  return close(item);
}

Node* Parser::with_statement(Span start, bool is_async) {
  auto* node = open_at<With>(start);
  node->is_async = is_async;
  const int line = take().span.line;
  Nodes items;
  const bool in_parens = with_items_in_parens();
  if (in_parens) take();
  do {
    if (in_parens && at(Tok::RightParen)) break;
    items.push_back(with_item());
  } while (accept(Tok::Comma));
  if (in_parens) expect_close(Tok::RightParen, nullptr);
  node->items = list(items);
  expect_colon(items.empty() ? nullptr : items.back());
  node->body = block("'with' statement", line);
  return close_block(node);
}

Node* Parser::try_statement() {
  auto* node = open<Try>();
  const int line = take().span.line;
  expect_colon(nullptr);
  node->body = block("'try' statement", line);
  Nodes handlers;
  while (at(Tok::Except)) handlers.push_back(except_handler(node->is_star));
  node->handlers = list(handlers);
  if (!handlers.empty()) node->otherwise = else_block();
  if (at(Tok::Finally)) {
    const int finally_line = take().span.line;
    expect_colon(nullptr);
    node->finally = block("'finally' statement", finally_line);
  } else if (handlers.empty()) {
    fail(now().span, "expected 'except' or 'finally' block");
  }
  return close_block(node);
}

Node* Parser::except_handler(bool& is_star) {
  auto* handler = open<ExceptHandler>();
  take();
  if (accept(Tok::Star)) is_star = true;
  if (!at(Tok::Colon) && !at(Tok::Newline)) {
    handler->type = expression();
    if (at(Tok::Comma)) fail(handler->type->span, "multiple exception types must be parenthesized");
    if (accept(Tok::As)) handler->name = identifier();
  }
  expect_colon(nullptr);
  handler->body = block(is_star ? "'except*' statement" : "'except' statement", handler->span.line);
  return close_block(handler);
}

Node* Parser::async_statement() {
  const Span start = take().span;
  if (at(Tok::Def)) return function(start, true, {});
  if (at(Tok::For)) return for_statement(start, true);
  if (at(Tok::With)) return with_statement(start, true);
  unexpected();
}

}  // namespace tilewright::python
