// SPDX-License-Identifier: Apache-2.0
// load_inline/hidden_macros.h — macros that the user defines for the whole text (-DN=1024) do not
// reach into the parts of it that are ours.
#pragma once

#include "tilewright/kernel_source.h"

namespace tilewright {

// Takes the definitions out of the source's options and writes them into its text instead, around
// the user's parts. Which parts are whose is told by their #line directives; what comes before the
// first one is ours.
void hide_macros(KernelSource& source);

}  // namespace tilewright
