// SPDX-License-Identifier: Apache-2.0
// ir/read.h — a kernel from text that a user wrote: parsed and verified, every mistake at its
// place.
#pragma once

#include "ir/parse.h"

namespace tilewright::ir {

// Throws SyntaxOrTypeError with the line, the op and the rule that is broken.
ParsedKernel read(std::string_view text, const std::string& file = "<text>");

}  // namespace tilewright::ir
