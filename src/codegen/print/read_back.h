// SPDX-License-Identifier: Apache-2.0
// codegen/print/read_back.h — the proof that printers decide nothing: what they write of a kernel
// they write of its text, too.
#pragma once

#include <functional>
#include <string>

#include "ir/kernel.h"

namespace tilewright {

// With TILEWRIGHT_CHECK_TEXT: throws InternalError where the kernel breaks a rule of its stage, or
// `print` writes another text than `printed` of the kernel that is read back from its own text.
// `kernel` is of stage Final.
void check_read_back(const ir::Kernel& kernel, const std::string& printed,
                     const std::function<std::string(const ir::Kernel&)>& print);

}  // namespace tilewright
