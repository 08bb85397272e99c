// SPDX-License-Identifier: Apache-2.0
// codegen/lower/combine_facts.h — what the region of a reduction does with two elements.
#pragma once

#include <string_view>

#include "ir/kernel.h"

namespace tilewright {

// The op of a region that only applies it to its two arguments, in this order; else null.
const ir::Op* only_op(const ir::Region& region);
// Whether a region gives the same for (b, a) as for (a, b).
bool is_symmetric(const ir::Region& region);
// What the total of a reduction without a name is called.
std::string_view total_name(const ir::Op* single);

}  // namespace tilewright
