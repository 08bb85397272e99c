// SPDX-License-Identifier: Apache-2.0
// runtime/gpu_clocks.h — the clock of a GPU at this moment, and why it is not higher.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/device.h"

namespace tilewright {

struct GpuClocks {
  bool is_known = false;  // false on a CPU, and where the driver's management library is missing
  int processor_mhz = 0;
  int max_processor_mhz = 0;
  int temperature = 0;        // degrees Celsius
  std::uint64_t reasons = 0;  // bits of the management library
};
GpuClocks read_gpu_clocks(Device device);

// "the clock is 1200 of 1980 MHz (power limit, 84 C)" when the GPU holds itself back, else empty.
std::string throttle_note(const GpuClocks& clocks);

inline std::string clock_note(Device device) {
  return device.is_cuda() ? throttle_note(read_gpu_clocks(device)) : std::string();
}

}  // namespace tilewright
