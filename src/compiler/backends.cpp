// SPDX-License-Identifier: Apache-2.0
// compiler/backends.cpp — the table of backends.
#include "compiler/backends.h"

#include <memory>

#include "base/check.h"
#include "codegen/cpu/emit.h"
#include "codegen/cuda/emit.h"
#include "codegen/cuda/plan_kernel.h"
#include "codegen/cuda/program_shape.h"

namespace tilewright {
namespace {

CudaEmitOptions cuda_options(const ir::Kernel& tiles, const Target& target, const KernelOptions& options) {
  CudaEmitOptions out{.target = target,
          .num_warps = tiles.shape.is_decided() ? tiles.shape.warps : options.num_warps,
          .num_ctas = options.num_ctas,
          .chooses_shape = options.chooses_warps,
          .max_registers = options.maxnreg.value_or(0),
          .fp_fusion = options.fp_fusion,
          .flush_denormals = options.flush_to_zero};
  // Threads that cannot hold their part of a tile in registers are too few, whoever asked for them.
  out.chooses_shape |= options.num_ctas == 1 && has_too_few_warps(tiles, target, out.num_warps);
  out.chooses_shape &= !options.keeps_warps;
  out.drops_warps = !options.keeps_warps;
  return out;
}

KernelSource cuda_source(const ir::Kernel& tiles, const Target& target,
                         const KernelOptions& options, const LineText& line_text,
                         const KernelPlan* plan) {
  CudaEmitOptions emitting = cuda_options(tiles, target, options);
  emitting.line_directives = true;  // so that profilers find the lines of the user's file
  emitting.line_text = line_text;
  return emit_cuda(tiles, emitting, plan);
}

ir::Kernel cuda_sweeps(const ir::Kernel& tiles, const Target& target,
                       const KernelOptions& options) {
  return laid_for_cuda(tiles, cuda_options(tiles, target, options));
}

PlannedBytes cuda_plan(const ir::Kernel& tiles, const Target& target,
                       const KernelOptions& options) {
  CudaEmitOptions emitting = cuda_options(tiles, target, options);
  emitting.chooses_shape = options.chooses_warps;
  const auto plan = std::make_shared<const KernelPlan>(sketch_kernel(tiles, emitting));
  return {plan->shared_bytes, plan};
}

KernelSource cpu_source(const ir::Kernel& tiles, const Target& target, const KernelOptions&,
                        const LineText& line_text, const KernelPlan*) {
  return emit_cpu(tiles, {.target = target, .line_text = line_text});
}

ir::Kernel cpu_sweeps(const ir::Kernel& tiles, const Target&, const KernelOptions&) {
  return laid_for_cpu(tiles);
}

ir::Kernel cpu_loops(const ir::Kernel& laid, const Target&, const KernelOptions&) {
  return final_for_cpu(laid);
}

ir::Kernel cuda_threads(const ir::Kernel& laid, const Target& target,
                        const KernelOptions& options) {
  return final_for_cuda(laid, {.target = target, .max_registers = options.maxnreg.value_or(0)});
}

constexpr CodeBackend backends[] = {
    {DeviceKind::Cpu, Language::Cpp, cpu_source, cpu_sweeps, cpu_loops, nullptr},
    {DeviceKind::Cuda, Language::Cuda, cuda_source, cuda_sweeps, cuda_threads, cuda_plan},
};

}  // namespace

std::span<const CodeBackend> all_backends() { return backends; }

const CodeBackend& backend_of(const Target& target) {
  for (const CodeBackend& backend : backends)
    if (backend.kind == target.kind) return backend;
  TW_UNREACHABLE("no backend for this kind of machine");
}

}  // namespace tilewright
