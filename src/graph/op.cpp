// SPDX-License-Identifier: Apache-2.0
// graph/op.cpp — the table of operations, and the rules of dtypes.
#include "graph/op.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "tilewright/error.h"

namespace tilewright::graph {
namespace {

constexpr std::array op_table = {
#define OP(kind, name, op_class, operands, types, cost) \
  OpFacts{name, OpClass::op_class, operands, TypeRule::types, OpCost::cost},
#include "graph/ops.def"
#undef OP
};

int kind_rank(DType dtype) { return dtype == DType::Bool ? 0 : is_integer(dtype) ? 1 : 2; }

DType wider_float(DType a, DType b) {
  const std::size_t x = size_of(a), y = size_of(b);
  if (x == y) return x == 1 ? DType::Float16 : DType::Float32;  // two formats of one size
  return x > y ? a : b;
}

DType signed_of_size(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return DType::Int8;
    case 2:
      return DType::Int16;
    case 4:
      return DType::Int32;
    default:
      return DType::Int64;
  }
}

DType wider_integer(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return size_of(a) > size_of(b) ? a : b;
  const DType with_sign = is_signed(a) ? a : b, without = is_signed(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  if (without == DType::UInt64)
    throw ArgumentError(fmt::format("no dtype holds both {} and {}: convert one of them with to()",
                                    name_of(a), name_of(b)));
  return signed_of_size(2 * size_of(without));
}

}  // namespace

const OpFacts& facts_of(Op op) { return op_table[static_cast<std::size_t>(op)]; }

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (kind_rank(a) != kind_rank(b)) return kind_rank(a) > kind_rank(b) ? a : b;
  return is_floating(a) ? wider_float(a, b) : wider_integer(a, b);
}

DType promote(std::span<const TypedOperand> operands) {
  // The promoted dtype of each weight; a lighter one counts only where its kind is higher.
  std::array<DType, 3> by_weight{};
  std::array<bool, 3> is_there{};
  for (const TypedOperand& operand : operands) {
    const auto w = static_cast<std::size_t>(operand.weight);
    by_weight[w] = is_there[w] ? promote(by_weight[w], operand.dtype) : operand.dtype;
    is_there[w] = true;
  }
  bool is_any = false;
  DType result = DType::Bool;
  for (const std::size_t w : {2u, 1u, 0u}) {
    if (!is_there[w]) continue;
    if (!is_any || kind_rank(by_weight[w]) > kind_rank(result)) result = by_weight[w];
    is_any = true;
  }
  return result;
}

DType operand_dtype(Op op, DType common) {
  switch (facts_of(op).types) {
    case TypeRule::Float:
      return is_floating(common) ? common : DType::Float32;
    case TypeRule::Logical:
      return DType::Bool;
    case TypeRule::Total:
      return is_floating(common) ? common : DType::Int64;
    case TypeRule::Same:
    case TypeRule::Common:
    case TypeRule::Compare:
    case TypeRule::Choose:
    case TypeRule::Place:
    case TypeRule::Given:
      return common;
  }
  TW_UNREACHABLE("type rule of {}", facts_of(op).name);
}

DType result_dtype(Op op, DType common) {
  switch (facts_of(op).types) {
    case TypeRule::Compare:
    case TypeRule::Logical:
      return DType::Bool;
    case TypeRule::Place:
      return DType::Int64;
    case TypeRule::Same:
    case TypeRule::Common:
    case TypeRule::Float:
    case TypeRule::Choose:
    case TypeRule::Total:
    case TypeRule::Given:
      return operand_dtype(op, common);
  }
  TW_UNREACHABLE("type rule of {}", facts_of(op).name);
}

DType compute_dtype(DType dtype) {
  return is_floating(dtype) && dtype != DType::Float64 ? DType::Float32 : dtype;
}

}  // namespace tilewright::graph
