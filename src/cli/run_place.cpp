// SPDX-License-Identifier: Apache-2.0
// cli/run_place.cpp — reads --device and --target of `run`.
#include "cli/run_place.h"

#include <fmt/format.h>

#include "cli/verbs.h"

namespace tilewright::cli {
namespace {

RunPlace emulated_place(const std::string& target) {
  const Target parsed = Target::parse(target.empty() ? "sm_90a" : target);
  if (!parsed.is_cuda())
    throw UsageError{
        fmt::format("--device emulate runs CUDA text, and {} is no CUDA target; give --target "
                    "sm_80, sm_90a, ...",
                    target)};
  Settings checked = settings();
  checked.emulate_check = true;
  return {Device::cpu(), false, parsed,
          std::make_shared<const SettingsOverride>(std::move(checked))};
}

}  // namespace

std::string RunPlace::name() const {
  if (interpret) return "interpret";
  return emulated ? fmt::format("emulate ({})", emulated->name) : device.name();
}

RunPlace parse_run_place(const std::string& device, const std::string& target, Device usual) {
  if (device == "emulate") return emulated_place(target);
  if (!target.empty())
    throw UsageError{
        "--target is for --device emulate; on other devices the device itself is the target"};
  if (device.empty()) return {usual, false, {}, {}};
  if (device == "interpret") return {Device::cpu(), true, {}, {}};
  if (device != "cpu" && !device.starts_with("cuda"))
    throw UsageError{
        fmt::format("'{}' is not a device; write cpu, cuda, cuda:N, emulate or interpret", device)};
  return {Device::parse(device), false, {}, {}};
}

}  // namespace tilewright::cli
