// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/properties.cpp — fills DeviceProperties and Target from driver attributes.
#include "runtime/cuda/properties.h"

#include <array>

#include <fmt/format.h>

#include "machine/cuda.h"
#include "runtime/cuda/errors.h"

namespace tilewright::cuda {
namespace {

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  TW_CUDA(cuDeviceGetAttribute(&value, which, device));
  return value;
}

// The variant with all instructions of the chip where there is one; NVRTC 12 and newer know it for
// every architecture that they know.
std::string target_name(int major, int minor) {
  const bool has_variant = (major == 9 || major == 10) && minor == 0;
  return fmt::format("sm_{}{}{}", major, minor, has_variant ? "a" : "");
}

// What the driver does not tell (allocation units, instructions) comes from the nearest
// architecture that we know.
Target nearest_known_target(int major, int minor) {
  const int number = major * 10 + minor;
  if (number >= 120) return Target::parse("sm_120");
  if (number >= 100) return Target::parse("sm_100a");
  if (number >= 90) return Target::parse("sm_90a");
  if (number >= 80) return Target::parse("sm_80");
  return Target::parse("sm_75");
}

Target read_target(CUdevice device) {
  const int major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  Target t = nearest_known_target(major, minor);
  t.name = target_name(major, minor);
  t.capability_major = major;
  t.capability_minor = minor;
  t.features = cuda_features(t.name, major, minor);
  t.processors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  t.warp_size = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  t.max_threads_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  t.max_threads_per_processor =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  t.max_blocks_per_processor = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  t.registers_per_processor =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  t.registers_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  t.shared_bytes_per_processor =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  t.shared_bytes_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  t.shared_bytes_per_block_optin =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  t.shared_bytes_reserved_per_block =
      attribute(device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  t.l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  return t;
}

}  // namespace

DeviceProperties read_properties(int index) {
  active_device = index;
  CUdevice device = 0;
  TW_CUDA(cuDeviceGet(&device, index));
  std::array<char, 256> name{};
  TW_CUDA(cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device));
  DeviceProperties p;
  p.name = name.data();
  p.target = read_target(device);
  TW_CUDA(cuDeviceTotalMem_v2(&p.total_memory, device));
  p.clock_khz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  p.memory_clock_khz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  p.memory_bus_bits = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  constexpr CUdevice_attribute grid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                         CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                         CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
  constexpr CUdevice_attribute block[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                          CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                          CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  for (int axis = 0; axis < 3; ++axis) {
    p.max_grid[axis] = attribute(device, grid[axis]);
    p.max_block[axis] = attribute(device, block[axis]);
  }
  p.can_map_host_memory = attribute(device, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) != 0;
  p.has_managed_memory = attribute(device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) != 0;
  p.has_memory_pools = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
  return p;
}

}  // namespace tilewright::cuda
