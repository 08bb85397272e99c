// SPDX-License-Identifier: Apache-2.0
// ir/parse.h — text (as ir/print.h writes it) to a kernel. Comments start with //.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/diagnostic.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// Throws SyntaxOrTypeError with the place in `text`. The kernel is well formed as text; `verify`
// checks what it means.
Kernel parse(std::string_view text, const std::string& file = "<text>");

// Also where each op stands in the text.
struct ParsedKernel {
  Kernel kernel;
  std::unordered_map<const Op*, Span> places;
};
ParsedKernel parse_with_places(std::string_view text, const std::string& file = "<text>");

}  // namespace tilewright::ir
