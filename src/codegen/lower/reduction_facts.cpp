// SPDX-License-Identifier: Apache-2.0
// codegen/lower/reduction_facts.cpp — numbers and clauses by op and type.
#include "codegen/lower/reduction_facts.h"

#include <limits>

#include <fmt/format.h>

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

std::int64_t smallest(DType dtype) {
  if (!is_signed(dtype)) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - 8 * size_of(dtype));
}
std::int64_t largest(DType dtype) {
  if (is_signed(dtype))
    return std::numeric_limits<std::int64_t>::max() >> (64 - 8 * size_of(dtype));
  return static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - 8 * size_of(dtype)));
}

}  // namespace

// What leaves every other value as it is; nothing when there is no such value.
std::optional<ir::AttributeValue> identity_of(const ir::Op& op, const Type& type) {
  const bool is_float = type.is_float();
  const auto number = [&](int value) -> ir::AttributeValue {
    if (is_float) return static_cast<double>(value);
    return static_cast<std::int64_t>(value);
  };
  const bool is_max = op.kind == OpKind::Maximum;
  if (!is_max && op.kind != OpKind::Minimum) {
    if (!op.facts().has(ir::Commutative)) return std::nullopt;
    switch (op.facts().neutral) {
      case ir::Neutral::Zero:
        if (is_float) return -0.0;  // 0 + -0 is 0
        return number(0);
      case ir::Neutral::One:
        return number(1);
      case ir::Neutral::AllOnes:
        return number(-1);
      case ir::Neutral::NoNumber:
        return std::nullopt;
    }
  }
  if (type.is_bool()) return number(is_max ? 0 : 1);
  if (!is_float) return is_max ? smallest(type.dtype) : largest(type.dtype);
  // A NaN loses against every number, unless it is to be kept.
  if (op.text("nan") != "propagate") return std::numeric_limits<double>::quiet_NaN();
  if (type.dtype == DType::Float8E4M3) return std::nullopt;  // has no infinity
  return (is_max ? -1 : 1) * std::numeric_limits<double>::infinity();
}

// The name of the reduction in `#pragma omp simd reduction(name : sum)`.
std::string clause_of(const ir::Op& op, const Type& type) {
  const bool is_wide = type.dtype == DType::Float32 || type.dtype == DType::Float64 ||
                       (type.is_int() && size_of(type.dtype) >= 4);
  if (!is_wide) return "";
  constexpr std::pair<OpKind, const char*> clauses[] = {
      {OpKind::Add, "+"}, {OpKind::Multiply, "*"},  {OpKind::And, "&"},      {OpKind::Or, "|"},
      {OpKind::Xor, "^"}, {OpKind::Minimum, "min"}, {OpKind::Maximum, "max"}};
  for (const auto& [kind, name] : clauses) {
    if (kind != op.kind) continue;
    const bool is_extreme = kind == OpKind::Minimum || kind == OpKind::Maximum;
    if (!is_extreme || !type.is_float()) return name;
    return fmt::format("tw_{}{}", name, op.text("nan") == "propagate" ? "_nan" : "_number");
  }
  return "";
}

const ir::Op* only_op(const ir::Op& reduce) {
  const ir::Region& region = reduce.regions[0];
  if (region.arguments.size() != 2 || region.ops.size() != 2) return nullptr;
  const ir::Op& op = *region.ops[0];
  const bool takes_both =
      op.operands == region.arguments ||
      (op.operands.size() == 2 && op.facts().has(ir::Commutative) &&
       op.operands[0] == region.arguments[1] && op.operands[1] == region.arguments[0]);
  return takes_both && op.facts().has(ir::Elementwise) && region.ops[1]->operands == op.results
             ? &op
             : nullptr;
}

std::optional<Type> wide_array_type(const ir::Kernel& kernel, const ir::Op& reduce) {
  if (reduce.kind != OpKind::Reduce) return std::nullopt;
  const ir::Op* only = only_op(reduce);
  const Type& type = kernel.type(reduce.operands[0]);
  const auto axis = static_cast<int>(reduce.integer("axis"));
  if (!only || only->kind != OpKind::Add || !type.is_float() || size_of(type.dtype) >= 4 ||
      type.size(axis) == 1)
    return std::nullopt;
  for (int d = axis + 1; d < type.rank; ++d)
    if (type.size(d) > 1) return kernel.type(reduce.result()).with_element(DType::Float32);
  return std::nullopt;
}

Steps steps_of(const ir::Region& region) {
  Steps steps;
  for (const ir::Op* op : region.ops) {
    if (op->facts().is(ir::Family::Ends)) continue;
    Step step{.kind = op->regions.empty() ? Step::Kind::Scalar : Step::Kind::Control,
              .order = 1 << 30,
              .op = op};
    for (const ir::Region& inner : op->regions) step.regions.push_back(steps_of(inner));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace tilewright
