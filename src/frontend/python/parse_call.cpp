// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_call.cpp — what may follow a value: attributes, calls, subscripts.
#include "frontend/python/parser_state.h"

namespace tilewright::python {
namespace {

bool has_unpacking(const std::vector<Node*>& keywords) {
  for (const Node* keyword : keywords)
    if (cast<Keyword>(keyword).name.empty()) return true;
  return false;
}

}  // namespace

Node* Parser::primary() {
  const Span start = now().span;
  Node* value = atom();
  while (true) {
    if (at(Tok::Dot)) {
      take();
      auto* attribute = open_at<Attribute>(start);
      attribute->value = value;
      attribute->name = identifier();
      value = close(attribute);
    } else if (at(Tok::LeftParen)) {
      value = call(value, start);
    } else if (at(Tok::LeftBracket)) {
      value = subscript(value, start);
    } else {
      return value;
    }
  }
}

Node* Parser::call(Node* function, Span start) {
  auto* call = open_at<Call>(start);
  call->function = function;
  Nodes arguments;
  Nodes keywords;
  arguments_until_paren(arguments, keywords);
  call->arguments = list(arguments);
  call->keywords = list(keywords);
  return close(call);
}

// `( ... )` of a call or of a class's bases.
void Parser::arguments_until_paren(Nodes& arguments, Nodes& keywords) {
  expect(Tok::LeftParen);
  while (!at(Tok::RightParen)) {
    const std::size_t known = arguments.size();
    call_argument(arguments, keywords);
    const Node* last = arguments.size() > known ? arguments.back() : keywords.back();
    if (!at(Tok::Comma) && !at(Tok::RightParen)) expect_close(Tok::RightParen, last);
    accept(Tok::Comma);
  }
  take();
}

void Parser::call_argument(Nodes& arguments, Nodes& keywords) {
  if (at(Tok::StarStar) || (at(Tok::Name) && ahead(1).kind == Tok::Equal))
    return keyword_argument(keywords);
  if (at(Tok::Star)) {
    auto* star = open<Starred>();
    take();
    star->value = expression();
    if (has_unpacking(keywords))
      fail(star->span, "iterable argument unpacking follows keyword argument unpacking");
    arguments.push_back(close(star));
    return;
  }
  const bool first = before().kind == Tok::LeftParen;
  const Span start = first ? before().span : now().span;  // a bare generator starts at the bracket
  Node* value = named_expression();
  if (at(Tok::For) || at(Tok::Async)) {
    auto* generator = open_at<GeneratorExp>(start);
    generator->element = value;
    generator->generators = list(comprehension_clauses(*value));
    if (!first || at(Tok::Comma)) fail(value->span, "Generator expression must be parenthesized");
    set_end(*generator, now());
    arguments.push_back(generator);
    return;
  }
  if (at(Tok::Equal)) {
    const bool constant = is<NoneLiteral>(value) || is<BoolLiteral>(value);
    if (constant) bad_target(*value, "");
    fail_from(*value, now(), "expression cannot contain assignment, perhaps you meant \"==\"?");
  }
  if (!keywords.empty())
    fail(before().span, has_unpacking(keywords)
                            ? "positional argument follows keyword argument unpacking"
                            : "positional argument follows keyword argument");
  arguments.push_back(value);
}

void Parser::keyword_argument(Nodes& keywords) {
  auto* keyword = open<Keyword>();
  if (accept(Tok::StarStar)) {
    keyword->value = expression();
  } else {
    keyword->name = identifier();
    take();
    if (at(Tok::Comma) || at(Tok::RightParen))
      fail(keyword->span, "expected argument value expression");
    keyword->value = expression();
  }
  keywords.push_back(close(keyword));
}

Node* Parser::subscript(Node* value, Span start) {
  auto* subscript = open_at<Subscript>(start);
  take();
  subscript->value = value;
  const Span index_start = now().span;
  Node* first = subscript_element();
  if (at(Tok::Comma) || is<Starred>(first)) {
    Nodes elements{first};
    while (accept(Tok::Comma)) {
      if (at(Tok::RightBracket)) break;
      elements.push_back(subscript_element());
    }
    auto* tuple = open_at<Tuple>(index_start);
    tuple->elements = list(elements);
    first = close(tuple);
  }
  subscript->index = first;
  expect_close(Tok::RightBracket, first);
  return close(subscript);
}

Node* Parser::subscript_element() {
  const Span start = now().span;
  if (at(Tok::Star)) return star_expression();
  Node* lower = at(Tok::Colon) ? nullptr : named_expression();
  if (!at(Tok::Colon)) return lower;
  auto* slice = open_at<Slice>(start);
  slice->lower = lower;
  take();
  const auto bound = [this] {
    const bool absent = at(Tok::Colon) || at(Tok::Comma) || at(Tok::RightBracket);
    return absent ? nullptr : expression();
  };
  slice->upper = bound();
  if (accept(Tok::Colon)) slice->step = bound();
  return close(slice);
}

}  // namespace tilewright::python
