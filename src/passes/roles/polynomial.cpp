// SPDX-License-Identifier: Apache-2.0
// passes/roles/polynomial.cpp — sums and products, term by term.
#include "passes/roles/polynomial.h"

#include <algorithm>
#include <iterator>

#include "ir/analysis/exact_integers.h"
#include "ir/constant.h"

namespace tilewright {

using ir::OpKind;
using ir::Value;

void Polynomial::add(const Factors& factors, std::int64_t times) {
  const auto found = terms_.try_emplace(factors, 0).first;
  found->second += times;
  if (found->second == 0) terms_.erase(found);
}

Polynomial Polynomial::number(std::int64_t value) {
  Polynomial out;
  if (value != 0) out.terms_[{}] = value;
  return out;
}

Polynomial Polynomial::of(Value value) {
  Polynomial out;
  out.terms_[{value.id}] = 1;
  return out;
}

Polynomial Polynomial::expand(const ir::Kernel& kernel, Value value) {
  if (const auto known = ir::integer_constant(kernel, value)) return number(*known);
  const ir::Op* op = kernel.maker(value);
  if (op == nullptr || !ir::has_exact_sums(kernel.type(value))) return of(value);
  const auto operand = [&](std::size_t i) { return expand(kernel, op->operands[i]); };
  if (op->kind == OpKind::Add) return operand(0).plus(operand(1));
  if (op->kind == OpKind::Subtract) return operand(0).plus(operand(1), -1);
  if (op->kind == OpKind::Multiply) return operand(0).times(operand(1));
  if (op->kind == OpKind::Negate) return number(0).plus(operand(0), -1);
  if (op->kind == OpKind::Hint) return operand(0);
  const bool widens = op->kind == OpKind::Cast &&
                      ir::is_exact_cast(kernel.type(op->operands[0]), kernel.type(value));
  return widens ? operand(0) : of(value);
}

Polynomial Polynomial::plus(const Polynomial& other, std::int64_t times) const {
  Polynomial out = *this;
  for (const auto& [factors, count] : other.terms_) out.add(factors, count * times);
  return out;
}

Polynomial Polynomial::times(const Polynomial& other) const {
  Polynomial out;
  for (const auto& [a, x] : terms_)
    for (const auto& [b, y] : other.terms_) {
      Factors both = a;
      both.insert(both.end(), b.begin(), b.end());
      std::sort(both.begin(), both.end());
      out.add(both, x * y);
    }
  return out;
}

Polynomial::Parts Polynomial::split_by(const Polynomial& product) const {
  const auto& [wanted, times] = *product.terms_.begin();
  Parts out;
  for (const auto& [factors, count] : terms_) {
    const bool has_it = count % times == 0 &&
                        std::includes(factors.begin(), factors.end(), wanted.begin(), wanted.end());
    Factors rest;
    if (has_it)
      std::set_difference(factors.begin(), factors.end(), wanted.begin(), wanted.end(),
                          std::back_inserter(rest));
    if (has_it) out.with.add(rest, count / times);
    else out.without.add(factors, count);
  }
  return out;
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
  return terms_.begin()->second;
}

Value Polynomial::build(ir::Builder& build, const std::map<std::uint32_t, Value>& renamed) const {
  const ir::Type type = ir::Type::scalar(i32);
  Value sum;
  for (const auto& [factors, count] : terms_) {
    Value product;
    for (const std::uint32_t id : factors) {
      const auto found = renamed.find(id);
      const Value factor = build.cast(found == renamed.end() ? Value{id} : found->second, i32);
      product = product ? build.binary(OpKind::Multiply, product, factor) : factor;
    }
    if (!product) product = build.constant(type, count);
    else if (count != 1)
      product = build.binary(OpKind::Multiply, product, build.constant(type, count));
    sum = sum ? build.binary(OpKind::Add, sum, product) : product;
  }
  return sum ? sum : build.constant(type, std::int64_t{0});
}

}  // namespace tilewright
