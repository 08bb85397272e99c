// SPDX-License-Identifier: Apache-2.0
// compiler/numba/promises.cpp — what the sizes and addresses of a launch let its text assume.
#include <algorithm>
#include <array>

#include "compiler/numba/numba_state.h"
#include "frontend/numba/value.h"

namespace tilewright {
namespace {

// Is every index, size and integer of the launch at most 2^30?
bool is_narrow_launch(const NumbaKernel::State& state, const NumbaLaunch& launch,
                      std::span<const NumbaArgument> arguments) {
  constexpr std::int64_t most = numba::most_of_narrow;
  const auto is_small = [](std::int64_t a, std::int64_t b) { return a <= most && a * b <= most; };
  if (!is_small(launch.grid.x, launch.block.x) || !is_small(launch.grid.y, launch.block.y) ||
      !is_small(launch.grid.z, launch.block.z))
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
    // The elements from the first to the last, and those of every stride.
    std::int64_t span = 1;
    for (int d = 0; d < argument.tensor->rank(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      const std::int64_t size = std::max<std::int64_t>(argument.tensor->shape()[at], 1);
      const std::int64_t stride = argument.tensor->strides()[at];
      if (stride < 0 || stride > most || size > most ||
          size * std::max<std::int64_t>(stride, 1) > most)
        return false;
      span += (size - 1) * stride;
    }
    if (span > most) return false;
  }
  return true;
}

struct Bytes {
  std::uint64_t begin, end;
};

Bytes bytes_of(const NumbaArgument& argument) {
  const Tensor& tensor = *argument.tensor;
  std::int64_t first = 0, last = 1;  // elements
  for (int d = 0; d < tensor.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t stride = tensor.strides()[at];
    const std::int64_t far = (std::max<std::int64_t>(tensor.shape()[at], 1) - 1) * stride;
    (stride < 0 ? first : last) += far;
  }
  const auto bytes = static_cast<std::int64_t>(size_of(tensor.dtype()));
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
