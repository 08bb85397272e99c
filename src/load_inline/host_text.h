// SPDX-License-Identifier: Apache-2.0
// load_inline/host_text.h — host functions as one text for the host compiler: headers, the user's
// code, bindings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "load_inline/inline_source.h"

namespace tilewright {

// The entry of compiled host text (torch/abi.h: TwCall).
inline constexpr const char* host_entry = "tw_host_call";

// Standard headers that the sources need in front, by the names they use: torch's own headers bring
// nearly all of them, and reading only those that are used is most of what makes a host function
// compile quickly.
struct StandardIncludes {
  std::string text;
  bool beyond_basic = false;  // more than what the emulation library stands in for
};
StandardIncludes standard_includes(std::span<const InlineSource> sources);

// For kernels that are compiled by NVRTC: stubs in place of the kernels, device functions left out.
std::string gpu_host_text(std::span<const InlineSource> sources,
                          const std::vector<std::string>& functions);

// For emulated kernels: stands after the device code of the same sources. `stubs` are the texts of
// their stubs.
std::string emulated_host_text(std::span<const InlineSource> sources,
                               const std::vector<std::string>& functions, const std::string& stubs);

// ---- A whole program: main and the CUDA runtime instead of bindings and torch
// (torch/cuda_program.h).

// The headers that stand in front of everything: what nvcc brings without being asked, and the
// system's headers that the sources include.
std::string program_includes(std::span<const InlineSource> sources);
// The CUDA runtime for host code; stands before the program's own text.
std::string program_headers(std::span<const InlineSource> sources);
std::string gpu_program_text(std::span<const InlineSource> sources);
std::string emulated_program_text(std::span<const InlineSource> sources, const std::string& stubs);

}  // namespace tilewright
