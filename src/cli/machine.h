// SPDX-License-Identifier: Apache-2.0
// cli/machine.h — everything that `tilewright info` says about this machine, as data.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/ceilings.h"
#include "runtime/components.h"
#include "runtime/disk_cache.h"
#include "tilewright/device.h"

namespace tilewright::cli {

struct DeviceReport {
  Device device;
  DeviceProperties properties;
  MemoryState memory;
  Ceiling copy;
  Ceiling multiply_add;
  std::vector<std::pair<DType, Ceiling>> matrix;  // of products, by the type of the operands
};

// A program or library: the host compiler beside the parts of CUDA.
using Component = ComponentStatus;

struct MachineReport {
  std::string version;
  bool is_measured = false;
  std::vector<DeviceReport> devices;
  std::string why_no_cuda;
  std::vector<Component> components;
  DiskCache::Info cache;
};

// `measure`: the ceilings too, about a second per device.
MachineReport look_at_machine(bool measure);

}  // namespace tilewright::cli
