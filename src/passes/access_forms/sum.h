// SPDX-License-Identifier: Apache-2.0
// passes/access_forms/sum.h — sums of products of scalar values with integer coefficients, in one
// form, so that equal ones compare equal and opposite ones cancel.
//
//   n - 64 * pid + 3 is {{n}: 1, {pid}: -64} + 3
#pragma once

#include <cstdint>
#include <vector>

#include "ir/builder.h"
#include "ir/kernel.h"

namespace tilewright {

class Sum {
 public:
  struct Term {
    std::vector<ir::Value> factors;  // integer scalars, by number
    std::int64_t coefficient = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };

  Sum() = default;
  Sum(std::int64_t constant) : constant_(constant) {}  // NOLINT: a number is a sum
  // Constants are known by their value; casts that keep the value are looked through.
  static Sum of(const ir::Kernel& kernel, ir::Value scalar);

  bool is_constant() const { return terms_.empty(); }
  bool is(std::int64_t number) const { return is_constant() && constant_ == number; }
  std::int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }

  Sum operator+(const Sum& other) const;
  Sum operator-(const Sum& other) const { return *this + other * -1; }
  Sum operator*(std::int64_t factor) const;
  // Of two sums of one term at most; see SumBuilder::multiply for the others.
  static Sum product(const Sum& a, const Sum& b);
  friend bool operator==(const Sum&, const Sum&) = default;

 private:
  void add(Term term);
  std::vector<Term> terms_;  // by factors; no coefficient is 0
  std::int64_t constant_ = 0;
};

// In how many loops a value is defined: what is added first can be hoisted furthest.
class LoopDepths {
 public:
  explicit LoopDepths(const ir::Kernel& kernel);
  int of(ir::Value value) const;  // values made since: the depth of what they are made from
  void set(ir::Value value, int depth);

 private:
  void visit(const ir::Region& region, int depth);
  const ir::Kernel& kernel_;
  std::vector<int> depths_;  // -1: not known here
};

// Makes ops that compute sums as i64 scalars.
class SumBuilder {
 public:
  SumBuilder(ir::Builder& build, const LoopDepths& depths) : build_(build), depths_(depths) {}

  ir::Value constant(std::int64_t value);
  ir::Value emit(const Sum& sum);
  // pointer + sum, moved by what is known outside loops first.
  ir::Value move(ir::Value pointer, const Sum& sum);
  // A sum with several terms becomes one value before it is a factor.
  Sum multiply(const Sum& a, const Sum& b);
  ir::Builder& build() { return build_; }

 private:
  struct Part {
    int depth;
    std::int64_t sign;
    const Sum::Term* term;  // null: the constant
  };
  std::vector<Part> parts_of(const Sum& sum) const;
  ir::Value emit_term(const Sum::Term& term);
  ir::Value append(ir::Value total, const Part& part, const Sum& sum);

  ir::Builder& build_;
  const LoopDepths& depths_;
};

}  // namespace tilewright
