// SPDX-License-Identifier: Apache-2.0
// bench/suite/simt_ways.cpp — grids, blocks and arguments of the suite's thread-level Python.
#include "bench/suite/simt_ways.h"

#include <fmt/format.h>

#include "compiler/numba/numba_state.h"
#include "tilewright/numba.h"

namespace tilewright::suite {
namespace {

// After a run: what its blocks need on a GPU.
LaunchFacts facts_of(const NumbaKernel& kernel, const NumbaLaunch& launch) {
  LaunchFacts facts{.kernel = kernel.name(), .grid = launch.grid};
  const NumbaSpecialization* code = kernel.state()->first.load();
  if (code == nullptr || code->place != NumbaPlace::Gpu) return facts;
  const FunctionAttributes attributes = code->function.attributes();
  facts.threads = static_cast<int>(launch.block.count());
  facts.registers = attributes.registers;
  facts.shared_bytes = static_cast<std::int64_t>(attributes.shared_bytes + launch.shared_bytes);
  facts.spill_bytes = attributes.local_bytes;
  return facts;
}

// The operands in their order; `shape` is that of each of them, empty: their own.
Prepared simt_launch(const Problem& problem, const Way& way, const NumbaLaunch& launch,
                     const Shape& shape) {
  const NumbaKernel kernel =
      load_numba_source(source_of(way), fmt::format("{}_kernel", way.operation));
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : problem.tensors)
    tensors.push_back(shape.empty() ? tensor : tensor.view(shape));
  Prepared prepared;
  prepared.run = [kernel, launch, tensors] {
    const std::vector<NumbaArgument> arguments(tensors.begin(), tensors.end());
    kernel.launch(launch, arguments);
  };
  prepared.launches = {[kernel, launch] { return facts_of(kernel, launch); }};
  if (problem.device.is_cpu() && way.emulation_limit > 0) prepared.note = "emulated";
  return prepared;
}

}  // namespace

Prepared simt_elementwise(const Problem& problem, const Way& way) {
  const std::int64_t n = problem.elements(), threads = 1024;
  return simt_launch(problem, way, {.grid = cdiv(n, threads), .block = threads}, {n});
}

Prepared simt_rows(const Problem& problem, const Way& way) {
  return simt_launch(problem, way, {.grid = problem.rows(), .block = 256},
                     {problem.rows(), problem.columns()});
}

Prepared simt_matmul(const Problem& problem, const Way& way) {
  const std::int64_t m = problem.shape[0], n = problem.shape[1];
  return simt_launch(problem, way, {.grid = {cdiv(n, 16), cdiv(m, 16)}, .block = {16, 16}}, {});
}

}  // namespace tilewright::suite
