// SPDX-License-Identifier: Apache-2.0
// ir/verify.h — what a kernel must satisfy at a stage; run after every pass in tests and debug
// builds.
#pragma once

#include "ir/kernel.h"

namespace tilewright::ir {

// Throws InternalError that names the op (as text), the rule it breaks and the source line. Checks
// that every op is legal at `kernel.stage`, has the operands, results, attributes and regions of
// its kind, that types fit, and that values are defined before use, in scope and once.
void verify(const Kernel& kernel);

}  // namespace tilewright::ir
