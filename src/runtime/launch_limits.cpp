// SPDX-License-Identifier: Apache-2.0
// runtime/launch_limits.cpp — the limits of a device and a kernel, and the sentences about
// exceeding them.
#include "runtime/launch_limits.h"

#include <algorithm>

#include "base/check.h"
#include "base/units.h"

namespace tilewright {
namespace {

constexpr char axis_names[] = {'x', 'y', 'z'};

// Emulated CUDA kernels have the limits of the largest GPU we know, so that what runs here also
// runs there.
constexpr std::uint64_t cpu_threads_per_block = 1024;
constexpr std::uint64_t cpu_shared_bytes = 227 << 10;
constexpr std::uint64_t cluster_blocks_with_hardware = 16;

void check_grid(const std::string& kernel, const LaunchLimits& limits, const LaunchSizes& sizes) {
  for (int axis = 0; axis < 3; ++axis) {
    if (sizes.grid[axis] < 0)
      throw ArgumentError(
          fmt::format("the grid of kernel '{}' has size {} along {}; it must be 0 or more", kernel,
                      sizes.grid[axis], axis_names[axis]));
    if (static_cast<std::uint64_t>(sizes.grid[axis]) > limits.grid[axis])
      throw ArgumentError(
          fmt::format("the grid of kernel '{}' has size {} along {}; {} allows at most {}", kernel,
                      sizes.grid[axis], axis_names[axis], limits.device.name(), limits.grid[axis]));
  }
}

void check_block(const std::string& kernel, const LaunchLimits& limits, const LaunchSizes& sizes) {
  for (int axis = 0; axis < 3; ++axis) {
    if (sizes.block[axis] < 1)
      throw ArgumentError(
          fmt::format("the block of kernel '{}' has size {} along {}; it must be 1 or more", kernel,
                      sizes.block[axis], axis_names[axis]));
    if (static_cast<std::uint64_t>(sizes.block[axis]) > limits.block[axis])
      throw ArgumentError(fmt::format(
          "the block of kernel '{}' has size {} along {}; {} allows at most {}", kernel,
          sizes.block[axis], axis_names[axis], limits.device.name(), limits.block[axis]));
  }
  const auto threads = static_cast<std::uint64_t>(sizes.block[0] * sizes.block[1] * sizes.block[2]);
  if (threads > limits.device_threads)
    throw ArgumentError(
        fmt::format("the block of kernel '{}' has {} x {} x {} = {} threads; {} allows at most {}",
                    kernel, sizes.block[0], sizes.block[1], sizes.block[2], threads,
                    limits.device.name(), limits.device_threads));
  if (threads > limits.threads)
    throw ArgumentError(fmt::format(
        "the block of kernel '{}' has {} x {} x {} = {} threads; its registers or launch bounds "
        "allow at most {}",
        kernel, sizes.block[0], sizes.block[1], sizes.block[2], threads, limits.threads));
}

void check_shared(const std::string& kernel, const LaunchLimits& limits, const LaunchSizes& sizes) {
  if (sizes.shared_bytes < 0)
    throw ArgumentError(
        fmt::format("kernel '{}' is given {} bytes of shared memory; it must be 0 or more", kernel,
                    sizes.shared_bytes));
  const std::uint64_t dynamic = static_cast<std::uint64_t>(sizes.shared_bytes);
  if (dynamic > limits.shared - limits.static_shared)
    throw ArgumentError(
        fmt::format("kernel '{}' needs {} bytes of shared memory per block ({} static, {} "
                    "dynamic); {} allows at most {}",
                    kernel, limits.static_shared + dynamic, limits.static_shared, dynamic,
                    limits.device.name(), limits.shared));
}

void check_cluster(const std::string& kernel, const LaunchLimits& limits,
                   const LaunchSizes& sizes) {
  for (int axis = 0; axis < 3; ++axis) {
    if (sizes.cluster[axis] < 1)
      throw ArgumentError(
          fmt::format("the cluster of kernel '{}' has size {} along {}; it must be 1 or more",
                      kernel, sizes.cluster[axis], axis_names[axis]));
    if (sizes.cluster[axis] > 1 && limits.cluster_blocks == 1)
      throw ArgumentError(
          fmt::format("kernel '{}' is launched in clusters, which {} does not have; leave them out",
                      kernel, limits.device.name()));
    if (static_cast<std::uint64_t>(sizes.cluster[axis]) > limits.cluster_blocks)
      throw ArgumentError(fmt::format(
          "the cluster of kernel '{}' has size {} along {}; {} allows at most {} blocks", kernel,
          sizes.cluster[axis], axis_names[axis], limits.device.name(), limits.cluster_blocks));
    if (sizes.grid[axis] % sizes.cluster[axis] != 0)
      throw ArgumentError(fmt::format(
          "the grid of kernel '{}' has size {} along {}, which is no multiple of its cluster's {}",
          kernel, sizes.grid[axis], axis_names[axis], sizes.cluster[axis]));
  }
  throw ArgumentError(
      fmt::format("the cluster of kernel '{}' has {} x {} x {} blocks; {} allows at most {}",
                  kernel, sizes.cluster[0], sizes.cluster[1], sizes.cluster[2],
                  limits.device.name(), limits.cluster_blocks));
}

}  // namespace

LaunchLimits launch_limits(Device device, LoadedKernel& kernel) {
  const DeviceProperties& properties = device.properties();
  const FunctionAttributes attributes = kernel.attributes();
  LaunchLimits limits{};
  limits.device = device;
  for (int axis = 0; axis < 3; ++axis) {
    limits.grid[axis] = static_cast<std::uint64_t>(properties.max_grid[axis]);
    limits.block[axis] = static_cast<std::uint64_t>(properties.max_block[axis]);
  }
  const Target& target = properties.target;
  limits.device_threads = target.is_cuda()
                              ? static_cast<std::uint64_t>(target.max_threads_per_block)
                              : cpu_threads_per_block;
  limits.shared = target.is_cuda() ? static_cast<std::uint64_t>(target.shared_bytes_per_block_optin)
                                   : cpu_shared_bytes;
  const auto most_threads = static_cast<std::uint64_t>(std::max(attributes.max_threads_per_block, 0));
  // An emulated cluster is one block, with the threads and the shared memory of all of its blocks.
  if (!target.is_cuda() && most_threads > cpu_threads_per_block) {
    limits.block[0] = limits.device_threads = most_threads;
    limits.shared *= most_threads / cpu_threads_per_block;
  }
  limits.threads = limits.device_threads;
  if (most_threads > 0) limits.threads = std::min(limits.threads, most_threads);
  limits.static_shared = std::min<std::uint64_t>(attributes.shared_bytes, limits.shared);
  limits.cluster_blocks = target.has(Feature::Clusters) ? cluster_blocks_with_hardware : 1;
  return limits;
}

void throw_sizes_out_of_range(const std::string& kernel, const LaunchLimits& limits,
                              const LaunchSizes& sizes) {
  check_grid(kernel, limits, sizes);
  check_block(kernel, limits, sizes);
  check_shared(kernel, limits, sizes);
  check_cluster(kernel, limits, sizes);
  TW_UNREACHABLE("the sizes of kernel '{}' are in range", kernel);
}

}  // namespace tilewright
