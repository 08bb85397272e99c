// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/agreement.h — do two runs of a kernel leave the same in memory?
//
// Integers must be equal, floats to a few units in the last place. What differs more may still be a
// matter of rounding: other runs in the interpreter, with roundings by chance
// (ir/interpret/jitter.h), show how far rounding moves each element and its tensor as a whole. A
// result may be off by four times that. Integers that rounding moves anywhere (casts of floats,
// also where they are stored as floats) may be off by one besides.
#pragma once

#include <string>
#include <vector>

#include "tilewright/tensor.h"

namespace tilewright {

struct Comparison {
  const std::vector<std::string>& names;  // of the tensors
  const std::vector<Tensor>& before;      // the launch
  const std::vector<Tensor>& expected;
  const std::vector<Tensor>& got;
  // Of each run with roundings by chance; none: floats may differ by a few units only.
  const std::vector<std::vector<Tensor>>& rounded;
};

// The first difference as a sentence; empty when there is none. All tensors are on the host.
std::string difference(const Comparison& comparison);

// Whether a launch wrote anything new: one that did not is no evidence of anything.
bool changes_memory(const std::vector<Tensor>& before, const std::vector<Tensor>& after);

}  // namespace tilewright
