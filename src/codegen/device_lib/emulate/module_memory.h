// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/module_memory.h — the memory of a loaded module itself, which its code
// may touch besides its arguments: constants, static and thread-local variables.
#pragma once

#include "codegen/device_lib/emulate/fibers.h"

namespace tilewright {

// Of the module that holds the address `code`, and of this thread. Both are empty when there is
// none.
void find_module(const void* code, TwRange& image, TwRange& locals);

}  // namespace tilewright
