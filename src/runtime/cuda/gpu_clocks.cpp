// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/gpu_clocks.cpp — asks the driver's management library (NVML), opened at run time.
#include "runtime/gpu_clocks.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/dynamic_library.h"
#include "runtime/backend.h"
#include "runtime/cuda/driver_api.h"

namespace tilewright {
namespace {

// Declared by ourselves, as the driver is; values as in nvml.h.
using NvmlDevice = struct NvmlDeviceStruct*;
constexpr int nvml_success = 0;
constexpr int processor_clock = 1;
constexpr int gpu_temperature = 0;

struct Nvml {
  int (*init)() = nullptr;
  int (*handle_by_bus)(const char*, NvmlDevice*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*max_clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  bool is_usable = false;
};

template <class Function>
bool look_up(const DynamicLibrary& library, const char* name, Function*& slot) {
  slot = reinterpret_cast<Function*>(library.symbol(name));
  return slot != nullptr;
}

Nvml open_nvml() {
  Nvml nvml;
  DynamicLibrary library = DynamicLibrary::open("libnvidia-ml.so.1");
  if (!library) return nvml;
  nvml.is_usable = look_up(library, "nvmlInit_v2", nvml.init) &&
                   look_up(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.handle_by_bus) &&
                   look_up(library, "nvmlDeviceGetClockInfo", nvml.clock) &&
                   look_up(library, "nvmlDeviceGetMaxClockInfo", nvml.max_clock) &&
                   look_up(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.reasons) &&
                   look_up(library, "nvmlDeviceGetTemperature", nvml.temperature) &&
                   nvml.init() == nvml_success;
  library.leak();
  return nvml;
}

// The bits that mean "held back"; idle and a clock that was set on purpose do not.
struct Reason {
  std::uint64_t bit;
  const char* name;
};
constexpr std::array held_back = {Reason{0x4, "power limit"}, Reason{0x8, "hardware slowdown"},
                                  Reason{0x20, "too warm"}, Reason{0x40, "too warm, by hardware"},
                                  Reason{0x80, "power brake"}};

}  // namespace

GpuClocks read_gpu_clocks(Device device) {
  GpuClocks clocks;
  if (!device.is_cuda()) return clocks;
  static_cast<void>(checked_backend(device));
  static const Nvml nvml = open_nvml();
  char bus[32] = {};
  cuda::CUdevice handle = 0;
  NvmlDevice found = nullptr;
  if (!nvml.is_usable || cuda::driver().cuDeviceGet(&handle, device.index) != cuda::CUDA_SUCCESS ||
      cuda::driver().cuDeviceGetPCIBusId(bus, sizeof bus, handle) != cuda::CUDA_SUCCESS ||
      nvml.handle_by_bus(bus, &found) != nvml_success)
    return clocks;
  unsigned now = 0, most = 0, warmth = 0;
  unsigned long long reasons = 0;
  clocks.is_known = nvml.clock(found, processor_clock, &now) == nvml_success &&
                    nvml.max_clock(found, processor_clock, &most) == nvml_success &&
                    nvml.reasons(found, &reasons) == nvml_success;
  static_cast<void>(nvml.temperature(found, gpu_temperature, &warmth));
  clocks.processor_mhz = static_cast<int>(now);
  clocks.max_processor_mhz = static_cast<int>(most);
  clocks.temperature = static_cast<int>(warmth);
  clocks.reasons = reasons;
  return clocks;
}

std::string throttle_note(const GpuClocks& clocks) {
  std::vector<const char*> names;
  for (const Reason& reason : held_back)
    if (clocks.reasons & reason.bit) names.push_back(reason.name);
  // Held back by less than two percent explains nothing.
  const bool is_full = 100 * clocks.processor_mhz > 98 * clocks.max_processor_mhz;
  if (!clocks.is_known || names.empty() || is_full) return {};
  return fmt::format("the clock is {} of {} MHz ({}, {} C)", clocks.processor_mhz,
                     clocks.max_processor_mhz, fmt::join(names, ", "), clocks.temperature);
}

}  // namespace tilewright
