// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/inputs.h — arguments for a launch of a kernel that nobody described: sizes and
// strides that fit together, tensors that hold what such a kernel expects.
//
// Strides of one tensor (stride_am, stride_ak) are those of a contiguous tensor with room for a
// whole tile in every dimension, so that stores of different elements do not meet. Integer tensors
// hold small indices that are all different; those for atomic operations, and locks, hold zeros.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/triton/guess/guess.h"
#include "ir/kernel.h"
#include "tilewright/tensor.h"

namespace tilewright {

using GeneratedValue = std::variant<std::int64_t, double, Tensor>;

// How big to make things; a kernel may only work for some.
struct InputSizes {
  std::int64_t extent = 80;      // of a dimension whose size is a runtime argument
  std::int64_t pitch = 128;      // elements from one row of a tensor to the next
  std::int64_t numel = 1 << 20;  // of every tensor
};

// What is worth trying for a kernel whose largest tile dimension is `largest`, the best first.
std::vector<InputSizes> input_sizes(std::int64_t largest);

// Of the runtime integers of a signature by name ("x.shape.0" and "x.strides.0" of a descriptor),
// and of the strides that are constants.
std::map<std::string, std::int64_t> generate_integers(
    const std::vector<TritonParameter>& parameters, const TritonSignature& signature,
    const InputSizes& sizes);

// On the host. `seed` makes tensors of one launch differ.
Tensor generate_tensor(const std::string& name, DType dtype, const ParameterUse& use,
                       const InputSizes& sizes, std::uint64_t seed);

double generate_float(const std::string& name);

}  // namespace tilewright
