// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_atom.cpp — names, literals and what stands in brackets.
#include "frontend/python/literals.h"
#include "frontend/python/parser_state.h"

namespace tilewright::python {

template <class T>
Node* Parser::word() {
  auto* node = open<T>();
  take();
  return close(node);
}

Node* Parser::atom() {
  switch (now().kind) {
    case Tok::Name: {
      auto* name = open<Name>();
      name->id = take().text;
      return close(name);
    }
    case Tok::Number:
      return number();
    case Tok::String:
    case Tok::FStringStart:
      return strings();
    case Tok::None:
      return word<NoneLiteral>();
    case Tok::Ellipsis:
      return word<EllipsisLiteral>();
    case Tok::True:
    case Tok::False: {
      auto* literal = open<BoolLiteral>();
      literal->value = take().kind == Tok::True;
      return close(literal);
    }
    case Tok::LeftParen:
      return paren_atom();
    case Tok::LeftBracket:
      return list_atom();
    case Tok::LeftBrace:
      return brace_atom();
    default:
      unexpected();
  }
}

Node* Parser::number() {
  const Span start = now().span;
  const NumberValue value = read_number(take().text);
  if (value.form == NumberValue::Form::Int) {
    auto* node = open_at<IntLiteral>(start);
    node->value = {value.integer, value.too_large};
    return close(node);
  }
  if (value.form == NumberValue::Form::Float) {
    auto* node = open_at<FloatLiteral>(start);
    node->value = value.real;
    return close(node);
  }
  auto* node = open_at<ImaginaryLiteral>(start);
  node->value = value.real;
  return close(node);
}

// The closing bracket; where an expression follows instead, a comma was forgotten.
void Parser::expect_close(Tok kind, const Node* last) {
  if (accept(kind)) return;
  const Token& next = now();
  const bool two_expressions = last != nullptr && starts_expression(next) &&
                               next.kind != Tok::Not && next.kind != Tok::Lambda;
  const bool text_after_name = next.kind == Tok::String && is<Name>(last);
  if (two_expressions && !text_after_name)
    fail_from(*last, next, "invalid syntax. Perhaps you forgot a comma?");
  if (last != nullptr && at(Tok::Equal))
    fail_from(*last, next, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  unexpected();
}

// (), (a), (a, b), (yield x), (a for a in b)
Node* Parser::paren_atom() {
  const Span start = take().span;
  Node* result = nullptr;
  if (at(Tok::Yield)) {
    result = yield_expression();
    expect_close(Tok::RightParen, result);
  } else if (accept(Tok::RightParen)) {
    result = close(open_at<Tuple>(start));
  } else {
    Node* first = star_named_expression();
    if (at(Tok::For) || at(Tok::Async)) {
      auto* generator = open_at<GeneratorExp>(start);
      generator->element = first;
      generator->generators = list(comprehension_clauses(*first));
      expect_close(Tok::RightParen, nullptr);
      result = close(generator);
    } else if (at(Tok::Comma) || is<Starred>(first)) {
      Nodes elements{first};
      while (accept(Tok::Comma)) {
        if (at(Tok::RightParen)) break;
        elements.push_back(star_named_expression());
      }
      if (elements.size() == 1 && before().kind != Tok::Comma)
        fail(first->span, "cannot use starred expression here");
      auto* tuple = open_at<Tuple>(start);
      tuple->elements = list(elements);
      expect_close(Tok::RightParen, elements.back());
      result = close(tuple);
    } else {
      expect_close(Tok::RightParen, first);
      result = first;  // brackets leave no node
    }
  }
  return result;
}

Node* Parser::list_atom() {
  const Span start = take().span;
  Node* result = nullptr;
  Nodes elements;
  if (!at(Tok::RightBracket)) elements.push_back(star_named_expression());
  if (!elements.empty() && (at(Tok::For) || at(Tok::Async))) {
    auto* comprehension = open_at<ListComp>(start);
    comprehension->element = elements.front();
    comprehension->generators = list(comprehension_clauses(*elements.front()));
    expect_close(Tok::RightBracket, nullptr);
    result = close(comprehension);
  } else {
    while (accept(Tok::Comma)) {
      if (at(Tok::RightBracket)) break;
      elements.push_back(star_named_expression());
    }
    auto* literal = open_at<List>(start);
    literal->elements = list(elements);
    expect_close(Tok::RightBracket, elements.empty() ? nullptr : elements.back());
    result = close(literal);
  }
  return result;
}

// {}, {k: v, **m}, {a, *b}, and both comprehensions
Node* Parser::brace_atom() {
  const Span start = take().span;
  Node* result = nullptr;
  if (at(Tok::RightBrace) || at(Tok::StarStar)) {
    result = dict_rest(start, nullptr, nullptr);
  } else {
    Node* first = star_named_expression();
    if (at(Tok::Colon) && !is<Starred>(first)) {
      take();
      if (at(Tok::RightBrace) || at(Tok::Comma))
        fail(before().span, "expression expected after dictionary key and ':'");
      result = dict_rest(start, first, expression());
    } else if (at(Tok::For) || at(Tok::Async)) {
      auto* comprehension = open_at<SetComp>(start);
      comprehension->element = first;
      comprehension->generators = list(comprehension_clauses(*first));
      expect_close(Tok::RightBrace, nullptr);
      result = close(comprehension);
    } else {
      Nodes elements{first};
      while (accept(Tok::Comma)) {
        if (at(Tok::RightBrace)) break;
        elements.push_back(star_named_expression());
      }
      auto* set = open_at<Set>(start);
      set->elements = list(elements);
      expect_close(Tok::RightBrace, elements.back());
      result = close(set);
    }
  }
  return result;
}

// A dictionary after its first entry, or from its start when there was none yet.
Node* Parser::dict_rest(Span start, Node* key, Node* value) {
  if (key != nullptr && (at(Tok::For) || at(Tok::Async))) {
    auto* comprehension = open_at<DictComp>(start);
    comprehension->key = key;
    comprehension->value = value;
    comprehension->generators = list(comprehension_clauses(*key));
    expect_close(Tok::RightBrace, nullptr);
    return close(comprehension);
  }
  Nodes keys;
  Nodes values;
  if (key != nullptr) {
    keys.push_back(key);
    values.push_back(value);
    if (!at(Tok::RightBrace) && !at(Tok::Comma)) expect_close(Tok::RightBrace, value);
    accept(Tok::Comma);
  }
  while (!at(Tok::RightBrace)) {
    if (accept(Tok::StarStar)) {
      keys.push_back(nullptr);
      values.push_back(binary(1));
    } else {
      keys.push_back(expression());
      if (!at(Tok::Colon)) fail(before().span, "':' expected after dictionary key");
      take();
      if (at(Tok::RightBrace) || at(Tok::Comma))
        fail(before().span, "expression expected after dictionary key and ':'");
      values.push_back(expression());
    }
    if (!at(Tok::RightBrace) && !at(Tok::Comma)) expect_close(Tok::RightBrace, values.back());
    accept(Tok::Comma);
  }
  auto* dict = open_at<Dict>(start);
  dict->keys = list(keys);
  dict->values = list(values);
  take();
  return close(dict);
}

Parser::Nodes Parser::comprehension_clauses(const Node& element) {
  if (is<Starred>(&element))
    fail(element.span, "iterable unpacking cannot be used in comprehension");
  Nodes clauses;
  while (at(Tok::For) || (at(Tok::Async) && ahead(1).kind == Tok::For)) {
    auto* clause = open<Comprehension>();
    clause->is_async = accept(Tok::Async);
    expect(Tok::For);
    clause->target = star_targets();
    expect(Tok::In);
    clause->iterable = disjunction();
    Nodes conditions;
    while (accept(Tok::If)) conditions.push_back(disjunction());
    clause->conditions = list(conditions);
    clauses.push_back(close(clause));
  }
  if (clauses.empty()) unexpected();
  return clauses;
}

}  // namespace tilewright::python
