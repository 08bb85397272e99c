// SPDX-License-Identifier: Apache-2.0
// bench/suite/tensor_ways.cpp — tensor expressions as ways; kernels/*.inc has their text.
#include "bench/suite/tensor_ways.h"

#include "base/check.h"
#include "bench/suite/references.h"
#include "graph/launch.h"
#include "tilewright/compile.h"
#include "tilewright/ops.h"

namespace tilewright::suite {
namespace {

#include "bench/kernels/add_builtin.inc"
#include "bench/kernels/cross_entropy_builtin.inc"
#include "bench/kernels/gelu_builtin.inc"
#include "bench/kernels/gelu_manual.inc"
#include "bench/kernels/layernorm_builtin.inc"
#include "bench/kernels/matmul_builtin.inc"
#include "bench/kernels/rmsnorm_builtin.inc"
#include "bench/kernels/softmax_builtin.inc"
#include "bench/kernels/softmax_manual.inc"

LaunchFacts facts_of_launch(const graph::LaunchedGroup& launch) {
  return {.kernel = launch.kernel,
          .grid = launch.programs,
          .flops = launch.operations,
          .bytes_read = launch.bytes_read,
          .bytes_written = launch.bytes_written};
}

// The result is a new tensor; that of the first run is copied to where it is checked.
Prepared expression(const Problem& problem, std::function<Tensor()> compute) {
  std::vector<graph::LaunchedGroup> launches;
  {
    const graph::LaunchObserver observer(launches);
    problem.out().copy_from(compute());
  }
  Prepared prepared;
  prepared.kernels = static_cast<int>(launches.size());
  for (const graph::LaunchedGroup& launch : launches) {
    prepared.bytes += launch.bytes_read + launch.bytes_written;
    prepared.launches.emplace_back([launch] { return facts_of_launch(launch); });
  }
  prepared.run = [compute = std::move(compute), tensors = problem.tensors] { compute(); };
  return prepared;
}

template <class Function>
Prepared of_one(const Problem& problem, const Function& function) {
  const Tensor x = problem.tensor("x");
  return expression(problem, [=] { return function(x); });
}

}  // namespace

Prepared manual_gelu(const Problem& problem, const Way&) { return of_one(problem, gelu_manual); }
Prepared manual_softmax(const Problem& problem, const Way&) {
  return of_one(problem, softmax_manual);
}
Prepared compiled_gelu(const Problem& problem, const Way&) {
  return of_one(problem, compile(gelu_manual, {.name = "gelu"}));
}
Prepared compiled_softmax(const Problem& problem, const Way&) {
  return of_one(problem, compile(softmax_manual, {.name = "softmax"}));
}

Prepared builtin_way(const Problem& problem, const Way& way) {
  const std::string_view name = way.operation;
  const auto& t = problem.tensors;
  const auto at = [&](std::size_t i) { return t[i].second; };
  if (name == "gelu") return of_one(problem, gelu_builtin);
  if (name == "softmax") return of_one(problem, softmax_builtin);
  if (name == "layernorm")
    return expression(problem,
                      [x = at(0), w = at(1), b = at(2)] { return layernorm_builtin(x, w, b); });
  const Tensor x = at(0), y = at(1);
  if (name == "rmsnorm") return expression(problem, [=] { return rmsnorm_builtin(x, y); });
  if (name == "cross_entropy")
    return expression(problem, [=] { return cross_entropy_builtin(x, y); });
  if (name == "add") return expression(problem, [=] { return add_builtin(x, y); });
  TW_CHECK(name == "matmul", "no operation of the library for '{}'", name);
  return expression(problem, [=] { return matmul_builtin(x, y); });
}

}  // namespace tilewright::suite
