// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/access_hints.h — which loads stream through, and which are of what programs share.
#pragma once

#include <unordered_set>

#include "ir/kernel.h"

namespace tilewright {

// Loads of tiles; both sets are empty where products are computed.
struct AccessHints {
  // Nobody reads their data again. Lines of those should leave L2 after lines that are written
  // meanwhile (Cache::Linger): a row that is written then reaches memory in one go. Not where many
  // weights go through the first-level cache beside a long row, which that makes slower.
  std::unordered_set<const ir::Op*> streaming;
  // Other programs read the same and this kernel does not write it, nor waits for other programs:
  // it comes from a near cache, can be loaded late, and at any time (Cache::Constant).
  std::unordered_set<const ir::Op*> weights;
};
AccessHints find_access_hints(const ir::Kernel& kernel);

}  // namespace tilewright
