// SPDX-License-Identifier: Apache-2.0
// passes/roles/model.h — where a producer and tensor maps pay.
#pragma once

#include <cstdint>

namespace tilewright {

// Two warpgroups that multiply leave registers for a third one that copies; results of a product
// this wide take long enough to store that the next program's copies should not wait for it.
// Smaller tiles run several blocks on a multiprocessor, which fill each other's gaps.
constexpr int least_warps_with_roles = 8;
constexpr std::int64_t least_sums_with_roles = 128 * 256;
// Registers of a thread of the producer and of the consumers: with those a block of three
// warpgroups has 65536 in all.
constexpr std::int64_t producer_registers = 40, consumer_registers = 232;
// One slot that products read, one that comes next and one that is being filled: with fewer, rounds
// are taken into shallower ones (split_rounds.h). Tutorial 03 in tf32 on an H200, 4096^3, of
// cuBLAS: 128 x 256 x 64 with roles and four slots of half the depth 1.046; the best without roles,
// 128 x 128 x 32 and 4 warps, 0.811; Triton 0.976.
constexpr int least_slots_of_products = 3;
// Others of 128 x 256 on an H200, of cuBLAS in one run: Triton's tutorial 09 with roles (results
// exchanged by lanes) 0.976, 0.994, 1.070 at 2048^3, 4096^3, 8192^3 and 0.998 at 8192 x 8192 x 512,
// without 0.873, 0.868, 0.887, 0.738, with roles but stores behind the products 0.975, 0.974, 1.037,
// 0.889; fp8 at 8192^3 1.013, without 0.977.

// Deferred results go out by tensor maps (store_by_maps.h) where they are tiles of a tensor. On an
// H200, 128 x 256 x 64, of cuBLAS in two runs, stored by lanes and by maps: tutorial 03 8192 x 8192 x
// 512 1.004 and 1.086, 1.016 and 1.103; 4096 x 14336 x 4096 0.993 and 1.009, 0.994 and 1.011; 4096^3
// 1.004 and 1.018, 1.012 and 1.025; 8192^3 1.035 and 1.043, 1.025 and 1.034; 2048^3, where a block
// has one tile, 0.986 and 0.990, 0.981 and 0.981. Tutorial 09 0.991 and 1.068, 1.001 and 1.078; 0.988
// and 1.002, 0.993 and 1.006; 1.006 and 1.014, 1.003 and 1.011; 1.024 and 1.035, 1.023 and 1.027;
// 2048^3 0.974 and 0.971, 0.977 and 0.970.
constexpr bool stores_deferred_by_maps = true;

// Attention whose second product is delayed: two consumers take their turns by themselves. Tutorial
// 06 forward on an H200, head dim 128, of cuDNN in the same run at 16k full / causal, 4k full /
// causal: 128 x 128, 8 warps and 2 slots 1.026 / 1.11, 0.979 / 1.01; 3 slots 1.015 / 1.11, 0.964 /
// 1.00. A slot of V held until the next round 0.81 / 0.86 with two, 0.99 / 1.03 with three; not
// delayed 0.87 / 0.91; without roles (128 x 64, 4 warps) 0.81 / 0.86.
// Turns by named barriers (texts changed by hand): 1.025 / 1.10, 0.987 / 1.03. The last programs
// first (last_programs_first), 16k and 4k causal: 600 TFLOP/s against 596 and 496 against 499; 603
// and 601, 493 and 499 in another run; examples/attention.py 590 and 594, 495 and 493.
// Head dim 64: 128 x 64 0.80 / 0.83, 0.77 / 0.80 against 0.97 / 0.94, 0.92 / 0.94 without roles
// (64 x 64, 4 warps); 128 x 128 (examples/attention.py) 0.94 / 0.99, 0.92 / 0.92 against 1.04 /
// 1.07, 1.04 / 1.00: two blocks on a multiprocessor are better.
constexpr int warps_with_delayed_roles = 8, least_slots_with_delayed_roles = 2;
constexpr std::int64_t least_sums_with_delayed_roles = 128 * 128;

}  // namespace tilewright
