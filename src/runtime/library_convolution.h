// SPDX-License-Identifier: Apache-2.0
// runtime/library_convolution.h — convolutions of planes by libraries that may be there: cuDNN on
// CUDA, the oneDNN plug-in on the CPU.
#pragma once

#include <cstdint>

#include "tilewright/dtype.h"
#include "tilewright/stream.h"

namespace tilewright {

// All tensors are contiguous: x [batch, in, height, width], weight [out, in / groups, window_h,
// window_w], result [batch, out, out_height, out_width].
struct LibraryConvolution {
  DType dtype = DType::Float32;
  std::int64_t batch = 0, in = 0, height = 0, width = 0;
  std::int64_t out_channels = 0, window_h = 0, window_w = 0;
  std::int64_t out_height = 0, out_width = 0;
  std::int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
  std::int64_t groups = 1;
  const void* x = nullptr;
  const void* weight = nullptr;
  void* out = nullptr;
  bool allows_tf32 = false;
};

// As library_multiply (library_product.h).
bool library_convolve(const LibraryConvolution& convolution, const Stream& stream);

}  // namespace tilewright
