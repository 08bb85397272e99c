// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cublaslt.h — matrix products by cuBLASLt.
#pragma once

#include <string>

#include "runtime/library_product.h"

namespace tilewright::cuda {

// As library_multiply.
bool cublaslt_multiply(const LibraryProduct& product, const Stream& stream);
std::string cublaslt_name();

}  // namespace tilewright::cuda
