// SPDX-License-Identifier: Apache-2.0
// runtime/device.cpp — names of devices, and what can be asked of them.
#include "tilewright/device.h"

#include <charconv>

#include "base/check.h"
#include "runtime/backend.h"

namespace tilewright {

Device Device::parse(std::string_view text) {
  if (text == "cpu") return cpu();
  if (text == "cuda") return cuda();
  if (text.starts_with("cuda:")) {
    const std::string_view digits = text.substr(5);
    int index = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (status == std::errc{} && end == digits.data() + digits.size() && index >= 0)
      return cuda(index);
  }
  throw ArgumentError(
      fmt::format("'{}' is not a device; write cpu, cuda or cuda:N with N counted from 0", text));
}

std::string Device::name() const { return is_cpu() ? "cpu" : fmt::format("cuda:{}", index); }

const DeviceProperties& Device::properties() const {
  return checked_backend(*this).properties(index);
}

const Target& Device::target() const { return properties().target; }

MemoryState Device::memory() const { return checked_backend(*this).memory(index); }

void Device::synchronize() const { checked_backend(*this).synchronize(index); }

void Device::release_cached_memory() const { checked_backend(*this).release_cached_memory(index); }

std::vector<Device> devices() {
  std::vector<Device> all = {Device::cpu()};
  for (int i = 0; i < cuda_device_count(); ++i) all.push_back(Device::cuda(i));
  return all;
}

Device default_device() {
  static const Device device = cuda_device_count() > 0 ? Device::cuda() : Device::cpu();
  return device;
}

}  // namespace tilewright
