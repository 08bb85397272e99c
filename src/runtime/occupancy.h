// SPDX-License-Identifier: Apache-2.0
// runtime/occupancy.h — how many blocks of a kernel one multiprocessor holds at a time, and what
// limits them.
//
// From a target's numbers alone; no GPU is needed. A multiprocessor has four partitions with their
// own registers; a warp lives in one of them and takes its registers in allocation units. Shared
// memory is taken per block, in units, with what the system reserves for itself added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/target.h"

namespace tilewright {

struct BlockResources {
  int threads = 256;
  int registers = 32;             // per thread
  std::int64_t shared_bytes = 0;  // static and dynamic, per block
};

enum class OccupancyLimit { Blocks, Threads, Registers, SharedMemory };
std::string name_of(OccupancyLimit limit);  // "registers"

struct Occupancy {
  int blocks_per_processor = 0;
  int warps_per_processor = 0;
  int max_warps_per_processor = 0;
  double fraction = 0;                 // of the warps that could be resident
  std::vector<OccupancyLimit> limits;  // the resources that no further block fits into
  // How many blocks each resource alone would allow.
  int blocks_by_count = 0;
  int blocks_by_threads = 0;
  int blocks_by_registers = 0;
  int blocks_by_shared_memory = 0;
};

// Throws ArgumentError when such a block cannot run on the target at all, or the target is no GPU.
Occupancy occupancy(const Target& target, const BlockResources& block);

// A grid in waves: all multiprocessors full, then what is left over.
struct Waves {
  std::int64_t blocks_per_wave = 0;
  double waves = 0;  // 2.25: two full ones and a quarter of one
  std::int64_t full_waves = 0;
  std::int64_t tail_blocks = 0;  // of the last wave, when it is not full
  double efficiency = 0;         // waves / ceil(waves): 1 when the last wave is full
};
Waves waves_of(const Target& target, const Occupancy& occupancy, std::int64_t grid_blocks);

// A sentence when the last wave leaves much of the GPU idle for long; empty otherwise.
std::string tail_fault(const Waves& waves);

// The largest block size, in whole warps, of those with the highest occupancy.
int suggest_threads(const Target& target, int registers, std::int64_t shared_bytes);

// The smallest savings that let one more block fit; -1 where that resource alone does not do it.
struct NextStep {
  int registers = -1;              // at most so many per thread
  std::int64_t shared_bytes = -1;  // at most so many per block
};
NextStep next_step(const Target& target, const BlockResources& block);

}  // namespace tilewright
