// SPDX-License-Identifier: Apache-2.0
// runtime/library_product.h — matrix products by libraries that may be there: cuBLASLt on CUDA, a
// oneDNN plug-in on the CPU. Whoever finds none, or one that does not take the product, has kernels
// of its own.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/dtype.h"
#include "tilewright/stream.h"

namespace tilewright {

// Strides in elements; that of a row or that of a column is 1.
struct LibraryMatrix {
  const void* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 0, batch_stride = 0;
};

// out[b] = a[b] @ b[b] (+ bias): m x k times k x n. The result is contiguous; the bias has n
// elements, one after the other. All have one dtype; small floats are summed in float32.
struct LibraryProduct {
  DType dtype = DType::Float32;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  LibraryMatrix a, b;
  const void* bias = nullptr;  // may be null
  void* out = nullptr;
  bool allows_tf32 = false;  // float32 by tensor cores, 10 bits of the mantissa; CUDA alone
};

// Queues the product on the stream. False, and nothing happened, where no library takes it: a note
// in the log (TILEWRIGHT_LOG=libraries) says once why; a library that is there but cannot be used
// is a warning. Throws EnvironmentError when a library fails that has taken it.
bool library_multiply(const LibraryProduct& product, const Stream& stream);

// "cuBLASLt 13.0.2", "oneDNN 2.6.3"; empty where there is none.
std::string product_library(Device device);

}  // namespace tilewright
