// SPDX-License-Identifier: Apache-2.0
// passes/laid/step.h — what runs one after another in a program, region by region: scalars,
// loops over elements, ops that move data across elements, control flow.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace tilewright {

struct Step;
using Steps = std::vector<Step>;

struct Step {
  enum class Kind : std::uint8_t {
    Scalar,    // `op`: only scalar operands and results
    Elements,  // one loop over the elements of `shape`
    Across,    // `op`: moves data between elements
    Control,   // `op`: for, while or if; `regions` are the steps of its regions
  };
  Kind kind = Kind::Scalar;
  int order = 0;               // unique; rises in the order of execution
  const ir::Op* op = nullptr;  // of Elements: the sweep, where there is one

  // Of Elements:
  ir::Type shape;                         // only its sizes count
  std::vector<const ir::Op*> ops;         // of this shape, in program order, needed ones only
  std::vector<const ir::Op*> reductions;  // over values of this shape; results are there after it
  std::vector<ir::Value> kept;            // results of `ops` that are written to their arrays

  std::vector<Steps> regions;  // of Control, one per region of the op
};

}  // namespace tilewright
