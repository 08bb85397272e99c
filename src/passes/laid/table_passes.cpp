// SPDX-License-Identifier: Apache-2.0
// passes/laid/table_passes.cpp — what each pass asks for, and takes back.
#include "passes/laid/table_passes.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "passes/laid/add_scratch.h"
#include "passes/laid/allocate_shared.h"
#include "passes/laid/assign_layouts.h"
#include "passes/laid/laid_facts.h"
#include "passes/laid/place_tiles.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using ir::KernelBuffer;

void require_shape(std::string_view pass, const ir::Kernel& kernel, const Target& target) {
  if (!target.has(Feature::Threads))
    throw ArgumentError(
        fmt::format("{} is for machines with threads, and {} has none: give --target sm_90a", pass,
                    target.name));
  if (kernel.stage != ir::Stage::Laid || !kernel.shape.is_decided())
    throw ArgumentError(
        fmt::format("{} is for kernels of stage laid that have a shape, and '{}' is none: opt "
                    "--sweeps makes one",
                    pass, kernel.name));
}

bool have_layouts(const Steps& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const Step& step) {
    return (step.kind != Step::Kind::Elements || step.op->find("layout")) &&
           std::all_of(step.regions.begin(), step.regions.end(), have_layouts);
  });
}

void require_layouts(std::string_view pass, const ir::Kernel& kernel) {
  const Sweeps sweeps(kernel);
  bool has_all = have_layouts(sweeps.steps());
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    has_all &= !sweeps.owner_of(i) || !kernel.buffers[i].layout.empty();
  if (!has_all)
    throw ArgumentError(fmt::format("{} needs the layouts of kernel '{}': run assign_layouts first",
                                    pass, kernel.name));
}

void require_spaces(std::string_view pass, const ir::Kernel& kernel) {
  require_layouts(pass, kernel);
  const auto is_decided = [](const KernelBuffer& buffer) {
    return buffer.space != ir::BufferSpace::Undecided;
  };
  if (!std::all_of(kernel.buffers.begin(), kernel.buffers.end(), is_decided))
    throw ArgumentError(
        fmt::format("{} needs to know where the tiles of kernel '{}' live: run place_tiles first",
                    pass, kernel.name));
}

LaidFacts facts_of(const ir::Kernel& kernel, const Target& target) {
  return {kernel, kernel.shape.warps * kernel.shape.cluster * target.warp_size};
}

}  // namespace

void run_assign_layouts(ir::Kernel& kernel, const Target& target) {
  require_shape("assign_layouts", kernel, target);
  clear_scratch(kernel);
  assign_layouts(kernel, facts_of(kernel, target), target);
}

void run_place_tiles(ir::Kernel& kernel, const Target& target) {
  require_shape("place_tiles", kernel, target);
  require_layouts("place_tiles", kernel);
  clear_scratch(kernel);
  const bool has_private =
      std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                  [](const KernelBuffer& buffer) { return buffer.is_private; });
  place_tiles(kernel, facts_of(kernel, target), {.keeps_row_private = has_private});
}

void run_add_scratch(ir::Kernel& kernel, const Target& target) {
  require_shape("add_scratch", kernel, target);
  require_spaces("add_scratch", kernel);
  clear_scratch(kernel);
  add_scratch(kernel, facts_of(kernel, target));
}

void run_allocate_shared(ir::Kernel& kernel, const Target& target) {
  require_shape("allocate_shared", kernel, target);
  require_spaces("allocate_shared", kernel);
  allocate_shared(kernel, facts_of(kernel, target));
}

}  // namespace tilewright
