// SPDX-License-Identifier: Apache-2.0
// cli/argument_views.h — one argument inside another's memory: y=@x, y=@x+4, y=@x+4[8,8].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/kernel_arguments.h"

namespace tilewright::cli {

// Whether a value names another argument's memory.
inline bool is_view_text(std::string_view text) { return text.starts_with('@'); }

// Adds each "y=@x+4" of `texts` to `values`, which hold the tensors they name or get them from
// another of these texts, in any order. `@x` has the shape of x, `@x+4` all elements of x from
// element 4 on, `@x+4[8,8]` that shape. Throws ArgumentError for what is no tensor or leaves it.
void add_views(const std::vector<std::string>& texts, std::vector<NamedValue>& values);

}  // namespace tilewright::cli
