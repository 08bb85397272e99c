// SPDX-License-Identifier: Apache-2.0
// passes/access_forms/sum.cpp — arithmetic on sums, and the ops that compute them.
#include "passes/access_forms/sum.h"

#include <algorithm>

#include "base/check.h"
#include "ir/interpret/tile.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Type;
using ir::Value;

std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

bool is_before(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](Value x, Value y) { return x.id < y.id; });
}

bool keeps_value(const Type& from, const Type& to) {
  if (!from.is_int() || !to.is_int()) return false;
  if (is_signed(from.dtype))
    return is_signed(to.dtype) && to.element_bytes() >= from.element_bytes();
  return to.element_bytes() > from.element_bytes();
}

}  // namespace

Sum Sum::of(const Kernel& kernel, Value scalar) {
  const Op* op = kernel.maker(scalar);
  while (op && op->kind == OpKind::Cast &&
         keeps_value(kernel.type(op->operands[0]), kernel.type(scalar))) {
    scalar = op->operands[0];
    op = kernel.maker(scalar);
  }
  if (op && op->kind == OpKind::Constant)
    return ir::wrap(kernel.type(scalar).dtype, op->integer("value"));
  Sum sum;
  sum.terms_.push_back({{scalar}, 1});
  return sum;
}

void Sum::add(Term term) {
  const auto place = std::lower_bound(
      terms_.begin(), terms_.end(), term.factors,
      [](const Term& a, const std::vector<Value>& b) { return is_before(a.factors, b); });
  if (place == terms_.end() || place->factors != term.factors) {
    if (term.coefficient != 0) terms_.insert(place, std::move(term));
    return;
  }
  place->coefficient = wrapped_sum(place->coefficient, term.coefficient);
  if (place->coefficient == 0) terms_.erase(place);
}

Sum Sum::operator+(const Sum& other) const {
  Sum sum = *this;
  for (const Term& term : other.terms_) sum.add(term);
  sum.constant_ = wrapped_sum(constant_, other.constant_);
  return sum;
}

Sum Sum::operator*(std::int64_t factor) const {
  Sum sum(wrapped_product(constant_, factor));
  for (const Term& term : terms_)
    sum.add({term.factors, wrapped_product(term.coefficient, factor)});
  return sum;
}

Sum Sum::product(const Sum& a, const Sum& b) {
  if (a.is_constant()) return b * a.constant_;
  if (b.is_constant()) return a * b.constant_;
  TW_CHECK(a.terms_.size() == 1 && b.terms_.size() == 1 && a.constant_ == 0 && b.constant_ == 0,
           "only products of single terms are terms");
  Term term = a.terms_.front();
  const Term& other = b.terms_.front();
  term.factors.insert(term.factors.end(), other.factors.begin(), other.factors.end());
  std::sort(term.factors.begin(), term.factors.end(), [](Value x, Value y) { return x.id < y.id; });
  term.coefficient = wrapped_product(term.coefficient, other.coefficient);
  Sum sum;
  sum.add(std::move(term));
  return sum;
}

// ---- Loop depths

LoopDepths::LoopDepths(const Kernel& kernel) : kernel_(kernel), depths_(kernel.value_count(), -1) {
  for (const ir::KernelArgument& argument : kernel.arguments) set(argument.value, 0);
  visit(kernel.body, 0);
}

void LoopDepths::visit(const ir::Region& region, int depth) {
  for (const Value argument : region.arguments) set(argument, depth);
  for (const Op* op : region.ops) {
    for (const Value result : op->results) set(result, depth);
    const bool is_loop = op->facts().has(ir::Loops);
    for (const ir::Region& inner : op->regions) visit(inner, depth + (is_loop ? 1 : 0));
  }
}

int LoopDepths::of(Value value) const {
  if (value.id < depths_.size() && depths_[value.id] >= 0) return depths_[value.id];
  int depth = 0;
  if (const Op* op = kernel_.maker(value))
    for (const Value operand : op->operands) depth = std::max(depth, of(operand));
  return depth;
}

void LoopDepths::set(Value value, int depth) {
  if (value.id >= depths_.size()) depths_.resize(value.id + 1, -1);
  depths_[value.id] = depth;
}

// ---- Ops

Value SumBuilder::constant(std::int64_t value) { return build_.constant(Type::scalar(i64), value); }

std::vector<SumBuilder::Part> SumBuilder::parts_of(const Sum& sum) const {
  std::vector<Part> parts;
  for (const Sum::Term& term : sum.terms()) {
    int depth = 0;
    for (const Value factor : term.factors) depth = std::max(depth, depths_.of(factor));
    parts.push_back({depth, term.coefficient < 0 ? -1 : 1, &term});
  }
  // Positive terms first: a difference instead of a negation.
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.depth != b.depth ? a.depth < b.depth : a.sign > b.sign;
  });
  if (sum.constant() == 0 && !parts.empty()) return parts;
  auto place = parts.begin();
  while (place != parts.end() && place->depth == 0) ++place;
  parts.insert(place, {0, 1, nullptr});
  return parts;
}

Value SumBuilder::emit_term(const Sum::Term& term) {
  std::vector<Value> factors = term.factors;
  std::stable_sort(factors.begin(), factors.end(),
                   [&](Value a, Value b) { return depths_.of(a) < depths_.of(b); });
  Value product;
  for (const Value factor : factors) {
    const Value wide = build_.cast(factor, i64);
    product = product ? build_.binary(OpKind::Multiply, product, wide) : wide;
  }
  const std::int64_t size = term.coefficient == -1 ? 1 : term.coefficient;
  if (size != 1) product = build_.binary(OpKind::Multiply, product, constant(size));
  return product;
}

// The part added to the total so far; `total` is none for the first part.
Value SumBuilder::append(Value total, const Part& part, const Sum& sum) {
  if (!part.term) {
    const Value number = constant(sum.constant());
    return total ? build_.binary(OpKind::Add, total, number) : number;
  }
  const Value product = emit_term(*part.term);
  const bool is_taken_away = part.term->coefficient == -1;
  if (!total) return is_taken_away ? build_.unary(OpKind::Negate, product) : product;
  return build_.binary(is_taken_away ? OpKind::Subtract : OpKind::Add, total, product);
}

Value SumBuilder::emit(const Sum& sum) {
  Value total;
  for (const Part& part : parts_of(sum)) total = append(total, part, sum);
  return total;
}

Value SumBuilder::move(Value pointer, const Sum& sum) {
  if (sum.is(0)) return pointer;
  const std::vector<Part> parts = parts_of(sum);
  Value distance;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    distance = append(distance, parts[i], sum);
    if (i + 1 < parts.size() && parts[i + 1].depth == parts[i].depth) continue;
    pointer = build_.offset(pointer, distance);
    distance = {};
  }
  return pointer;
}

Sum SumBuilder::multiply(const Sum& a, const Sum& b) {
  const auto single = [&](const Sum& sum) {
    const bool is_term = sum.terms().size() == 1 && sum.constant() == 0;
    return is_term ? sum : Sum::of(build_.kernel(), emit(sum));
  };
  if (a.is_constant() || b.is_constant()) return Sum::product(a, b);
  return Sum::product(single(a), single(b));
}

}  // namespace tilewright
