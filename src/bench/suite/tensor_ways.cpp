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
#include "bench/kernels/cross_entropy_manual.inc"
#include "bench/kernels/gelu_builtin.inc"
#include "bench/kernels/gelu_manual.inc"
#include "bench/kernels/layernorm_builtin.inc"
#include "bench/kernels/layernorm_manual.inc"
#include "bench/kernels/matmul_builtin.inc"
#include "bench/kernels/rmsnorm_builtin.inc"
#include "bench/kernels/rmsnorm_manual.inc"
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

// The function on the inputs, as it is or compiled.
template <class Function>
Prepared run_function(const Problem& problem, const Way& way, const Function& function) {
  const bool is_compiled = way.name == std::string_view("compiled");
  const auto compiled_function = compile(function, {.name = way.operation});
  const auto& t = problem.tensors;
  const auto with = [&](const auto& f) {
    const Tensor a = t[0].second, b = t.size() > 2 ? t[1].second : Tensor();
    const Tensor c = t.size() > 3 ? t[2].second : Tensor();
    if constexpr (std::is_invocable_v<Function, Tensor, Tensor, Tensor>)
      return expression(problem, [=] { return f(a, b, c); });
    else if constexpr (std::is_invocable_v<Function, Tensor, Tensor>)
      return expression(problem, [=] { return f(a, b); });
    else return expression(problem, [=] { return f(a); });
  };
  if (!is_compiled) return with(function);
  Prepared prepared = with(compiled_function);
  prepared.drawing = compiled_function.drawing();
  return prepared;
}

}  // namespace

Prepared manual_way(const Problem& problem, const Way& way) {
  const std::string_view name = way.operation;
  if (name == "gelu") return run_function(problem, way, gelu_manual);
  if (name == "softmax") return run_function(problem, way, softmax_manual);
  if (name == "layernorm") return run_function(problem, way, layernorm_manual);
  if (name == "rmsnorm") return run_function(problem, way, rmsnorm_manual);
  TW_CHECK(name == "cross_entropy", "no expression for '{}'", name);
  return run_function(problem, way, cross_entropy_manual);
}

Prepared builtin_way(const Problem& problem, const Way& way) {
  const std::string_view name = way.operation;
  if (name == "gelu") return run_function(problem, way, gelu_builtin);
  if (name == "softmax") return run_function(problem, way, softmax_builtin);
  if (name == "layernorm") return run_function(problem, way, layernorm_builtin);
  if (name == "rmsnorm") return run_function(problem, way, rmsnorm_builtin);
  if (name == "cross_entropy") return run_function(problem, way, cross_entropy_builtin);
  if (name == "add") return run_function(problem, way, add_builtin);
  TW_CHECK(name == "matmul", "no operation of the library for '{}'", name);
  return run_function(problem, way, matmul_builtin);
}

Prepared compiled_way(const Problem& problem, const Way& way) {
  const std::string_view name = way.operation;
  return name == "add" || name == "matmul" ? builtin_way(problem, way) : manual_way(problem, way);
}

}  // namespace tilewright::suite
