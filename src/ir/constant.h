// SPDX-License-Identifier: Apache-2.0
// ir/constant.h — the number that a value is known to be.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "ir/kernel.h"

namespace tilewright::ir {

// None when no constant op makes it, or one of a float.
inline std::optional<std::int64_t> integer_constant(const Kernel& kernel, Value value) {
  const Op* maker = kernel.maker(value);
  if (!maker || maker->kind != OpKind::Constant) return std::nullopt;
  const auto* number = std::get_if<std::int64_t>(maker->find("value"));
  return number ? std::optional(*number) : std::nullopt;
}

// The number that every element of a value is, through views; null when it is not known.
inline const AttributeValue* constant_of_all(const Kernel& kernel, Value value) {
  const Op* op = kernel.maker(value);
  while (op && op->facts().maps(Spread | Repeated | Reshaped | Permuted)) op = kernel.maker(op->operands[0]);
  return op && op->kind == OpKind::Constant ? op->find("value") : nullptr;
}

// Whether every element of a value is +0, through views.
inline bool is_zero(const Kernel& kernel, Value value) {
  const AttributeValue* number = constant_of_all(kernel, value);
  if (!number) return false;
  if (const auto* real = std::get_if<double>(number)) return *real == 0 && !std::signbit(*real);
  return std::get<std::int64_t>(*number) == 0;
}

}  // namespace tilewright::ir
