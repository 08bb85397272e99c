// SPDX-License-Identifier: Apache-2.0
// ir/behind.h — what a value is computed from. Each value is asked once, however many ways lead to
// it: sixty lines of `x = x * x + x` have 2^60 of them.
#pragma once

#include <functional>

#include "ir/kernel.h"

namespace tilewright::ir {

enum class Ask : std::uint8_t { Found, Further, NoFurther };

// Whether `ask` finds something at the value or, where it says to go further, behind its operands.
bool any_behind(const Kernel& kernel, Value value, const std::function<Ask(Value)>& ask);

}  // namespace tilewright::ir
