// SPDX-License-Identifier: Apache-2.0
// compiler/triton/compile.cpp — the front end, and what the core of the compiler makes of its IR.
#include "compiler/triton/compile.h"

#include "base/diagnostic.h"
#include "base/events.h"
#include "ir/print.h"
#include "machine/reported.h"
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

triton::LowerOptions lowering_options(const Target& target, const KernelOptions& options) {
  triton::LowerOptions lowering;
  lowering.debug = options.debug;
  lowering.fp_fusion = options.fp_fusion;
  lowering.num_warps = options.num_warps;
  lowering.facts = facts_of(target);
  return lowering;
}

}  // namespace

python::Facts facts_of(const Target& target) {
  const ComputeCapability capability = reported_capability(target);
  return python::nvidia_facts(capability.major, capability.minor);
}

TileKernel lower_to_source(python::ModuleLoader& loader, const python::DecoratedFunction& function,
                           const TritonSignature& signature, const Target& target,
                           const KernelOptions& options) {
  triton::LowerOptions lowering = lowering_options(target, options);
  lowering.writes_padding = true;
  lowering.names_assignments = true;
  const EventScope event(EventKind::Compile, "front end");
  TileKernel result;
  result.lowered = triton::lower(loader, function, signature, lowering);
  return result;
}

TileKernel lower_to_tiles(python::ModuleLoader& loader, const python::DecoratedFunction& function,
                          const TritonSignature& signature, const Target& target,
                          const KernelOptions& options, bool keep_source_ir) {
  TileKernel result;
  {
    const EventScope event(EventKind::Compile, "front end");
    result.lowered = triton::lower(loader, function, signature, lowering_options(target, options));
  }
  if (keep_source_ir) result.source_ir = ir::print(result.lowered.kernel);
  KernelOptions chosen = options;
  chosen.keeps_warps |= result.lowered.asks_for_warps;
  result.passes = run_passes(result.lowered.kernel, target, chosen);
  return result;
}

KernelSource emit_source(python::ModuleLoader& loader, const TileKernel& kernel,
                         const Target& target, const KernelOptions& options) {
  const ir::Kernel& tiles = kernel.lowered.kernel;
  KernelOptions chosen = options;
  chosen.keeps_warps |= kernel.lowered.asks_for_warps;
  const LineText line_text = [&](int file, int line) {
    return source_line(loader, tiles.files, file, line);
  };
  return emit_source(tiles, target, chosen, line_text, kernel.passes.plan);
}

}  // namespace tilewright
