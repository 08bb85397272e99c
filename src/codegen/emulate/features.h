// SPDX-License-Identifier: Apache-2.0
// codegen/emulate/features.h — what the emulation knows of CUDA's names and headers.
#pragma once

#include <string_view>

namespace tilewright {

// "inline PTX (asm)" for `asm`; empty for a name that emulation has nothing against.
std::string_view unsupported_feature(std::string_view identifier);

// The same for a header: "cooperative groups" for <cooperative_groups.h>.
std::string_view unsupported_header(std::string_view header);

// __syncthreads, __shfl_sync, ...: threads of a block must run side by side for it.
bool is_barrier(std::string_view identifier);

// Types and functions of cuda_fp16.h and cuda_bf16.h.
bool is_half_name(std::string_view identifier);

// Does the emulation library stand in for this header ("<math.h>", "\"cuda_fp16.h\"")?
bool has_stand_in(std::string_view header);

// __pipeline_memcpy_async, memcpy_async, ...
bool is_copy_name(std::string_view identifier);

// Is cub::NAME part of what emulation has of CUB?
bool is_cub_name(std::string_view identifier);

}  // namespace tilewright
