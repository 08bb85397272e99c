// SPDX-License-Identifier: Apache-2.0
// compiler/compile.cpp — front end, passes, emitter, one after the other.
#include "compiler/compile.h"

#include <bit>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/events.h"
#include "codegen/cpu/emit.h"
#include "codegen/cuda/emit.h"
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
  // Blocks that Triton may spread a program over. It changes no result; a program is one block
  // here.
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

TileKernel lower_to_tiles(python::ModuleLoader& loader, const python::DecoratedFunction& function,
                          const TritonSignature& signature, const Target& target,
                          const KernelOptions& options, bool keep_source_ir) {
  triton::LowerOptions lowering;
  lowering.debug = options.debug;
  lowering.fp_fusion = options.fp_fusion;
  lowering.facts = facts_of(target);
  TileKernel result;
  {
    const EventScope event(EventKind::Compile, "front end");
    result.lowered = triton::lower(loader, function, signature, lowering);
  }
  if (keep_source_ir) result.source_ir = ir::print(result.lowered.kernel);
  const EventScope event(EventKind::Compile, "passes");
  run_pipeline(result.lowered.kernel, target,
               {.num_stages = options.num_stages, .notes = &result.notes});
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
  return emit_cuda(tiles, {.target = target,
                           .num_warps = options.num_warps,
                           .max_registers = options.maxnreg.value_or(0),
                           .fp_fusion = options.fp_fusion,
                           .flush_denormals = options.flush_to_zero,
                           .line_directives = true,
                           .line_text = line_text});
}

}  // namespace tilewright
