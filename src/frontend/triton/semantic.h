// SPDX-License-Identifier: Apache-2.0
// frontend/triton/semantic.h — Triton's typing rules: operators, promotion, casts, broadcasting,
// memory, on values that are constants or tensors.
//
// Two constants fold as in Python; anything else becomes ops at the builder's place. Throws
// Mistake.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/python/ast.h"
#include "frontend/triton/value.h"
#include "ir/builder.h"

namespace tilewright::triton {

struct SemanticOptions {
  bool debug = false;  // asserts fire
  bool fp_fusion = true;
};

class Semantic {
 public:
  Semantic(ir::Builder& builder, SemanticOptions options) : builder_(builder), options_(options) {}

  ir::Builder& builder() { return builder_; }
  const ir::Kernel& kernel() const { return builder_.kernel(); }
  const SemanticOptions& options() const { return options_; }
  const ir::Type& type(ir::Value value) const { return builder_.type(value); }

  // ---- Operators of the language
  Value binary(python::BinaryOperator op, const Value& a, const Value& b);
  Value unary(python::UnaryOperator op, const Value& a);                      // includes `not`
  Value compare(python::CompareOperator op, const Value& a, const Value& b);  // includes `is`
  Value logical(python::BoolOperator op, const Value& a, const Value& b);     // no short circuit

  // ---- Constants and tensors
  // A constant as Python's bool(); throws Mistake for what has none.
  bool truth(const Value& value);
  // A number as the tensor that it becomes by itself (int32 if it fits, ..., float32); tensors
  // stay.
  ir::Value tensor(const Value& value);
  // What a plain assignment stores: numbers become tensors, everything else stays.
  Value materialize(const Value& value);
  // An integer, a bool, a power-of-two size that must be known at compile time; `what` names it.
  std::int64_t constant_integer(const Value& value, std::string_view what);
  bool constant_bool(const Value& value, std::string_view what);
  std::string constant_text(const Value& value, std::string_view what);
  std::vector<std::int64_t> shape(const Value& value, std::string_view what);

  // ---- Types and shapes
  ir::Value cast(ir::Value value, const ir::Type& element, bool bitcast = false,
                 std::string_view rounding = {});
  ir::Value broadcast_to(ir::Value value, const std::vector<std::int64_t>& shape);
  // Both to their common shape.
  std::pair<ir::Value, ir::Value> broadcast(ir::Value a, ir::Value b);
  ir::Value expand_dims(ir::Value value, int axis);

  // ---- What the lowering of control flow asks
  // A scalar bool for `if` and `while`.
  ir::Value condition(const Value& value);

 private:
  ir::Builder& builder_;
  SemanticOptions options_;
};

}  // namespace tilewright::triton
