// SPDX-License-Identifier: Apache-2.0
// compiler/compile.cpp — passes and emitter, one after the other.
#include "compiler/compile.h"

#include <algorithm>
#include <bit>
#include <memory>

#include <fmt/format.h>

#include "base/events.h"
#include "compiler/backends.h"
#include "compiler/pipeline.h"
#include "ir/clone.h"
#include "tilewright/error.h"

namespace tilewright {

void check_options(std::string_view kernel, const KernelOptions& options) {
  const auto warps = static_cast<unsigned>(options.num_warps);
  if (options.num_warps < 1 || options.num_warps > 32 || !std::has_single_bit(warps))
    throw ArgumentError(fmt::format("num_warps of kernel '{}' must be 1, 2, 4, 8, 16 or 32, not {}",
                                    kernel, options.num_warps));
  if (options.num_stages < 0)
    throw ArgumentError(fmt::format("num_stages of kernel '{}' must be 0 or more, not {}", kernel,
                                    options.num_stages));
  // Blocks that a program may be spread over. It changes no result.
  const auto blocks = static_cast<unsigned>(options.num_ctas);
  if (options.num_ctas < 1 || options.num_ctas > 16 || !std::has_single_bit(blocks))
    throw ArgumentError(fmt::format("num_ctas of kernel '{}' must be 1, 2, 4, 8 or 16, not {}",
                                    kernel, options.num_ctas));
  if (options.maxnreg && (*options.maxnreg < 16 || *options.maxnreg > 255))
    throw ArgumentError(
        fmt::format("maxnreg of kernel '{}' must be 16 to 255, not {}", kernel, *options.maxnreg));
}

namespace {

// How many slots buffers may have when those they have are too many; 0 when all is well. `plan` is
// what was found where it had to be asked.
int fewer_slots(const ir::Kernel& kernel, const Target& target, const KernelOptions& options,
                std::optional<TilePlan>& plan) {
  std::int64_t bytes = 0;
  int slots = 0;
  for (const ir::KernelBuffer& buffer : kernel.buffers) {
    bytes +=
        buffer.slots * buffer.type.numel() * static_cast<std::int64_t>(buffer.type.element_bytes());
    slots = std::max(slots, buffer.slots);
  }
  // What is far from the limit needs no proof.
  const auto make_plan = backend_of(target).plan;
  if (make_plan == nullptr || slots < 2 || bytes * 4 < target.shared_bytes_per_block_optin)
    return 0;
  PlannedBytes planned = make_plan(kernel, target, options);
  if (planned.shared_bytes > target.shared_bytes_per_block_optin) return slots - 1;
  plan = {target, options, std::move(planned.plan)};
  return 0;
}

// Whether passes took for granted what the kernel did not say of its arguments.
bool asked_conditions(const ir::Kernel& kernel, const ir::Kernel& source) {
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    if (kernel.arguments[i].is_positive && !source.arguments[i].is_positive) return true;
  return false;
}

}  // namespace

PassResults run_passes(ir::Kernel& kernel, const Target& target, const KernelOptions& options) {
  if (kernel.stage != ir::Stage::Source) return {};
  const EventScope event(EventKind::Compile, "passes");
  PassResults out;
  PipelineOptions pipeline{.num_stages = options.num_stages,
                           .num_warps = options.num_warps,
                           .keeps_warps = options.keeps_warps || options.num_ctas > 1,
                           .asks_conditions = options.asks_conditions,
                           .notes = &out.notes};
  // 16 registers of each thread. Where nobody asked for warps there are enough of them to wait for
  // memory in turn.
  pipeline.ahead_bytes =
      options.chooses_warps ? 0 : std::int64_t{options.num_warps} * target.warp_size * 64;
  std::optional<ir::Kernel> source;  // for another try
  if (target.has(Feature::AsyncCopy) && options.num_stages > 1) source = ir::clone(kernel);
  run_pipeline(kernel, target, pipeline);
  while (const int stages = fewer_slots(kernel, target, options, out.plan)) {
    kernel = ir::clone(*source);
    pipeline.most_slots = stages;
    out.notes.clear();
    run_pipeline(kernel, target, pipeline);
    out.notes.push_back(
        fmt::format("loops have at most {} {}: more do not fit into the {} bytes of "
                    "shared memory that a block has",
                    stages, stages == 1 ? "stage" : "stages", target.shared_bytes_per_block_optin));
  }
  if (source && asked_conditions(kernel, *source)) {
    KernelOptions plain = options;
    plain.asks_conditions = false;
    run_passes(*source, target, plain);
    kernel.otherwise = std::make_shared<const ir::Kernel>(std::move(*source));
  }
  return out;
}

void check_target(const ir::Kernel& kernel, const Target& target) {
  if (kernel.buffers.empty() || target.has(Feature::AsyncCopy)) return;
  throw ArgumentError(
      fmt::format("kernel '{}' has asynchronous copies into buffers, which {} has not; give the "
                  "kernel at stage source",
                  kernel.name, target.name));
}

ir::Kernel laid_for(const ir::Kernel& tiles, const Target& target, const KernelOptions& options) {
  return backend_of(target).lay(tiles, target, options);
}

ir::Kernel final_for(const ir::Kernel& laid, const Target& target, const KernelOptions& options) {
  return backend_of(target).lower(laid, target, options);
}

KernelSource emit_source(const ir::Kernel& tiles, const Target& target,
                         const KernelOptions& options, const LineText& line_text,
                         const std::optional<TilePlan>& plan) {
  const EventScope event(EventKind::Compile, "emitter");
  const bool is_planned = plan && plan->target == target && plan->options == options;
  KernelSource source = backend_of(target).emit(tiles, target, options, line_text,
                                                is_planned ? plan->plan.get() : nullptr);
  if (tiles.otherwise)
    source.kernels.front().otherwise = std::make_shared<const KernelSource>(
        backend_of(target).emit(*tiles.otherwise, target, options, line_text, nullptr));
  return source;
}

}  // namespace tilewright
