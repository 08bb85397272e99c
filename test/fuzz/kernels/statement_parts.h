// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/statement_parts.h — statements that are more than an assignment or a store.
#pragma once

#include "draft.h"

namespace tilewright::fuzz {

// A loop or a branch with statements in it; false when the kernel has none of them.
bool add_compound(Draft& draft, Block& block);
// Defines or changes a pointer; false when the kernel has none of them.
bool add_pointers(Draft& draft, Block& block);
// A scalar that may differ with the order of elements, as a condition around collectives of which
// both sides give the same.
void add_tie(Draft& draft, Block& block);

}  // namespace tilewright::fuzz
