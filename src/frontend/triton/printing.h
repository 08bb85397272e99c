// SPDX-License-Identifier: Apache-2.0
// frontend/triton/printing.h — what print and its like say.
#pragma once

#include <string>
#include <vector>

#include "frontend/triton/call.h"

namespace tilewright::triton {

// A value as Python's str() would write it; tensors by their type.
std::string print_text(const Value& value, const ir::Kernel& kernel);
// A print op: "prefix: " before each value.
Value print_tensors(Call& call, std::string prefix, const std::vector<Value>& values, bool hex);

}  // namespace tilewright::triton
