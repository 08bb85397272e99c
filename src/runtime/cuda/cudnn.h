// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cudnn.h — convolutions by cuDNN.
#pragma once

#include "runtime/library_convolution.h"

namespace tilewright::cuda {

// As library_convolve.
bool cudnn_convolve(const LibraryConvolution& convolution, const Stream& stream);

}  // namespace tilewright::cuda
