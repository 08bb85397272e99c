// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/library_headers.h — how emitted CUDA text and its compilation name the parts of the
// device library.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tilewright {

inline std::string header_name(std::string_view part) {
  return fmt::format("tilewright/{}.cuh", part);
}

// Tells device_lib/cuda/warp.cuh, and the emulation, how many lanes a warp has.
constexpr std::string_view lanes_option = "-DTW_LANES=";

}  // namespace tilewright
