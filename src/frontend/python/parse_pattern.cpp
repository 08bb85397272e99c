// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_pattern.cpp — `match` and its patterns.
#include "frontend/python/parser_state.h"

namespace tilewright::python {

// `match` is a name unless its line ends with ':' and a block of `case` follows; no other statement
// looks so.
bool Parser::at_match_statement() const {
  if (!at_name("match")) return false;
  std::size_t end = at_ + 1;
  while (end + 1 < tokens_.list.size() && tokens_.list[end].kind != Tok::Newline) ++end;
  if (end + 2 >= tokens_.list.size() || tokens_.list[end - 1].kind != Tok::Colon) return false;
  const Token& word = tokens_.list[end + 2];
  return tokens_.list[end + 1].kind == Tok::Indent && word.kind == Tok::Name && word.text == "case";
}

Node* Parser::match_statement() {
  auto* node = open<Match>();
  take();
  node->subject = tuple_or_single(&Parser::star_named_expression);
  expect_colon(node->subject);
  expect(Tok::Newline);
  expect(Tok::Indent);
  Nodes cases;
  while (!accept(Tok::Dedent)) {
    if (!at_name("case")) unexpected();
    cases.push_back(match_case());
  }
  node->cases = list(cases);
  return close_block(node);
}

Node* Parser::match_case() {
  auto* node = open<MatchCase>();
  take();
  node->pattern = patterns();
  if (accept(Tok::If)) node->guard = named_expression();
  expect_colon(node->pattern);
  node->body = block("'case' statement", node->span.line);
  return close_block(node);
}

// `a, *b` without brackets is a sequence.
Node* Parser::patterns() {
  const Span start = now().span;
  Node* first = maybe_star_pattern();
  if (!at(Tok::Comma) && !is<MatchStar>(first)) return first;
  Nodes all{first};
  while (accept(Tok::Comma)) {
    if (at(Tok::Colon) || at(Tok::If)) break;
    all.push_back(maybe_star_pattern());
  }
  auto* sequence = open_at<MatchSequence>(start);
  sequence->patterns = list(all);
  return close(sequence);
}

Node* Parser::maybe_star_pattern() {
  if (!at(Tok::Star)) return as_pattern();
  auto* star = open<MatchStar>();
  take();
  const std::string_view name = identifier();
  if (name != "_") star->name = name;
  return close(star);
}

Node* Parser::as_pattern() {
  const Deeper deeper(*this);
  const Span start = now().span;
  Node* pattern = or_pattern();
  if (!accept(Tok::As)) return pattern;
  auto* as = open_at<MatchAs>(start);
  if (at_name("_")) fail(now().span, "cannot use '_' as a target");
  as->pattern = pattern;
  as->name = identifier();
  return close(as);
}

Node* Parser::or_pattern() {
  const Span start = now().span;
  Node* first = closed_pattern();
  if (!at(Tok::Bar)) return first;
  Nodes all{first};
  while (accept(Tok::Bar)) all.push_back(closed_pattern());
  auto* either = open_at<MatchOr>(start);
  either->patterns = list(all);
  return close(either);
}

Node* Parser::closed_pattern() {
  switch (now().kind) {
    case Tok::Name:
      return name_or_value_pattern();
    case Tok::LeftParen:
      return sequence_pattern(Tok::RightParen);
    case Tok::LeftBracket:
      return sequence_pattern(Tok::RightBracket);
    case Tok::LeftBrace:
      return mapping_pattern();
    case Tok::None:
    case Tok::True:
    case Tok::False: {
      auto* singleton = open<MatchSingleton>();
      singleton->value = atom();
      return close(singleton);
    }
    case Tok::Number:
    case Tok::Minus:
    case Tok::String:
    case Tok::FStringStart: {
      auto* value = open<MatchValue>();
      value->value = pattern_literal();
      return close(value);
    }
    default:
      unexpected();
  }
}

// A number with its sign (`-1`, `2 + 3j`) or strings.
Node* Parser::pattern_literal() {
  if (at(Tok::String) || at(Tok::FStringStart)) return strings();
  if (!at(Tok::Number) && !at(Tok::Minus)) unexpected();
  return binary(5);
}

// `_`, a name to bind, `a.b` as a value, or `Class(...)`.
Node* Parser::name_or_value_pattern() {
  const Span start = now().span;
  if (ahead(1).kind != Tok::Dot && ahead(1).kind != Tok::LeftParen) {
    auto* bind = open<MatchAs>();
    const std::string_view name = take().text;
    if (name != "_") bind->name = name;
    return close(bind);
  }
  auto* name = open<Name>();
  name->id = take().text;
  Node* value = close(name);
  while (accept(Tok::Dot)) {
    auto* attribute = open_at<Attribute>(start);
    attribute->value = value;
    attribute->name = identifier();
    value = close(attribute);
  }
  if (at(Tok::LeftParen)) return class_pattern(value, start);
  auto* pattern = open_at<MatchValue>(start);
  pattern->value = value;
  return close(pattern);
}

// Brackets around one pattern without a comma only group it.
Node* Parser::sequence_pattern(Tok end) {
  const Span start = take().span;
  Nodes all;
  bool comma = end == Tok::RightBracket;
  while (!at(end)) {
    all.push_back(maybe_star_pattern());
    if (!at(Tok::Comma) && !at(end)) unexpected();
    if (accept(Tok::Comma)) comma = true;
  }
  take();
  if (all.size() == 1 && !comma && !is<MatchStar>(all.front())) return all.front();
  auto* sequence = open_at<MatchSequence>(start);
  sequence->patterns = list(all);
  return close(sequence);
}

Node* Parser::mapping_pattern() {
  auto* mapping = open<MatchMapping>();
  take();
  Nodes keys;
  Nodes values;
  while (!at(Tok::RightBrace)) {
    if (accept(Tok::StarStar)) {
      mapping->rest = identifier();
    } else {
      const bool constant = at(Tok::None) || at(Tok::True) || at(Tok::False);
      keys.push_back(constant ? atom() : at(Tok::Name) ? primary() : pattern_literal());
      expect(Tok::Colon);
      values.push_back(as_pattern());
    }
    if (!at(Tok::Comma) && !at(Tok::RightBrace)) unexpected();
    accept(Tok::Comma);
  }
  take();
  mapping->keys = list(keys);
  mapping->patterns = list(values);
  return close(mapping);
}

Node* Parser::class_pattern(Node* type, Span start) {
  auto* pattern = open_at<MatchClass>(start);
  take();
  pattern->type = type;
  Nodes positional;
  Nodes keywords;
  while (!at(Tok::RightParen)) {
    if (at(Tok::Name) && ahead(1).kind == Tok::Equal) {
      auto* keyword = open<Keyword>();
      keyword->name = take().text;
      take();
      keyword->value = as_pattern();
      keywords.push_back(close(keyword));
    } else {
      positional.push_back(as_pattern());
      if (!keywords.empty())
        fail(positional.back()->span, "positional patterns follow keyword patterns");
    }
    if (!at(Tok::Comma) && !at(Tok::RightParen)) unexpected();
    accept(Tok::Comma);
  }
  take();
  pattern->patterns = list(positional);
  pattern->keywords = list(keywords);
  return close(pattern);
}

}  // namespace tilewright::python
