// SPDX-License-Identifier: Apache-2.0
// graph/eager/random.cpp — dropout, and random numbers in traced functions: drawn anew at every
// call.
#include <fmt/format.h>

#include "graph/call.h"
#include "graph/eager/eager.h"
#include "graph/trace/tracer.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace graph {
namespace {

Tensor record_draw(const char* name, const Shape& shape, const RandomOptions& options) {
  Tracer& tracer = *Tracer::current();
  const Device device = options.device ? *options.device : tracer.graph.device;
  if (device != tracer.graph.device)
    throw ArgumentError(
        fmt::format("a traced function on {} draws numbers on {}: give {} the device",
                    tracer.graph.device.name(), device.name(), name));
  // Each call draws its own: no two are one node.
  const auto number = static_cast<std::int64_t>(tracer.graph.nodes.size());
  return tracer.record({.kind = Node::Kind::Call,
                        .dtype = options.dtype,
                        .shape = shape,
                        .call = name,
                        .attributes = {number}});
}

[[maybe_unused]] const bool is_draw_set = (set_traced_draw(record_draw), true);

}  // namespace

Tensor run_rand(const CallInputs& inputs) {
  return rand(inputs.shape, {inputs.dtype, inputs.device});
}
Tensor run_randn(const CallInputs& inputs) {
  return randn(inputs.shape, {inputs.dtype, inputs.device});
}

}  // namespace graph

Tensor dropout(const Tensor& x, double p, std::optional<std::uint64_t> seed) {
  graph::check_floating("dropout", x);
  if (!(p >= 0 && p <= 1))
    throw ArgumentError(fmt::format("dropout({}): the share {} must lie between 0 and 1",
                                    graph::tensor_text(x), p));
  if (p == 0) return x;
  if (p == 1) return x * 0.0;
  // Shares are compared in float32: a uniform bfloat16 has few values.
  const bool is_double = x.dtype() == DType::Float64;
  RandomOptions options(is_double ? DType::Float64 : DType::Float32, x.device());
  options.seed = seed;
  return where(rand(x.shape(), options) >= p, x * (1 / (1 - p)), 0.0);
}

}  // namespace tilewright
