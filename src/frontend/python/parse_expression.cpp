// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_expression.cpp — operators, by precedence, from `lambda` down to `**`.
#include <optional>

#include <fmt/format.h>

#include "frontend/python/parser_state.h"

namespace tilewright::python {
namespace {

struct Infix {
  BinaryOperator op;
  int precedence;
};

std::optional<Infix> infix(Tok kind) {
  switch (kind) {
#define BINARY(name, text, token, assign, precedence) \
  case Tok::token:                                    \
    return Infix{BinaryOperator::name, precedence};
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

constexpr int power_precedence = 7;

}  // namespace

// `a, *b, c` without brackets: one element, or a tuple when there is a comma.
Node* Parser::tuple_or_single(Node* (Parser::*element)()) {
  const Span start = now().span;
  Node* first = (this->*element)();
  if (!at(Tok::Comma)) return first;
  Nodes elements{first};
  while (accept(Tok::Comma)) {
    if (!starts_expression(now()) && !at(Tok::Star)) break;
    elements.push_back((this->*element)());
  }
  auto* tuple = open_at<Tuple>(start);
  tuple->elements = list(elements);
  return close(tuple);
}

Node* Parser::star_expressions() {
  if (at(Tok::Yield)) return yield_expression();
  return tuple_or_single(&Parser::star_expression);
}

Node* Parser::star_expression() {
  if (!at(Tok::Star)) return expression();
  auto* star = open<Starred>();
  take();
  star->value = binary(1);
  return close(star);
}

Node* Parser::star_named_expression() {
  return at(Tok::Star) ? star_expression() : named_expression();
}

Node* Parser::named_expression() {
  const Span start = now().span;
  Node* first = expression();
  if (!at(Tok::ColonEqual)) return first;
  if (!is<Name>(first)) check_target(*first, "use assignment expressions with");
  if (!is<Name>(first)) unexpected();
  take();
  auto* named = open_at<NamedExpr>(start);
  named->target = first;
  named->value = expression();
  return close(named);
}

Node* Parser::expression() {
  const Deeper deeper(*this);
  if (at(Tok::Lambda)) return lambda();
  const Span start = now().span;
  Node* body = disjunction();
  if (!at(Tok::If)) return body;
  take();
  auto* choice = open_at<IfExp>(start);
  choice->body = body;
  choice->test = disjunction();
  if (!at(Tok::Else)) {
    if (!at(Tok::Colon)) fail_from(*body, before(), "expected 'else' after 'if' expression");
    unexpected();
  }
  take();
  choice->otherwise = expression();
  return close(choice);
}

Node* Parser::disjunction() {
  const Span start = now().span;
  Node* first = conjunction();
  if (!at(Tok::Or)) return first;
  auto* either = open_at<BoolOp>(start);
  Nodes values{first};
  while (accept(Tok::Or)) values.push_back(conjunction());
  either->op = BoolOperator::Or;
  either->values = list(values);
  return close(either);
}

Node* Parser::conjunction() {
  const Span start = now().span;
  Node* first = inversion();
  if (!at(Tok::And)) return first;
  auto* both = open_at<BoolOp>(start);
  Nodes values{first};
  while (accept(Tok::And)) values.push_back(inversion());
  both->op = BoolOperator::And;
  both->values = list(values);
  return close(both);
}

Node* Parser::inversion() {
  if (!at(Tok::Not)) return comparison();
  const Deeper deeper(*this);
  auto* inverse = open<UnaryOp>();
  take();
  inverse->op = UnaryOperator::Not;
  inverse->operand = inversion();
  return close(inverse);
}

// Takes a comparison operator, of one or two tokens.
bool Parser::comparison_operator(CompareOperator& op) {
  const auto taken = [&](CompareOperator found, std::size_t count) {
    op = found;
    for (; count > 0; --count) take();
    return true;
  };
  switch (now().kind) {
    case Tok::EqualEqual:
      return taken(CompareOperator::Equal, 1);
    case Tok::NotEqual:
      return taken(CompareOperator::NotEqual, 1);
    case Tok::Less:
      return taken(CompareOperator::Less, 1);
    case Tok::LessEqual:
      return taken(CompareOperator::LessEqual, 1);
    case Tok::Greater:
      return taken(CompareOperator::Greater, 1);
    case Tok::GreaterEqual:
      return taken(CompareOperator::GreaterEqual, 1);
    case Tok::In:
      return taken(CompareOperator::In, 1);
    case Tok::Is:
      if (ahead(1).kind == Tok::Not) return taken(CompareOperator::IsNot, 2);
      return taken(CompareOperator::Is, 1);
    case Tok::Not:
      if (ahead(1).kind == Tok::In) return taken(CompareOperator::NotIn, 2);
      return false;
    default:
      return false;
  }
}

Node* Parser::comparison() {
  const Span start = now().span;
  Node* left = binary(1);
  std::vector<CompareOperator> ops;
  Nodes comparators;
  CompareOperator op{};
  while (comparison_operator(op)) {
    ops.push_back(op);
    comparators.push_back(binary(1));
  }
  if (ops.empty()) return left;
  auto* compare = open_at<Compare>(start);
  compare->left = left;
  compare->ops = tree_.arena.copy(ops);
  compare->comparators = list(comparators);
  return close(compare);
}

Node* Parser::binary(int least_precedence) {
  const Span start = now().span;
  Node* left = unary();
  while (true) {
    const std::optional<Infix> found = infix(now().kind);
    if (!found || found->precedence < least_precedence || found->precedence >= power_precedence)
      return left;
    take();
    auto* operation = open_at<BinOp>(start);
    operation->op = found->op;
    operation->left = left;
    operation->right = binary(found->precedence + 1);
    left = close(operation);
  }
}

Node* Parser::unary() {
  UnaryOperator op{};
  if (at(Tok::Minus)) op = UnaryOperator::Negate;
  else if (at(Tok::Plus)) op = UnaryOperator::Plus;
  else if (at(Tok::Tilde)) op = UnaryOperator::Invert;
  else return power();
  const Deeper deeper(*this);
  auto* operation = open<UnaryOp>();
  take();
  operation->op = op;
  operation->operand = unary();
  return close(operation);
}

// `**` binds to the right, and its right side may carry a sign.
Node* Parser::power() {
  const Span start = now().span;
  Node* base = await_primary();
  if (!at(Tok::StarStar)) return base;
  const Deeper deeper(*this);
  take();
  auto* operation = open_at<BinOp>(start);
  operation->op = BinaryOperator::Power;
  operation->left = base;
  operation->right = unary();
  return close(operation);
}

Node* Parser::await_primary() {
  if (!at(Tok::Await)) return primary();
  auto* await = open<Await>();
  take();
  await->value = primary();
  return close(await);
}

Node* Parser::lambda() {
  auto* lambda = open<Lambda>();
  take();
  lambda->parameters = parameters(Tok::Colon, false);
  if (!at(Tok::Colon)) fail(now().span, "expected ':'");
  take();
  lambda->body = expression();
  return close(lambda);
}

Node* Parser::yield_expression() {
  const Span start = now().span;
  take();
  if (accept(Tok::From)) {
    auto* from = open_at<YieldFrom>(start);
    from->value = expression();
    return close(from);
  }
  auto* yield = open_at<Yield>(start);
  if (starts_expression(now()) || at(Tok::Star)) yield->value = star_expressions();
  return close(yield);
}

}  // namespace tilewright::python
