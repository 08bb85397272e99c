// SPDX-License-Identifier: Apache-2.0
// runtime/library_product.cpp — which library a device has.
#include "runtime/library_product.h"

#include "base/settings.h"
#include "runtime/cpu/onednn.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cudnn.h"
#include "runtime/library_convolution.h"

namespace tilewright {

bool library_multiply(const LibraryProduct& product, const Stream& stream) {
  if (!settings().use_libraries) return false;
  return stream.device().is_cuda() ? cuda::cublaslt_multiply(product, stream)
                                   : onednn_multiply(product);
}

bool library_convolve(const LibraryConvolution& convolution, const Stream& stream) {
  if (!settings().use_libraries) return false;
  return stream.device().is_cuda() ? cuda::cudnn_convolve(convolution, stream)
                                   : onednn_convolve(convolution);
}

std::string product_library(Device device) {
  if (!settings().use_libraries) return "";
  return device.is_cuda() ? cuda::cublaslt_name() : onednn_name();
}

}  // namespace tilewright
