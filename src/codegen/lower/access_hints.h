// SPDX-License-Identifier: Apache-2.0
// codegen/lower/access_hints.h — which loads stream through, and which are of what programs share.
#pragma once

#include <unordered_set>

#include "ir/kernel.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

struct AccessHints {
  // Loads of tiles that no other program reads, and this one but once. Where programs share
  // something at all, other loads come from a near cache.
  std::unordered_set<const ir::Op*> once;
  bool has_shared = false;
  // Those whose lines should leave L2 after lines that are written meanwhile (Cache::Linger): a row
  // that is written then reaches memory in one go. None where products are computed, nor where many
  // weights go through the first-level cache beside a long row, which that makes slower.
  std::unordered_set<const ir::Op*> streaming;
};
AccessHints find_access_hints(const ir::Kernel& kernel, const Sweeps& sweeps);

}  // namespace tilewright
