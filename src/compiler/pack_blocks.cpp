// SPDX-License-Identifier: Apache-2.0
// compiler/pack_blocks.cpp — compiles, asks what one more block needs, and compiles again.
#include "compiler/pack_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/launcher_header.h"
#include "ir/op.h"
#include "machine/units.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "runtime/occupancy.h"
#include "runtime/plan.h"

namespace tilewright {
namespace {

// Of a kernel's first step; 0 where the launch decides.
int block_threads(const KernelSource& source, const Target& target) {
  const KernelSource::Kernel& kernel = source.kernels.front();
  if (kernel.variants.empty() || kernel.variants.front().steps.size() != 1) return 0;
  constexpr std::int64_t one[3] = {1, 1, 1};
  const PlanInputs inputs{.kernel = kernel.name,
                          .parameters = kernel.parameters,
                          .values = nullptr,
                          .grid = one,
                          .block = one,
                          .processors = target.processors};
  return static_cast<int>(evaluate_or(kernel.variants.front().steps.front().block[0], inputs, 0));
}

struct Waits {
  bool for_memory = true;
  bool for_its_threads = false;  // all of a block meet, for a sum of them
  bool carries_tiles = false;
};

// Products keep their units busy with what one warp has in registers, and so does a loop that adds
// to a large tile: fewer registers mean fewer loads on their way. What a thread carries of a row's
// sum is a few elements.
Waits waits_of(const ir::Kernel& tiles, int threads) {
  constexpr std::int64_t most_carried = 8;  // elements of a thread
  Waits out;
  ir::walk(tiles.body, [&](const ir::Op& op) {
    out.for_memory &= op.kind != ir::OpKind::Dot;
    out.for_its_threads |= op.facts().has(ir::Combines);
    if (op.kind != ir::OpKind::For && op.kind != ir::OpKind::While) return;
    for (const ir::Value value : op.results) {
      const ir::Type& type = tiles.type(value);
      out.carries_tiles |= type.is_tile();
      out.for_memory &= !type.is_tile() || type.numel() <= most_carried * threads;
    }
  });
  return out;
}

// A loop in which products wait for each other, with one block on a multiprocessor: nothing runs
// while it waits. Tutorial 06 forward on an H200, head dim 64, 128 x 128, 8 warps, of cuDNN at 16k
// full / causal, 4k full / causal: one block of 184 and 176 registers 0.73 / 0.79, 0.73 / 0.74; two
// of 128 1.04 / 1.05, 1.03 / 0.95, although the causal one spills 124 bytes.
bool waits_for_products(const ir::Kernel& tiles) {
  bool waits = false;
  bool has_roles = false;
  ir::walk(tiles.body, [&](const ir::Op& op) {
    has_roles |= op.kind == ir::OpKind::IsProducer;
    if (op.kind != ir::OpKind::For) return;
    const auto& ops = op.regions[0].ops;
    waits |= std::count_if(ops.begin(), ops.end(), [](const ir::Op* inner) {
               return inner->kind == ir::OpKind::Dot && inner->text("unit", "") == group_unit;
             }) > 1;
  });
  return waits && !has_roles;
}

// What a kernel may lose by one more block. Where all threads of a block wait for each other,
// another block works meanwhile, which is worth two words that are spilled outside of loops. On an
// H200, of Triton: Liger's attention residuals of 4096 columns, 79 registers and 3 blocks 0.91, 64,
// 4 bytes spilled and 4 blocks 0.98; modulated RMS norm forward of 8192, 42 registers and 2 blocks
// 0.91, 40 and 3 blocks with 8 bytes 1.09. Kernels that only stream lose by 8 bytes: fused SwiGLU
// backward of 8192 columns went from 0.99 to 0.96, KL divergence backward from 1.02 to 0.99. In
// loops nothing is spilled: KL divergence forward of 8192, 38 registers 1.02, 32 and 8 bytes 1.00
// (TritonBench's of 16384, 41 and 40 registers: 0.90 and 0.96).
struct Price {
  int registers_of_8 = 0;          // that must be left of 8 registers
  std::int64_t spilled_bytes = 0;  // of a thread
};
constexpr Price price_of_products{5, 192};

Price price_of(const Waits& waits) {
  return {6, waits.carries_tiles ? 0 : waits.for_its_threads ? 8 : 4};
}

struct Resources {
  int registers = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t spilled_bytes = 0;
};

std::optional<Resources> resources(const KernelSource& source, const Target& target) {
  const std::vector<KernelResources> all = resources_of(compile(source, target));
  if (all.size() != 1) return std::nullopt;
  const KernelResources& one = all.front();
  // The stack of what is spilled is rounded up to words of 8 bytes.
  const std::int64_t spilled = one.spill_store_bytes;
  const std::int64_t stack = one.stack_bytes;
  return Resources{
      .registers = one.registers,
      .shared_bytes = static_cast<std::int64_t>(one.shared_bytes) + dynamic_shared_bytes(source),
      .spilled_bytes = stack <= (spilled + 7) / 8 * 8 ? spilled : stack};
}

}  // namespace

KernelSource packed_source(const ir::Kernel& tiles, KernelSource source, const Target& target) {
  const bool can_ask = source.language == Language::Cuda && !cuda::nvrtc_path().empty();
  const int threads = can_ask ? block_threads(source, target) : 0;
  const bool has_products = waits_for_products(tiles);
  const Waits waits = waits_of(tiles, std::max(threads, 1));
  if (threads <= 0 || (!has_products && !waits.for_memory)) return source;
  const Price price = has_products ? price_of_products : price_of(waits);
  const std::string bounds = fmt::format("__launch_bounds__({})", threads);
  const std::size_t place = source.text.find(bounds);
  if (place == std::string::npos) return source;  // a number of blocks has been chosen
  const std::optional<Resources> now = resources(source, target);
  if (!now || now->spilled_bytes > 0) return source;
  const BlockResources block{threads, now->registers, now->shared_bytes};
  const int registers = next_step(target, block).registers;
  if (registers * 8 < now->registers * price.registers_of_8)
    return source;  // more would be spilled
  const int blocks = occupancy(target, block).blocks_per_processor + 1;
  if (has_products && blocks != 2) return source;
  KernelSource packed = source;
  packed.text.replace(place, bounds.size(),
                      fmt::format("__launch_bounds__({}, {})", threads, blocks));
  const std::optional<Resources> then = resources(packed, target);
  return then && then->spilled_bytes <= price.spilled_bytes ? packed : source;
}

}  // namespace tilewright
