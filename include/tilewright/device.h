// SPDX-License-Identifier: Apache-2.0
// tilewright/device.h — a device is a small value, "cpu" or "cuda:N"; this is what can be asked of
// it.
//
// CUDA devices are used through their primary context, as the CUDA runtime and PyTorch do, so that
// memory, streams and kernels mix with theirs. No CUDA library is needed to call anything here:
// without one `cuda_device_count()` is 0 and `why_no_cuda()` says what is missing and how to get
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/target.h"

namespace tilewright {

struct DeviceProperties;

struct MemoryState {
  std::size_t free = 0;
  std::size_t total = 0;
  std::size_t cached = 0;  // held by our allocator, not in use
  std::size_t in_use = 0;  // handed out by our allocator
};

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;

  static Device cpu() { return {DeviceKind::Cpu, 0}; }
  static Device cuda(int index = 0) { return {DeviceKind::Cuda, index}; }
  static Device parse(std::string_view text);  // "cpu", "cuda", "cuda:1"; throws ArgumentError

  bool is_cpu() const { return kind == DeviceKind::Cpu; }
  bool is_cuda() const { return kind == DeviceKind::Cuda; }
  std::string name() const;  // "cpu", "cuda:0"

  // These throw MissingError when the device is not on this machine.
  const DeviceProperties& properties() const;
  const Target& target() const;
  MemoryState memory() const;
  void synchronize() const;  // waits for all work; reports a kernel that faulted
  void release_cached_memory() const;

  friend bool operator==(const Device&, const Device&) = default;
};

struct DeviceProperties {
  std::string name;  // "NVIDIA H200", "AMD EPYC ..."
  Target target;
  std::size_t total_memory = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  int max_grid[3] = {0, 0, 0};
  int max_block[3] = {0, 0, 0};
  int numa_nodes = 1;
  bool can_map_host_memory = false;
  bool has_managed_memory = false;
  bool has_memory_pools = false;
};

int cuda_device_count();
std::string why_no_cuda();      // empty when there is a usable GPU
std::vector<Device> devices();  // the CPU first, then every GPU
Device default_device();        // cuda:0 when there is one, else cpu

}  // namespace tilewright
