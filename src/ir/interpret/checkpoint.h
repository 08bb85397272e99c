// SPDX-License-Identifier: Apache-2.0
// ir/interpret/checkpoint.h — a program that stands before an op, so that it can be run again from
// there.
//
// Memory is no part of it: whoever resumes a program puts memory back as it was. Copies under way
// are none either: kernels that have buffers have no checkpoints.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/interpret/jitter.h"
#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// An op with regions that is under way, and how far it is.
struct ControlPlace {
  const Op* op = nullptr;
  std::int64_t index = 0;  // of a for
  std::size_t region = 0;  // of a while: its condition or its body
};

struct Checkpoint {
  std::vector<ControlPlace> path;  // outermost first
  const Op* op = nullptr;          // what would be run next
  std::vector<Tile> values;        // by value
  Jitter jitter{0};
  std::int64_t steps = 0;

  std::size_t bytes() const;
};

}  // namespace tilewright::ir
