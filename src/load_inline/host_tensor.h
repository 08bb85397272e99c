// SPDX-License-Identifier: Apache-2.0
// load_inline/host_tensor.h — tensors as compiled host functions hold them, and the operations they
// ask for by name.
#pragma once

#include "load_inline/host_call.h"
#include "load_inline/torch/abi.h"
#include "tilewright/tensor.h"

namespace tilewright {

// The handle's other side: keeps the tensor alive.
struct HostTensor : TwTensor {
  Tensor tensor;
};

// With one reference. `is_cuda` is what the source is told.
HostTensor* make_host_tensor(Tensor tensor, bool is_cuda);
inline const Tensor& tensor_of(const TwTensor* handle) {
  return static_cast<const HostTensor*>(handle)->tensor;
}
void release_host_tensor(TwTensor* handle);

// An operation of torch/tensor.h by its name; the result has one reference.
HostTensor* operate(const TwOperation& operation, const HostContext& context);

}  // namespace tilewright
