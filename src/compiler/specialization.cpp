// SPDX-License-Identifier: Apache-2.0
// compiler/specialization.cpp — from source to a function, for the place where it runs.
#include "compiler/specialization.h"

#include <atomic>

#include <fmt/format.h>

#include "codegen/cuda/emit.h"
#include "tilewright/error.h"

namespace tilewright {

std::uint64_t new_specialization_number() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

const Target& LaunchPlace::target() const {
  if (emulate != nullptr) return *emulate;
  return interpret ? Target::host() : device.target();
}

void check_emulated(std::string_view kernel, const LaunchPlace& place) {
  if (place.emulate == nullptr) return;
  if (!place.device.is_cpu())
    throw ArgumentError(
        fmt::format("kernel '{}' is to be emulated on the CPU, but its arguments are on {}; move "
                    "them to the CPU",
                    kernel, place.device.name()));
  if (!place.emulate->is_cuda())
    throw ArgumentError(fmt::format(
        "kernel '{}' cannot be emulated for the target {}, which has no CUDA text; sm_90a has one",
        kernel, place.emulate->name));
}

KernelSource place_source(const KernelSource& source, const LaunchPlace& place) {
  return place.emulate != nullptr ? emulate_source(source) : source;
}

Function load_function(const KernelSource& source, Device device) {
  return Module::load(source, device).function(source.kernels.front().name);
}

}  // namespace tilewright
