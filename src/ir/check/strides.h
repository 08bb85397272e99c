// SPDX-License-Identifier: Apache-2.0
// ir/check/strides.h — strides that the launch gives and its tensors do not have.
//
// A parameter with "stride" in its name that is multiplied with an index and added to a pointer is
// a stride of that pointer's tensor: its value must be one of them, or 0 (a broadcast) or 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/check/finding.h"
#include "ir/interpret/interpret.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// A tensor of the launch: what its memory is known to look like.
struct TensorLayout {
  std::string name;
  const void* data = nullptr;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

struct StrideLaunch {
  std::span<const InterpretBuffer> buffers;
  std::span<const InterpretArgument> arguments;
  std::span<const TensorLayout> tensors;
};

// Tensors with fewer than two dimensions that are longer than 1 say nothing: they are views of
// something else.
std::vector<Finding> check_strides(const Kernel& kernel, const StrideLaunch& launch);

}  // namespace tilewright::ir
