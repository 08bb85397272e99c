// SPDX-License-Identifier: Apache-2.0
// passes/passes.h — every pass by name, for pipelines, `tilewright opt` and tests.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

struct PassEntry {
  std::string_view name;  // that of its header
  void (*run)(ir::Kernel& kernel, const Target& target);
  std::string_view summary;
  // The machines that pipelines run it for: those with all of `needs` and nothing of `excludes`.
  FeatureSet needs = {};
  FeatureSet excludes = {};
  // The stages of the kernels that it takes.
  ir::Stage first = ir::Stage::Source;
  ir::Stage last = ir::Stage::Tile;

  bool is_for(const Target& target) const {
    return target.features.has_all(needs) && !target.features.has_any(excludes);
  }
  bool takes(ir::Stage stage) const { return first <= stage && stage <= last; }
};

// Those up to stage Tile.
std::span<const PassEntry> all_passes();
// Those that write the tables of a Laid kernel, in the order in which an emitter runs them.
std::span<const PassEntry> laid_passes();
// Those of a kernel at stage Final, in their order.
std::span<const PassEntry> final_passes();

// "every machine", "machines with async_copy", "machines without threads".
std::string machines_of(const PassEntry& pass);
// "source or tile", "laid", "final".
std::string stages_of(const PassEntry& pass);

// Of any list. Throws ArgumentError with the nearest names.
const PassEntry& pass_named(std::string_view name);

}  // namespace tilewright
