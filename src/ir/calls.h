// SPDX-License-Identifier: Apache-2.0
// ir/calls.h — which function of the device library an op of stage Final calls.
#pragma once

#include "ir/kernel.h"
#include "machine/library.h"

namespace tilewright::ir {

// Null where the op is no call, or one of a function that there is not (rule F9).
const LibraryFunction* called_function(const Op& op);
// Of a call that is right.
const LibraryFunction& function_of(const Op& call);

// Whether the op calls the function, or any op of the kernel does.
bool calls(const Op& op, LibraryKind function);
bool calls(const Kernel& kernel, LibraryKind function);

}  // namespace tilewright::ir
