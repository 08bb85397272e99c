// SPDX-License-Identifier: Apache-2.0
// compiler/numba/promises.cpp — what the sizes and addresses of a launch let its text assume.
#include <algorithm>
#include <array>

#include "compiler/numba/numba_state.h"
#include "frontend/numba/value.h"

namespace tilewright {
namespace {

// The elements from the first to the last, and those of every stride.
bool is_narrow_view(const Tensor& tensor) {
  constexpr std::int64_t most = numba::most_of_narrow;
  std::int64_t span = 1;
  const Shape &shape = tensor.shape(), &strides = tensor.strides();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t size = std::max<std::int64_t>(shape[d], 1);
    const std::int64_t stride = strides[d];
    if (stride < 0 || stride > most || size > most ||
        size * std::max<std::int64_t>(stride, 1) > most)
      return false;
    span += (size - 1) * stride;
  }
  return span <= most;
}

// Of contiguous arrays, which most are, the number of elements says all: their texts take no
// strides. One without elements may have any sizes.
bool is_narrow_array(const Tensor& tensor, bool is_contiguous) {
  const std::int64_t count = is_contiguous ? tensor.numel() : 0;
  if (count == 0) return is_narrow_view(tensor);
  return count <= numba::most_of_narrow;
}

// Is every index, size and integer of the launch at most 2^30?
bool is_narrow_launch(const NumbaKernel::State& state, const NumbaLaunch& launch,
                      std::span<const NumbaArgument> arguments) {
  constexpr std::int64_t most = numba::most_of_narrow;
  const Dim3 &grid = launch.grid, &block = launch.block;  // blocks are at most 1024 long
  if (grid.x > most || grid.y > most || grid.z > most || grid.x * block.x > most ||
      grid.y * block.y > most || grid.z * block.z > most)
    return false;
  for (const NumbaArgument& argument : arguments) {
    if (argument.tensor == nullptr) {
      // A signature may make an int64 of any number.
      const bool is_int64 = argument.value.dtype == DType::Int64;
      if ((is_int64 || state.signature) &&
          converted_number(argument.value, DType::Int64).bits > std::uint64_t{most})
        return false;
      continue;
    }
    if (!is_narrow_array(*argument.tensor, argument.value.is_contiguous)) return false;
  }
  return true;
}

struct Bytes {
  std::uint64_t begin, end;
};

Bytes bytes_of(const NumbaArgument& argument) {
  const Tensor& tensor = *argument.tensor;
  std::int64_t first = 0, last = 1;  // elements
  if (argument.value.is_contiguous) {
    last = std::max<std::int64_t>(tensor.numel(), 1);
  } else {
    const Shape &shape = tensor.shape(), &strides = tensor.strides();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t far = (std::max<std::int64_t>(shape[d], 1) - 1) * strides[d];
      (strides[d] < 0 ? first : last) += far;
    }
  }
  const auto bytes = static_cast<std::int64_t>(size_of(argument.value.dtype));
  return {argument.value.bits + static_cast<std::uint64_t>(first * bytes),
          argument.value.bits + static_cast<std::uint64_t>(last * bytes)};
}

// Do no two arrays share memory? Not looked at where there are many.
bool are_apart(std::span<const NumbaArgument> arguments) {
  std::array<Bytes, 8> seen;
  std::size_t count = 0;
  for (const NumbaArgument& argument : arguments) {
    if (argument.tensor == nullptr) continue;
    if (count == seen.size()) return false;
    const Bytes bytes = bytes_of(argument);
    for (std::size_t i = 0; i < count; ++i)
      if (bytes.begin < seen[i].end && seen[i].begin < bytes.end) return false;
    seen[count++] = bytes;
  }
  return true;
}

}  // namespace

NumbaPromises promises_of(const NumbaKernel::State& state, const NumbaLaunch& launch,
                          std::span<const NumbaArgument> arguments) {
  return {is_narrow_launch(state, launch, arguments), are_apart(arguments)};
}

}  // namespace tilewright
