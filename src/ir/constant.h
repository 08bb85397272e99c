// SPDX-License-Identifier: Apache-2.0
// ir/constant.h — the integer that a value is known to be.
#pragma once

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

}  // namespace tilewright::ir
