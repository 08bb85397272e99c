// SPDX-License-Identifier: Apache-2.0
// compiler/compile.cpp — passes and emitter, one after the other.
#include "compiler/compile.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/events.h"
#include "codegen/cpu/emit.h"
#include "codegen/cuda/emit.h"
#include "codegen/cuda/program_shape.h"
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

CudaEmitOptions cuda_options(const Target& target, const KernelOptions& options) {
  return {.target = target,
          .num_warps = options.num_warps,
          .num_ctas = options.num_ctas,
          .chooses_shape = options.chooses_warps,
          .max_registers = options.maxnreg.value_or(0),
          .fp_fusion = options.fp_fusion,
          .flush_denormals = options.flush_to_zero};
}

// How many stages the loops may have when those they have are too many; 0 when all is well.
int fewer_stages(const ir::Kernel& kernel, const Target& target, const KernelOptions& options) {
  std::int64_t bytes = 0;
  int stages = 0;
  for (const ir::KernelBuffer& buffer : kernel.buffers) {
    bytes +=
        buffer.slots * buffer.type.numel() * static_cast<std::int64_t>(buffer.type.element_bytes());
    stages = std::max(stages, buffer.slots);
  }
  // What is far from the limit needs no proof.
  if (stages < 2 || bytes * 4 < target.shared_bytes_per_block_optin) return 0;
  const std::int64_t needed = shared_bytes_of(kernel, cuda_options(target, options));
  return needed <= target.shared_bytes_per_block_optin ? 0 : stages - 1;
}

}  // namespace

std::vector<std::string> run_passes(ir::Kernel& kernel, const Target& target,
                                    const KernelOptions& options) {
  if (kernel.stage != ir::Stage::Source) return {};
  const EventScope event(EventKind::Compile, "passes");
  std::vector<std::string> notes;
  PipelineOptions pipeline{.num_stages = options.num_stages, .notes = &notes};
  // 16 registers of each thread. Where nobody asked for warps there are enough of them to wait for
  // memory in turn.
  pipeline.ahead_bytes = options.chooses_warps ? 0 : std::int64_t{options.num_warps} * 32 * 64;
  std::optional<ir::Kernel> source;  // for another try
  if (target.is_cuda() && options.num_stages > 1) source = ir::clone(kernel);
  run_pipeline(kernel, target, pipeline);
  while (const int stages = fewer_stages(kernel, target, options)) {
    kernel = ir::clone(*source);
    pipeline.most_stages = stages;
    pipeline.notes = nullptr;
    run_pipeline(kernel, target, pipeline);
    notes.assign(1, fmt::format("loops have at most {} {}: more do not fit into the {} bytes of "
                                "shared memory that a block has",
                                stages, stages == 1 ? "stage" : "stages",
                                target.shared_bytes_per_block_optin));
  }
  return notes;
}

void check_target(const ir::Kernel& kernel, const Target& target) {
  if (kernel.buffers.empty() || target.has_cp_async) return;
  throw ArgumentError(
      fmt::format("kernel '{}' has asynchronous copies into buffers, which {} has not; give the "
                  "kernel at stage source",
                  kernel.name, target.name));
}

KernelSource emit_source(const ir::Kernel& tiles, const Target& target,
                         const KernelOptions& options, const LineText& line_text) {
  const EventScope event(EventKind::Compile, "emitter");
  if (!target.is_cuda()) return emit_cpu(tiles, {.target = target, .line_text = line_text});
  CudaEmitOptions emitting = cuda_options(target, options);
  emitting.line_directives = true;  // so that profilers find the lines of the user's file
  emitting.line_text = line_text;
  // Threads that cannot hold their part of a tile in registers are too few, whoever asked for them.
  emitting.chooses_shape |= options.num_ctas == 1 && has_too_few_warps(tiles, options.num_warps);
  emitting.chooses_shape &= !options.keeps_warps;
  return emit_cuda(tiles, emitting);
}

}  // namespace tilewright
