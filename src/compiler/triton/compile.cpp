// SPDX-License-Identifier: Apache-2.0
// compiler/triton/compile.cpp — front end, passes, emitter, one after the other.
#include "compiler/triton/compile.h"

#include <bit>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/events.h"
#include "codegen/cpu/emit.h"
#include "codegen/cuda/emit.h"
#include "codegen/cuda/program_shape.h"
#include "compiler/pipeline.h"
#include "ir/print.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// A line that cannot be found is no reason to fail: it only makes the text easier to read.
std::string_view source_line(python::ModuleLoader& loader, const std::vector<std::string>& files,
                             int file, int line) {
  if (file < 0 || static_cast<std::size_t>(file) >= files.size() || line < 1) return {};
  try {
    const python::LoadedModule& module = loader.load(files[static_cast<std::size_t>(file)]);
    return line_of(module.tree->source.text, line);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

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

python::Facts facts_of(const Target& target) {
  // Host code that asks for a GPU while there is none still has to be read: it was written for one.
  return target.is_cuda() ? python::nvidia_facts(target.capability_major, target.capability_minor)
                          : python::nvidia_facts(9, 0);
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
int fewer_stages(const TileKernel& kernel, const Target& target, const KernelOptions& options) {
  std::int64_t bytes = 0;
  int stages = 0;
  for (const ir::KernelBuffer& buffer : kernel.lowered.kernel.buffers) {
    bytes +=
        buffer.slots * buffer.type.numel() * static_cast<std::int64_t>(buffer.type.element_bytes());
    stages = std::max(stages, buffer.slots);
  }
  // What is far from the limit needs no proof.
  if (stages < 2 || bytes * 4 < target.shared_bytes_per_block_optin) return 0;
  const std::int64_t needed = shared_bytes_of(kernel.lowered.kernel, cuda_options(target, options));
  return needed <= target.shared_bytes_per_block_optin ? 0 : stages - 1;
}

}  // namespace

TileKernel lower_to_tiles(python::ModuleLoader& loader, const python::DecoratedFunction& function,
                          const TritonSignature& signature, const Target& target,
                          const KernelOptions& options, bool keep_source_ir) {
  triton::LowerOptions lowering;
  lowering.debug = options.debug;
  lowering.fp_fusion = options.fp_fusion;
  lowering.num_warps = options.num_warps;
  lowering.facts = facts_of(target);
  const auto lower = [&](const PipelineOptions& pipeline) {
    TileKernel result;
    {
      const EventScope event(EventKind::Compile, "front end");
      result.lowered = triton::lower(loader, function, signature, lowering);
    }
    const EventScope event(EventKind::Compile, "passes");
    if (keep_source_ir) result.source_ir = ir::print(result.lowered.kernel);
    run_pipeline(result.lowered.kernel, target, pipeline);
    return result;
  };
  std::vector<std::string> notes;
  // 16 registers of each thread. Where nobody asked for warps there are enough of them to wait for
  // memory in turn.
  const std::int64_t ahead = options.chooses_warps ? 0 : std::int64_t{options.num_warps} * 32 * 64;
  TileKernel result =
      lower({.num_stages = options.num_stages, .ahead_bytes = ahead, .notes = &notes});
  while (const int stages = fewer_stages(result, target, options)) {
    result = lower({.num_stages = options.num_stages, .most_stages = stages, .ahead_bytes = ahead});
    notes.assign(1, fmt::format("loops have at most {} {}: more do not fit into the {} bytes of "
                                "shared memory that a block has",
                                stages, stages == 1 ? "stage" : "stages",
                                target.shared_bytes_per_block_optin));
  }
  result.notes = std::move(notes);
  return result;
}

KernelSource emit_source(python::ModuleLoader& loader, const TileKernel& kernel,
                         const Target& target, const KernelOptions& options) {
  const EventScope event(EventKind::Compile, "emitter");
  const ir::Kernel& tiles = kernel.lowered.kernel;
  const auto line_text = [&](int file, int line) {
    return source_line(loader, tiles.files, file, line);
  };
  if (!target.is_cuda()) return emit_cpu(tiles, {.target = target, .line_text = line_text});
  CudaEmitOptions emitting = cuda_options(target, options);
  emitting.line_directives = true;  // so that profilers find the lines of the .py file
  emitting.line_text = line_text;
  // Threads that cannot hold their part of a tile in registers are too few, whoever asked for them.
  emitting.chooses_shape |=
      options.num_ctas == 1 && largest_tile(tiles) > 64 * 32 * options.num_warps;
  emitting.chooses_shape &= !kernel.lowered.asks_for_warps;
  return emit_cuda(tiles, emitting);
}

}  // namespace tilewright
