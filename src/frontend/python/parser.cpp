// SPDX-License-Identifier: Apache-2.0
// frontend/python/parser.cpp — the parser's tools: taking tokens, closing nodes, failing.
#include "frontend/python/parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/python/parser_state.h"

namespace tilewright::python {

std::unique_ptr<SyntaxTree> parse(Source source) {
  auto tree = std::make_unique<SyntaxTree>();
  tree->source = std::move(source);
  Parser(*tree).module();
  return tree;
}

std::unique_ptr<SyntaxTree> parse_expression(Source source) {
  auto tree = std::make_unique<SyntaxTree>();
  tree->source = std::move(source);
  Parser(*tree).only_expression();
  return tree;
}

void Parser::module() {
  auto* root = open_at<Module>({1, 1, 1});
  Nodes body;
  while (!at(Tok::End)) statement(body);
  root->body = list(body);
  tree_.root = close(root);
}

void Parser::only_expression() {
  auto* root = open_at<Module>({1, 1, 1});
  auto* statement = open<ExprStmt>();
  statement->value = star_expressions();
  accept(Tok::Newline);
  if (!at(Tok::End)) unexpected();
  root->body = list({close(statement)});
  tree_.root = close(root);
}

const Token& Parser::expect(Tok kind) {
  if (!at(kind)) unexpected();
  return take();
}

std::string_view Parser::identifier() { return expect(Tok::Name).text; }

bool Parser::starts_expression(const Token& token) const {
  switch (token.kind) {
    case Tok::Name:
    case Tok::Number:
    case Tok::String:
    case Tok::FStringStart:
    case Tok::None:
    case Tok::True:
    case Tok::False:
    case Tok::Ellipsis:
    case Tok::LeftParen:
    case Tok::LeftBracket:
    case Tok::LeftBrace:
    case Tok::Lambda:
    case Tok::Not:
    case Tok::Minus:
    case Tok::Plus:
    case Tok::Tilde:
    case Tok::Await:
      return true;
    default:
      return false;
  }
}

// The node ends with the last token taken.
void Parser::finish(Node& node) { set_end(node, before()); }

void Parser::finish_block(Node& node) {
  std::size_t last = at_ == 0 ? 0 : at_ - 1;
  const auto is_layout = [](Tok kind) { return kind == Tok::Newline || kind == Tok::Dedent; };
  while (last > 0 && is_layout(tokens_.list[last].kind)) --last;
  set_end(node, tokens_.list[last]);
}

void Parser::set_end(Node& node, const Token& last) {
  node.end_line = last.end_line;
  node.end_column = last.end_column;
  const bool one_line = node.end_line == node.span.line && node.end_column > node.span.column;
  if (one_line) node.span.length = node.end_column - node.span.column;
  int highest = 0;
  for_each_child(node, [&](const Node& child) { highest = std::max(highest, child.height); });
  node.height = highest + 1;
  if (node.height > max_tree_height) too_deep(node.span);
}

void Parser::too_deep(Span span) {
  fail_at(tree_.source, span, "the code is nested too deeply",
          fmt::format("at most {} levels are read; split the expression", max_tree_height));
}

// What the lexer found wrong later in the file is often the true cause: an unclosed bracket
// swallows the next statements, an unclosed string the next lines.
void Parser::fail(Span span, const std::string& message) {
  if (tokens_.error) {
    const LexError& error = *tokens_.error;
    if (!error.unclosed_bracket || at(Tok::Error) || now().span.line > error.span.line)
      fail_at(tree_.source, error.span, error.message, error.hint);
  }
  fail_at(tree_.source, span, message);
}

void Parser::fail_from(const Node& first, const Token& last, const std::string& message) {
  Span span = first.span;
  if (last.end_line == span.line && last.end_column > span.column)
    span.length = last.end_column - span.column;
  fail(span, message);
}

void Parser::unexpected() {
  if (at(Tok::Indent)) fail(now().span, "unexpected indent");
  fail(now().span, "invalid syntax");
}

}  // namespace tilewright::python
