// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_value.h — a Triton expression over values that are there already, as a
// debugger evaluates it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/triton/value.h"
#include "ir/kernel.h"

namespace tilewright::triton {

struct ValueOperand {
  std::string name;
  ir::Type type;  // a tile too
};

// Its arguments are the operands in their order; running it gives `result`, tensors of it.
struct LoweredValue {
  ir::Kernel kernel;
  Value result;
};

// The expression sees the operands, the constants, `tl` and `triton`. Throws SyntaxOrTypeError.
LoweredValue lower_value(const std::string& expression, const std::vector<ValueOperand>& operands,
                         const std::vector<std::pair<std::string, Value>>& constants);

}  // namespace tilewright::triton
