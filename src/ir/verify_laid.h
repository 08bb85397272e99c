// SPDX-License-Identifier: Apache-2.0
// ir/verify_laid.h — what must hold of a kernel at the Laid stage beside types and scope.
//
//   L1  An op that computes, loads, stores or reduces a tile stands in a sweep, whose shape is that
//       of the tiles it stores and reduces. Outside stand scalars, control flow, ops that move data
//       across elements, and views of tiles for them.
//   L2  A sweep holds neither a sweep nor control flow nor ops that move data across elements.
//   L4  Accesses of a sweep that may meet, one of them a write, are of the same element: elements
//       are walked in any order.
#pragma once

#include "ir/kernel.h"

namespace tilewright::ir {

// Throws InternalError, as verify does.
void verify_laid(const Kernel& kernel);

}  // namespace tilewright::ir
