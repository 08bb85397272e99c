// SPDX-License-Identifier: Apache-2.0
// runtime/launch_limits.h — what sizes a kernel may be launched with on its device.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/backend.h"

namespace tilewright {

// Sizes as the user or the plan gave them, not yet known to be in range.
struct LaunchSizes {
  std::int64_t grid[3];
  std::int64_t block[3];
  std::int64_t cluster[3];
  std::int64_t shared_bytes;  // dynamic

  bool is_empty() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }
};

struct LaunchLimits {
  Device device;
  std::uint64_t grid[3];
  std::uint64_t block[3];
  std::uint64_t device_threads;  // per block
  std::uint64_t
      threads;  // per block of this kernel: fewer when its registers or launch bounds say so
  std::uint64_t static_shared;
  std::uint64_t shared;          // static and dynamic together
  std::uint64_t cluster_blocks;  // 1: the device has no clusters

  bool allow(const LaunchSizes& sizes) const;
};

LaunchLimits launch_limits(Device device, LoadedKernel& kernel);

// Says which size is out of range; called when `allow` was false.
[[noreturn]] void throw_sizes_out_of_range(const std::string& kernel, const LaunchLimits& limits,
                                           const LaunchSizes& sizes);

// A grid size of 0 is in range. Products are of sizes already known to be small.
inline bool LaunchLimits::allow(const LaunchSizes& s) const {
  const auto is_within = [](std::int64_t size, std::uint64_t limit) {
    return static_cast<std::uint64_t>(size) - 1 < limit;
  };
  const bool grid_fits = static_cast<std::uint64_t>(s.grid[0]) <= grid[0] &&
                         static_cast<std::uint64_t>(s.grid[1]) <= grid[1] &&
                         static_cast<std::uint64_t>(s.grid[2]) <= grid[2];
  const bool block_fits =
      is_within(s.block[0], block[0]) && is_within(s.block[1], block[1]) &&
      is_within(s.block[2], block[2]) &&
      static_cast<std::uint64_t>(s.block[0] * s.block[1] * s.block[2]) <= threads;
  const bool shared_fits = static_cast<std::uint64_t>(s.shared_bytes) <= shared - static_shared;
  const bool is_plain = s.cluster[0] == 1 && s.cluster[1] == 1 && s.cluster[2] == 1;
  if (grid_fits && block_fits && shared_fits && is_plain) [[likely]]
    return true;
  if (!grid_fits || !block_fits || !shared_fits) return false;
  for (int axis = 0; axis < 3; ++axis)
    if (!is_within(s.cluster[axis], cluster_blocks) || s.grid[axis] % s.cluster[axis] != 0)
      return false;
  return static_cast<std::uint64_t>(s.cluster[0] * s.cluster[1] * s.cluster[2]) <= cluster_blocks;
}

}  // namespace tilewright
