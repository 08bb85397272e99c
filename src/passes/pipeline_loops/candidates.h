// SPDX-License-Identifier: Apache-2.0
// passes/pipeline_loops/candidates.h — which loads of a loop may run ahead of it, and what must run
// ahead with them.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "ir/kernel.h"
#include "passes/axis_info.h"

namespace tilewright {

struct LoadsAhead {
  std::vector<ir::Op*> loads;        // of the loop's body, in order
  std::vector<const ir::Op*> slice;  // ops of the body that their operands depend on, in order
  std::vector<std::size_t> carried;  // numbers of the carried scalars that they depend on
  std::map<const ir::Op*, std::size_t> delayed;  // loads to the number of the tile that the loop carries to its next round
  std::int64_t stage_bytes = 0;      // of all tiles that are loaded
  std::int64_t other_bytes = 0;      // of other operands of products, which need memory beside them
};

// `loop` is a `for`. No loads: nothing to do.
LoadsAhead find_loads_ahead(const ir::Kernel& kernel, const AxisAnalysis& axes, ir::Op& loop);
// Those of all tiles, of a loop without products.
LoadsAhead find_rows_ahead(const ir::Kernel& kernel, const AxisAnalysis& axes, ir::Op& loop);

}  // namespace tilewright
