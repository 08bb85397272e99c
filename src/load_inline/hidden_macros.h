// SPDX-License-Identifier: Apache-2.0
// load_inline/hidden_macros.h — macros that the user defines for the whole text (N=1024) do not
// reach into the parts of it that are ours.
#pragma once

#include <string>
#include <vector>

#include "tilewright/load_inline.h"

namespace tilewright {

// `text` with the options' macros set aside in our parts. Which parts are whose is told by their
// #line directives; what comes before the first one is ours.
std::string hide_macros(const std::string& text, const InlineOptions& options);

}  // namespace tilewright
