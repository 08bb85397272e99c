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
#include "frontend/triton/types.h"
#include "frontend/triton/value.h"
#include "ir/builder.h"

namespace tilewright::triton {

// How two operands meet: Weak lets a constant keep the tensor's type, Strong makes it a tensor of
// its own type first (comparisons, tl.maximum, tl.where's condition).
enum class Literals { Weak, Strong };

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
  // A number in a given element type; checks that an integer fits.
  ir::Value constant(const Value& number, DType dtype);
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
  // Every value to the shape of `value`, which must hold them.
  ir::Value like(ir::Value scalar_or_tile, const ir::Type& shape);
  // Two operands in their common type and shape, as an operator called `op` sees them; no pointers.
  std::pair<ir::Value, ir::Value> operands(const Value& a, const Value& b, std::string_view op,
                                           Literals literals, bool divides = false);
  ir::Value select(const Value& condition, const Value& a, const Value& b);  // tl.where

  // ---- Ops on tensors of one type and shape; int1 behaves as an integer of one bit
  ir::Value arithmetic(ir::OpKind kind, ir::Value a, ir::Value b);
  ir::Value negate(ir::Value value);
  ir::Value invert(ir::Value value);
  ir::Value move_pointer(ir::Value pointers, ir::Value offset);
  ir::Value compare(std::string_view is, ir::Value a, ir::Value b) {
    return builder_.compare(is, a, b);
  }

  // ---- What the lowering of control flow asks
  // A scalar bool for `if` and `while`.
  ir::Value condition(const Value& value);

 private:
  Value add_pointer(python::BinaryOperator op, const Value& a, const Value& b);
  bool fills_otherwise(const Value& a, const Value& b, const ir::Type& operand) const;
  ir::Value cast_pointer(ir::Value value, const ir::Type& target);
  ir::Value logical_operand(std::string_view op, const Value& value);

  ir::Builder& builder_;
  SemanticOptions options_;
};

}  // namespace tilewright::triton
