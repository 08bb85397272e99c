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

// Attention whose second product is delayed: two consumers take their turns by themselves; a slot
// of V is held until the next round. Tutorial 06 forward on an H200, head dim 128, TFLOP/s at 16k
// full / causal, 4k full / causal: 128 x 128, 8 warps and 3 slots 624 / 584, 584 / 484; 2 slots 508
// / 493; not delayed 544 / 517; without roles (128 x 64, 4 warps) 511 / 491, 489 / 418; cuDNN 628 /
// 570, 604 / 509. With 64 columns 502 / 516, at head dim 64 343 / 349 (423 / 409 without).
constexpr int warps_with_delayed_roles = 8, least_slots_with_delayed_roles = 3;
constexpr std::int64_t least_sums_with_delayed_roles = 128 * 128;

}  // namespace tilewright
