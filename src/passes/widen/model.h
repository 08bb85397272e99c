// SPDX-License-Identifier: Apache-2.0
// passes/widen/model.h — where two rounds as one pay.
//
// Triton's tutorial 06 on an H200, 4 x 16 heads, 16k and 4k rows, its blocks as they are and twice
// as wide (given as constants), TFLOP/s:
//   forward, head dim 64, full: 64 x 64, 4 warps 433, 410; 64 x 128 450, 422. 128 x 128, 8 warps,
//   two blocks on a multiprocessor (compiler/pack_blocks.h) 462, 442, causal 454, 380 (64 x 64 425,
//   373). backward, causal, 8 warps: head dim 128 (one block in any case) 344, 315; wide 436, 402;
//   by the passes 380, 348 and 430, 392. Head dim 64 362, 322; wide, which leaves room for one
//   block alone, 317, 288; with 4 warps and the loop of dQ alone wide (192 registers) 285, 260
//   against 354, 320.
#pragma once

#include <cstdint>

namespace tilewright {

// Columns of a product beyond which a wider one gains nothing.
constexpr std::int64_t most_columns_of_rounds = 128;
// Registers of a thread for the sums that the loop carries and the products of a round; of a block
// that is alone on its multiprocessor; what a thread needs besides where two share it.
constexpr std::int64_t most_registers_of_rounds = 128, most_registers_alone = 192;
constexpr std::int64_t registers_of_the_rest = 32;

}  // namespace tilewright
