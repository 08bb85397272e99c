// SPDX-License-Identifier: Apache-2.0
// cli/run_place.h — where `tilewright run` runs a kernel: a device, the interpreter, or emulated
// CUDA on the CPU.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/settings.h"
#include "tilewright/device.h"
#include "tilewright/target.h"

namespace tilewright::cli {

struct RunPlace {
  Device device;
  bool interpret = false;
  std::optional<Target> emulated;  // the CUDA text for it, on the CPU, with all checks on
  std::shared_ptr<const SettingsOverride> checks;  // held while such a place is in use

  const Target* emulate() const { return emulated ? &*emulated : nullptr; }
  const Target& target() const { return emulated ? *emulated : device.target(); }
  std::string name() const;
};

// `device` is what --device was given: "cpu", "cuda", "cuda:1", "interpret", "emulate", or empty
// for `usual`. `target` is that of --target, for "emulate" alone; empty: sm_90a. Throws UsageError.
RunPlace parse_run_place(const std::string& device, const std::string& target, Device usual);

}  // namespace tilewright::cli
