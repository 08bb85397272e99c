// SPDX-License-Identifier: Apache-2.0
// ir/parse.h — text (as ir/print.h writes it) to a kernel. Comments start with //.
#pragma once

#include <string>
#include <string_view>

#include "ir/kernel.h"

namespace tilewright::ir {

// Throws SyntaxOrTypeError with the place in `text`. The kernel is well formed as text; `verify`
// checks what it means.
Kernel parse(std::string_view text, const std::string& file = "<text>");

}  // namespace tilewright::ir
