// SPDX-License-Identifier: Apache-2.0
// passes/carried_sums.h — how many registers of a thread the sums of products take that a loop carries.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

// Of the loop that carries most, among those that carry at least so many sums; 0 on machines without
// threads.
std::int64_t carried_sums(const ir::Kernel& kernel, const Target& target, int num_warps,
                          int least_sums = 1);

// Beyond this products stay as they were written, by warps' instructions: sums are spilled then, and what is computed beside them
// step by step loses least. The gradients of Triton's attention tutorial at head dimension 128 (256 words, 4 warps), full and
// causal, on an H200 in TFLOP/s: 164 and 105; by warpgroups 107 and 79, with the sums in the products 127 and 90, with both 134
// and 100. At head dimension 64 (128 words) both together are best: 331 and 300 instead of 284 and 252.
constexpr std::int64_t most_carried_sums = 192;

}  // namespace tilewright
