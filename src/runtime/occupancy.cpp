// SPDX-License-Identifier: Apache-2.0
// runtime/occupancy.cpp — the arithmetic of resident blocks.
#include "runtime/occupancy.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/units.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr int partitions = 4;  // of a multiprocessor, each with a quarter of its registers

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return unit > 0 ? (value + unit - 1) / unit * unit : value;
}

int warps_of(const Target& target, int threads) {
  return (threads + target.warp_size - 1) / target.warp_size;
}

void check_block(const Target& target, const BlockResources& block) {
  if (!target.is_cuda())
    throw ArgumentError(
        fmt::format("occupancy is a property of GPUs; '{}' is a CPU target, give one like sm_90a",
                    target.name));
  const auto check = [&](bool is_right, const char* what, const std::string& range,
                         std::int64_t value) {
    if (!is_right)
      throw ArgumentError(
          fmt::format("{} must be {} on {}, got {}", what, range, target.name, value));
  };
  check(block.threads >= 1 && block.threads <= target.max_threads_per_block, "threads per block",
        fmt::format("1 to {}", target.max_threads_per_block), block.threads);
  check(block.registers >= 1 && block.registers <= target.max_registers_per_thread,
        "registers per thread", fmt::format("1 to {}", target.max_registers_per_thread),
        block.registers);
  check(block.shared_bytes >= 0 && block.shared_bytes <= target.shared_bytes_per_block_optin,
        "shared memory per block",
        fmt::format("0 to {} bytes", target.shared_bytes_per_block_optin), block.shared_bytes);
}

int blocks_by_registers(const Target& target, const BlockResources& block) {
  const std::int64_t per_warp =
      round_up(std::int64_t{block.registers} * target.warp_size, target.register_allocation_unit);
  const std::int64_t warps_per_partition = target.registers_per_processor / partitions / per_warp;
  return static_cast<int>(warps_per_partition * partitions / warps_of(target, block.threads));
}

int blocks_by_shared_memory(const Target& target, const BlockResources& block) {
  const std::int64_t per_block = round_up(
      block.shared_bytes + target.shared_bytes_reserved_per_block, target.shared_allocation_unit);
  if (per_block == 0) return target.max_blocks_per_processor;
  return static_cast<int>(target.shared_bytes_per_processor / per_block);
}

}  // namespace

std::string name_of(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::Blocks:
      return "blocks";
    case OccupancyLimit::Threads:
      return "threads";
    case OccupancyLimit::Registers:
      return "registers";
    case OccupancyLimit::SharedMemory:
      return "shared memory";
  }
  TW_UNREACHABLE("occupancy limit {}", static_cast<int>(limit));
}

Occupancy occupancy(const Target& target, const BlockResources& block) {
  check_block(target, block);
  const int warps = warps_of(target, block.threads);
  Occupancy o;
  o.max_warps_per_processor = target.max_threads_per_processor / target.warp_size;
  o.blocks_by_count = target.max_blocks_per_processor;
  o.blocks_by_threads = o.max_warps_per_processor / warps;
  o.blocks_by_registers = blocks_by_registers(target, block);
  o.blocks_by_shared_memory = blocks_by_shared_memory(target, block);
  o.blocks_per_processor = std::min(
      {o.blocks_by_count, o.blocks_by_threads, o.blocks_by_registers, o.blocks_by_shared_memory});
  if (o.blocks_by_count == o.blocks_per_processor) o.limits.push_back(OccupancyLimit::Blocks);
  if (o.blocks_by_threads == o.blocks_per_processor) o.limits.push_back(OccupancyLimit::Threads);
  if (o.blocks_by_registers == o.blocks_per_processor)
    o.limits.push_back(OccupancyLimit::Registers);
  if (o.blocks_by_shared_memory == o.blocks_per_processor)
    o.limits.push_back(OccupancyLimit::SharedMemory);
  o.warps_per_processor = o.blocks_per_processor * warps;
  o.fraction = static_cast<double>(o.warps_per_processor) / o.max_warps_per_processor;
  return o;
}

Waves waves_of(const Target& target, const Occupancy& o, std::int64_t grid_blocks) {
  Waves w;
  w.blocks_per_wave = std::int64_t{target.processors} * o.blocks_per_processor;
  if (w.blocks_per_wave == 0 || grid_blocks <= 0) return w;
  w.waves = static_cast<double>(grid_blocks) / static_cast<double>(w.blocks_per_wave);
  w.full_waves = grid_blocks / w.blocks_per_wave;
  w.tail_blocks = grid_blocks % w.blocks_per_wave;
  w.efficiency = w.waves / static_cast<double>(w.full_waves + (w.tail_blocks > 0 ? 1 : 0));
  return w;
}

std::string tail_fault(const Waves& w) {
  if (w.blocks_per_wave == 0 || w.efficiency >= 0.85) return {};
  if (w.full_waves == 0)
    return fmt::format(
        "{} block{} where {} could run at once: {:.0f}% of the GPU idles; give it "
        "more and smaller blocks",
        w.tail_blocks, w.tail_blocks == 1 ? "" : "s", w.blocks_per_wave, 100 * (1 - w.efficiency));
  return fmt::format(
      "the last of {} waves has {} of {} blocks: {:.0f}% of the GPU's time is an "
      "idle tail; other block sizes, or a loop over blocks, fill it",
      w.full_waves + 1, w.tail_blocks, w.blocks_per_wave, 100 * (1 - w.efficiency));
}

int suggest_threads(const Target& target, int registers, std::int64_t shared_bytes) {
  int best_threads = 0;
  int best_warps = 0;
  for (int threads = target.max_threads_per_block; threads > 0; threads -= target.warp_size) {
    const int warps = occupancy(target, {threads, registers, shared_bytes}).warps_per_processor;
    if (warps > best_warps) {
      best_warps = warps;
      best_threads = threads;
    }
  }
  return best_threads;
}

NextStep next_step(const Target& target, const BlockResources& block) {
  const int now = occupancy(target, block).blocks_per_processor;
  NextStep step;
  BlockResources less = block;
  while (--less.registers >= 16 && step.registers < 0)
    if (occupancy(target, less).blocks_per_processor > now) step.registers = less.registers;
  if (blocks_by_shared_memory(target, block) > now) return step;
  // The most shared memory with which one more block fits, from the allocation rule itself.
  const std::int64_t share = target.shared_bytes_per_processor / (now + 1) /
                             target.shared_allocation_unit * target.shared_allocation_unit;
  less = block;
  less.shared_bytes = share - target.shared_bytes_reserved_per_block;
  if (less.shared_bytes >= 0 && less.shared_bytes < block.shared_bytes &&
      occupancy(target, less).blocks_per_processor > now)
    step.shared_bytes = less.shared_bytes;
  return step;
}

}  // namespace tilewright
