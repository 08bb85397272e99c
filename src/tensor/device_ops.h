// SPDX-License-Identifier: Apache-2.0
// tensor/device_ops.h — operations on CUDA tensors that need device code, asynchronous on the
// current stream.
#pragma once

#include <cstdint>

#include "tensor/pair.h"
#include "tilewright/kernel_source.h"
#include "tilewright/tensor.h"

namespace tilewright {

// Any strides and dtypes; both on one CUDA device.
void copy_on_device(const Tensor& destination, const Tensor& source, const Pair& pair);
// Every element becomes the first bytes of `bits`.
void fill_on_device(const Tensor& destination, const Pair& pair, std::uint64_t bits);

// These fill contiguous tensors.
void arange_on_device(const Tensor& out, double begin, double step);
void arange_on_device(const Tensor& out, long long begin, long long step);
void uniform_on_device(const Tensor& out, std::uint64_t seed, std::uint64_t first_block);
void normal_on_device(const Tensor& out, std::uint64_t seed, std::uint64_t first_block);

// The source of one instance of a kernel in tensor/device/kernels.cu, for example
// "tilewright::element::uniform<float>". `parameters` are those of the kernel.
KernelSource device_kernel_source(const std::string& instance, std::vector<Parameter> parameters);

}  // namespace tilewright
