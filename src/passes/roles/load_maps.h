// SPDX-License-Identifier: Apache-2.0
// passes/roles/load_maps.h — loads of a loop as tiles of tensors: which argument, which sizes,
// which coordinates.
#pragma once

#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "passes/axis_info.h"
#include "passes/roles/polynomial.h"

namespace tilewright {

struct LoadMap {
  ir::KernelMap map;                    // without a name
  std::vector<Polynomial> coordinates;  // of its dimensions, in each round of the loop
};

// None where the load is no tile of a tensor behind an argument: its formula must come apart into
// one term per stride, its bounds must be the tensor's sizes, which are arguments, and all must be
// aligned to 16 bytes. Terms that the bounds do not know (a head's rows) are dimensions of which the
// tile has one.
std::optional<LoadMap> find_load_map(const ir::Kernel& kernel, const AxisAnalysis& axes,
                                     const ir::Op& loop, const ir::Op& load);

// The same of a store outside of all loops that carry its pointer.
std::optional<LoadMap> find_store_map(const ir::Kernel& kernel, const AxisAnalysis& axes,
                                      const ir::Op& store);

// Which arguments strides of loaded tiles are made of, and of stored ones: those of tensor maps must
// be positive.
std::vector<int> arguments_of_strides(const ir::Kernel& kernel, bool with_stores);

}  // namespace tilewright
