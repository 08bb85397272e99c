// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/names.h — what the name of a parameter suggests, where nothing else tells.
#pragma once

#include <cstdint>
#include <string_view>

namespace tilewright {

bool looks_like_pointer_name(std::string_view name);  // x_ptr, out_ptrs
bool looks_like_integers(std::string_view name);      // of a pointer: indices, cu_seqlens, labels
bool looks_like_float(std::string_view name);         // eps, scale, alpha
bool looks_like_flag(std::string_view name);          // IS_CAUSAL, HAS_BIAS
bool looks_like_type(std::string_view name);          // out_dtype
bool looks_like_stride(std::string_view name);        // stride_am, x_row_stride, s_k_h
bool looks_like_count(std::string_view name);         // of things that are few: heads, groups
// A block is of `size`, a whole dimension of `extent`; numbers of heads and the like are small.
std::int64_t plausible_number(std::string_view name, std::int64_t size, std::int64_t extent);

}  // namespace tilewright
