// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_cublaslt.h — what tests ask of the cuBLASLt without a GPU.
#pragma once

#include "runtime/cuda/cublaslt_api.h"

namespace tilewright::cuda {

struct FakeCublasLt {
  int handles = 0;
  int descriptors = 0;  // of products and matrices, that are not destroyed
  int choices = 0;      // kernels chosen for a kind of product
  int products = 0;
  int mistakes = 0;  // attributes of a wrong size, layouts that cannot be
  cublasComputeType last_compute = CUBLAS_COMPUTE_32F;
  std::uint32_t last_alignment = 0;
  CUstream last_stream = nullptr;
  bool fails = false;
};

}  // namespace tilewright::cuda
