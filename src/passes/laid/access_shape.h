// SPDX-License-Identifier: Apache-2.0
// passes/laid/access_shape.h — how an access walks through memory.
#pragma once

#include "ir/kernel.h"
#include "passes/laid/alignment.h"

namespace tilewright {

struct AccessShape {
  int contiguous = -1;  // the dimension of neighbours, or none
  int log_run = 0;      // from multiples of this on as many elements are neighbours
  int log_width = 0;    // of those that are aligned together, at most 16 bytes
};
// `op` is a load, store, atomic or copy. Pointers without a formula (rows that are gathered) are
// known by the analysis of axes.
AccessShape access_shape(const ir::Kernel& kernel, const Alignments& alignments, const ir::Op& op);

}  // namespace tilewright
