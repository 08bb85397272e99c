// SPDX-License-Identifier: Apache-2.0
// ir/verify_types.h — whether an op's operands, results and regions have the types that it asks
// for.
#pragma once

#include <string>

#include "ir/kernel.h"

namespace tilewright::ir {

// Throws VerificationError. The op's structure must be right already.
void verify_types(const Kernel& kernel, const Op& op);

// What is wrong with a kernel: at an op, or (null) with the whole.
[[noreturn]] void fail_verification(const Kernel& kernel, const Op* op, const std::string& rule);

}  // namespace tilewright::ir
