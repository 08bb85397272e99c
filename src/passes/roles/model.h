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

}  // namespace tilewright
