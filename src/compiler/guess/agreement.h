// SPDX-License-Identifier: Apache-2.0
// compiler/guess/agreement.h — do two runs of a kernel leave the same in memory?
//
// Integers must be equal. Floats may differ as roundings in another order do: by a share of their
// own size plus a share of the largest value that the kernel wrote to that tensor; with the exact
// result given, also by a small multiple of the first run's own largest error; then integers that
// were cast from floats may be off by one.
#pragma once

#include <string>
#include <vector>

#include "tilewright/tensor.h"

namespace tilewright {

// The first difference as a sentence; empty when there is none. All tensors are on the host;
// `exact` holds float64 where the others hold floats.
std::string difference(const std::vector<std::string>& names, const std::vector<Tensor>& before,
                       const std::vector<Tensor>& expected, const std::vector<Tensor>& got,
                       const std::vector<Tensor>* exact = nullptr);

}  // namespace tilewright
