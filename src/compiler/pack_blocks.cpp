// SPDX-License-Identifier: Apache-2.0
// compiler/pack_blocks.cpp — compiles, asks what one more block needs, and compiles again.
#include "compiler/pack_blocks.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/launcher_header.h"
#include "ir/op.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "runtime/occupancy.h"
#include "runtime/plan.h"

namespace tilewright {
namespace {

// Of a kernel's first step; nothing where the launch decides.
std::optional<int> block_threads(const KernelSource& source, const Target& target) {
  const KernelSource::Kernel& kernel = source.kernels.front();
  if (kernel.variants.empty() || kernel.variants.front().steps.size() != 1) return std::nullopt;
  constexpr std::int64_t one[3] = {1, 1, 1};
  const PlanInputs inputs{.kernel = kernel.name,
                          .parameters = kernel.parameters,
                          .values = nullptr,
                          .grid = one,
                          .block = one,
                          .processors = target.processors};
  const std::int64_t threads =
      evaluate_or(kernel.variants.front().steps.front().block[0], inputs, 0);
  return threads > 0 ? std::optional(static_cast<int>(threads)) : std::nullopt;
}

// Products keep their units busy with what one warp has in registers, and so does a loop that adds
// to a tile: fewer registers mean fewer loads on their way.
bool waits_for_memory(const ir::Kernel& tiles) {
  bool waits = true;
  ir::walk(tiles.body, [&](const ir::Op& op) {
    waits &= op.kind != ir::OpKind::Dot;
    if (op.kind != ir::OpKind::For && op.kind != ir::OpKind::While) return;
    for (const ir::Value value : op.results) waits &= !tiles.type(value).is_tile();
  });
  return waits;
}

struct Resources {
  int registers = 0;
  std::int64_t shared_bytes = 0;
  bool is_spilled = false;
};

std::optional<Resources> resources(const KernelSource& source, const Target& target) {
  const std::vector<KernelResources> all = resources_of(compile(source, target));
  if (all.size() != 1) return std::nullopt;
  const KernelResources& one = all.front();
  return Resources{
      .registers = one.registers,
      .shared_bytes = static_cast<std::int64_t>(one.shared_bytes) + dynamic_shared_bytes(source),
      .is_spilled = one.spill_store_bytes > 0 || one.stack_bytes > 0};
}

}  // namespace

KernelSource packed_source(const ir::Kernel& tiles, KernelSource source, const Target& target) {
  const bool can_ask = source.language == Language::Cuda && !cuda::nvrtc_path().empty();
  const std::optional<int> threads = can_ask ? block_threads(source, target) : std::nullopt;
  if (!threads || !waits_for_memory(tiles)) return source;
  const std::string bounds = fmt::format("__launch_bounds__({})", *threads);
  const std::size_t place = source.text.find(bounds);
  if (place == std::string::npos) return source;  // a number of blocks has been chosen
  const std::optional<Resources> now = resources(source, target);
  if (!now || now->is_spilled) return source;
  const BlockResources block{*threads, now->registers, now->shared_bytes};
  const int registers = next_step(target, block).registers;
  if (registers * 4 < now->registers * 3) return source;  // a quarter fewer would be spilled
  const int blocks = occupancy(target, block).blocks_per_processor + 1;
  KernelSource packed = source;
  packed.text.replace(place, bounds.size(),
                      fmt::format("__launch_bounds__({}, {})", *threads, blocks));
  const std::optional<Resources> then = resources(packed, target);
  return then && !then->is_spilled ? packed : source;
}

}  // namespace tilewright
