// SPDX-License-Identifier: Apache-2.0
// passes/axis_info/transfer.h — what one op makes of the facts of its operands.
#pragma once

#include <span>

#include "passes/axis_info.h"

namespace tilewright {

// Nothing known of a value of this type.
AxisInfo unknown_info(const ir::Type& type);
// What holds for both.
AxisInfo join(const AxisInfo& a, const AxisInfo& b);
// Of the result of a pure op without regions; unknown for the others.
AxisInfo transfer(const ir::Kernel& kernel, const ir::Op& op,
                  std::span<const AxisInfo* const> operands);

}  // namespace tilewright
