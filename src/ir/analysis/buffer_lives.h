// SPDX-License-Identifier: Apache-2.0
// ir/analysis/buffer_lives.h — from which op to which one of a Laid kernel a buffer is in use.
//
// Ops outside sweeps count in program order; those inside a loop follow the loop itself. A buffer
// of a loop's body that is not carried lives from its first use in a round to its last; any other
// one that the loop uses lives as long as the whole loop. A tile that is computed where it is read,
// or a view of one, uses buffers where it is read.
#pragma once

#include <limits>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

struct BufferLife {
  int first = 0;
  int last = std::numeric_limits<int>::max();

  bool is_never() const { return first > last; }
  bool meets(const BufferLife& other) const { return first <= other.last && other.first <= last; }
  friend bool operator==(const BufferLife&, const BufferLife&) = default;
};

// By number of the kernel's table; never: nothing uses it. Slots of a ring live for ever, as does
// scratch but that of reductions, scans and sorts, which is done with when these are.
std::vector<BufferLife> buffer_lives(const Kernel& kernel);

}  // namespace tilewright::ir
