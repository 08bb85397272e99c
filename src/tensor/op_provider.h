// SPDX-License-Identifier: Apache-2.0
// tensor/op_provider.h — operations on tensors for layers that stand before the one that has them:
// by PyTorch's names, provided at run time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tilewright/tensor.h"

namespace tilewright {

// `integers` and `numbers` are what the operation takes besides: dimensions, flags, a number in
// place of a tensor ("radd", "rsub", ...: the number comes first).
struct OpCall {
  std::string_view name;
  std::span<const Tensor> tensors;
  std::span<const std::int64_t> integers;
  std::span<const double> numbers;
};

// Throws ArgumentError for wrong operands. Undefined where there is no operation of that name.
using OpProvider = Tensor (*)(const OpCall& call);

void set_op_provider(OpProvider provider);  // before main
OpProvider op_provider();

}  // namespace tilewright
