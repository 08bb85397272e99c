// SPDX-License-Identifier: Apache-2.0
// passes/passes.h — every pass by name, for pipelines, `tilewright opt` and tests.
#pragma once

#include <span>
#include <string_view>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

struct PassEntry {
  std::string_view name;
  void (*run)(ir::Kernel& kernel, const Target& target);
  std::string_view summary;
};

std::span<const PassEntry> all_passes();

// Throws ArgumentError with the nearest names.
const PassEntry& pass_named(std::string_view name);

}  // namespace tilewright
