// SPDX-License-Identifier: Apache-2.0
// bench/suite/simt_ways.cpp — grids, blocks and arguments of the suite's thread-level Python.
#include "bench/suite/simt_ways.h"

#include <fmt/format.h>

#include "tilewright/numba.h"

namespace tilewright::suite {
namespace {

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
