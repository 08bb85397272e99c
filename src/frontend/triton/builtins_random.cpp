// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_random.cpp — none yet.
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {

std::span<const BuiltinRow> random_builtins() { return {}; }

}  // namespace tilewright::triton
