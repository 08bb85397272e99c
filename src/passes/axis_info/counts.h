// SPDX-License-Identifier: Apache-2.0
// passes/axis_info/counts.h — integers that are surely above 0: what is divided by them keeps its
// sign, while a quotient by 0 has all bits set and one by a negative number changes its sign.
#pragma once

#include "ir/kernel.h"

namespace tilewright {

// False where it is not known.
bool is_count(const ir::Kernel& kernel, ir::Value value);

// Whether the quotient of what is not negative is not negative, either: by a count, or by a divisor
// that the op looks at (count_divisors.h).
bool keeps_sign(const ir::Kernel& kernel, const ir::Op& divide);

}  // namespace tilewright
