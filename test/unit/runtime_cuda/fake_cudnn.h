// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_cudnn.h — what tests ask of the cuDNN without a GPU.
#pragma once

#include "runtime/cuda/cudnn_api.h"

namespace tilewright::cuda {

struct FakeCudnn {
  std::size_t version = 91002;
  CUstream stream = nullptr;
  cudnnMathType math = CUDNN_DEFAULT_MATH;
  bool is_right = false;  // the last convolution ran by the deterministic kernel with its memory
};

}  // namespace tilewright::cuda
