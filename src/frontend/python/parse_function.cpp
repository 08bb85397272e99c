// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_function.cpp — functions and classes: decorators, parameters, type
// parameters.
#include <unordered_set>

#include <fmt/format.h>

#include "frontend/python/parser_state.h"

namespace tilewright::python {

Node* Parser::decorated() {
  Nodes decorators;
  while (accept(Tok::At)) {
    decorators.push_back(named_expression());
    if (!at(Tok::Newline)) unexpected();
    take();
  }
  const Span start = now().span;
  const NodeList all = list(decorators);
  if (at(Tok::Class)) return class_definition(start, all);
  const bool is_async = accept(Tok::Async);
  if (!at(Tok::Def)) unexpected();
  return function(start, is_async, all);
}

Node* Parser::function(Span start, bool is_async, NodeList decorators) {
  auto* node = open_at<FunctionDef>(start);
  node->is_async = is_async;
  node->decorators = decorators;
  const int line = take().span.line;
  node->name = identifier();
  node->type_parameters = type_parameters();
  if (!at(Tok::LeftParen)) fail(now().span, "expected '('");
  take();
  node->parameters = parameters(Tok::RightParen, true);
  expect_close(Tok::RightParen, nullptr);
  if (accept(Tok::Arrow)) node->returns = expression();
  expect_colon(nullptr);
  node->body = block("function definition", line);
  return close_block(node);
}

Node* Parser::class_definition(Span start, NodeList decorators) {
  auto* node = open_at<ClassDef>(start);
  node->decorators = decorators;
  const int line = take().span.line;
  node->name = identifier();
  node->type_parameters = type_parameters();
  if (at(Tok::LeftParen)) {
    Nodes bases;
    Nodes keywords;
    arguments_until_paren(bases, keywords);
    node->bases = list(bases);
    node->keywords = list(keywords);
  }
  expect_colon(nullptr);
  node->body = block("class definition", line);
  return close_block(node);
}

// The parameters of a function or lambda up to `end`, which is not taken. Those before a `/` are
// changed to PositionOnly when it comes.
NodeList Parser::parameters(Tok end, bool annotations) {
  Nodes all;
  bool seen_star = false;
  bool seen_slash = false;
  bool needs_name = false;  // after a bare `*`
  bool seen_default = false;
  while (!at(end)) {
    const Span start = now().span;
    if (accept(Tok::Slash)) {
      if (all.empty()) fail(start, "at least one argument must precede /");
      if (seen_slash) fail(start, "/ may appear only once");
      if (seen_star) fail(start, "/ must be ahead of *");
      seen_slash = true;
      for (Node* earlier : all)
        static_cast<Parameter*>(earlier)->role = ParameterRole::PositionOnly;
    } else if (accept(Tok::Star)) {
      if (seen_star) fail(start, "* argument may appear only once");
      seen_star = true;
      needs_name = at(Tok::Comma) || at(end);
      if (needs_name && at(end)) fail(start, "named arguments must follow bare *");
      if (!needs_name) all.push_back(parameter(start, ParameterRole::Arguments, annotations));
    } else if (accept(Tok::StarStar)) {
      if (needs_name) fail(start, "named arguments must follow bare *");
      all.push_back(parameter(start, ParameterRole::Keywords, annotations));
      if (at(Tok::Comma) && ahead(1).kind != end)
        fail(ahead(1).span, "arguments cannot follow var-keyword argument");
    } else {
      const auto role = seen_star ? ParameterRole::KeywordOnly : ParameterRole::Normal;
      Parameter* next = parameter(start, role, annotations);
      if (!seen_star && next->default_value == nullptr && seen_default)
        fail(start, "parameter without a default follows parameter with a default");
      seen_default |= next->default_value != nullptr;
      needs_name = false;
      all.push_back(next);
    }
    if (!at(Tok::Comma) && !at(end)) unexpected();
    accept(Tok::Comma);
  }
  check_distinct(all);
  return list(all);
}

Parameter* Parser::parameter(Span start, ParameterRole role, bool annotations) {
  auto* node = open_at<Parameter>(start);
  node->role = role;
  node->name = identifier();
  if (annotations && accept(Tok::Colon)) {
    const bool star = role == ParameterRole::Arguments && at(Tok::Star);
    node->annotation = star ? star_expression() : expression();
  }
  if (at(Tok::Equal)) {
    if (role == ParameterRole::Arguments)
      fail(now().span, "var-positional argument cannot have default value");
    if (role == ParameterRole::Keywords)
      fail(now().span, "var-keyword argument cannot have default value");
    take();
    if (at(Tok::Comma) || at(Tok::RightParen))
      fail(before().span, "expected default value expression");
    node->default_value = expression();
  }
  return close(node);
}

void Parser::check_distinct(const Nodes& parameters) {
  std::unordered_set<std::string_view> seen;
  for (const Node* node : parameters) {
    const auto& parameter = cast<Parameter>(node);
    if (!seen.insert(parameter.name).second)
      fail(node->span,
           fmt::format("duplicate argument '{}' in function definition", parameter.name));
  }
}

// [T, T: bound, *Ts, **P]; nothing when there is no bracket.
NodeList Parser::type_parameters() {
  if (!accept(Tok::LeftBracket)) return {};
  Nodes all;
  while (!at(Tok::RightBracket)) {
    auto* node = open<TypeParameter>();
    node->role = ParameterRole::Normal;
    if (accept(Tok::Star)) node->role = ParameterRole::Arguments;
    else if (accept(Tok::StarStar)) node->role = ParameterRole::Keywords;
    node->name = identifier();
    if (accept(Tok::Colon)) node->bound = expression();
    all.push_back(close(node));
    if (!at(Tok::Comma) && !at(Tok::RightBracket)) unexpected();
    accept(Tok::Comma);
  }
  take();
  if (all.empty()) fail(before().span, "Type parameter list cannot be empty");
  return list(all);
}

}  // namespace tilewright::python
