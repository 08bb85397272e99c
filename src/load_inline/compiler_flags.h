// SPDX-License-Identifier: Apache-2.0
// load_inline/compiler_flags.h — flags made for nvcc and g++ as what NVRTC and the host compiler
// take here.
#pragma once

#include <string>
#include <vector>

#include "tilewright/load_inline.h"

namespace tilewright {

struct CompilerFlags {
  std::vector<std::string> options;
  std::vector<std::string> notes;  // one sentence for each flag that was left out
};

// Flags that NVRTC has under the same meaning are spelled its way; those of the host compiler, of
// the linker and of other architectures are left out with a note; what is not known is passed on,
// so that NVRTC can refuse it.
CompilerFlags nvrtc_flags(const InlineOptions& options);

// extra_cflags and macros; for emulated CUDA also the definitions among extra_cuda_cflags.
std::vector<std::string> host_flags(const InlineOptions& options, bool is_emulated);

}  // namespace tilewright
