// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_libdevice.cpp — none yet.
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {

std::span<const BuiltinRow> libdevice_builtins() { return {}; }

}  // namespace tilewright::triton
