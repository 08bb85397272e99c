// SPDX-License-Identifier: Apache-2.0
// graph/op.h — tensor operations and what the table says of each; dtypes of operands and results.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tilewright/dtype.h"

namespace tilewright::graph {

enum class Op : std::uint8_t {
#define OP(kind, ...) kind,
#include "graph/ops.def"
#undef OP
};

enum class OpClass : std::uint8_t { Pointwise, Reduce, Index };
enum class TypeRule : std::uint8_t {
  Same,
  Common,
  Float,
  Compare,
  Logical,
  Choose,
  Total,
  Place,
  Given
};

enum class OpCost : std::uint8_t { Plain, Function };

struct OpFacts {
  std::string_view name;
  OpClass op_class;
  int operands;
  TypeRule types;
  OpCost cost;
};
const OpFacts& facts_of(Op op);

// ---- Dtypes. PyTorch's promotion: bool < integers < floats; of two tensors with dimensions the
// wider dtype wins; a tensor without dimensions, and a number even less, counts only where it is of
// a higher kind than all that weigh more.

enum class Weight : std::uint8_t { Number, Scalar, Tensor };  // of an operand, rising
struct TypedOperand {
  DType dtype;
  Weight weight = Weight::Tensor;
};

// Throws ArgumentError when no dtype holds both: signed integers and uint64.
DType promote(DType a, DType b);
DType promote(std::span<const TypedOperand> operands);

// The dtype in which operands are computed with, and that of the result, of a pointwise operation
// or reduction whose operands have `common` as their promoted dtype.
DType operand_dtype(Op op, DType common);
DType result_dtype(Op op, DType common);

// What arithmetic on a dtype is done in: float32 for the small floats, else itself.
DType compute_dtype(DType dtype);

}  // namespace tilewright::graph
