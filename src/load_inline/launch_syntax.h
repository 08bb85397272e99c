// SPDX-License-Identifier: Apache-2.0
// load_inline/launch_syntax.h — `k<<<grid, block>>>(x)` as plain C++.
#pragma once

#include <string_view>

#include "load_inline/text_edits.h"

namespace tilewright {

// k<T><<<grid, block, 0, s>>>(x, n)  =>  (::tilewright_inline::configure(grid, block, 0, s),
// k<T>(x, n)) in the whole text, macro definitions included. Throws SyntaxOrTypeError, with `file`
// as its file, for a launch that is not closed or has no argument list.
void rewrite_launches(std::string_view text, std::string_view file, TextEdits& edits);

}  // namespace tilewright
