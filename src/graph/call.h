// SPDX-License-Identifier: Apache-2.0
// graph/call.h — operations with kernels of their own (windows, indices, random numbers): how each
// runs and how it is differentiated, by its name. A traced one is a node of kind Call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/derive/derive.h"
#include "tilewright/tensor.h"

namespace tilewright::graph {

// What a run sees: operands, the numbers that the call was recorded with, and its result's type.
struct CallInputs {
  std::span<const Tensor> tensors;
  std::span<const std::int64_t> numbers;
  DType dtype = DType::Float32;
  const Shape& shape;
  Device device;
};

struct CallRule {
  std::string_view name;
  Tensor (*run)(const CallInputs& inputs);
  // As derive_node; null where there is no derivative.
  std::vector<Tensor> (*derive)(const Derivation& d);
};

const CallRule& call_rule(std::string_view name);

// Runs the call, or records it where an operand is traced. Operands are checked by the caller.
struct CallResult {
  DType dtype = DType::Float32;
  Shape shape;
};
Tensor apply_call(std::string_view name, std::span<const Tensor> tensors,
                  std::span<const std::int64_t> numbers, CallResult result);

// Of a plan's step.
Tensor run_call(const Node& node, std::span<const Tensor> operands, Device device);
// Throws ArgumentError where the call has no derivative.
std::vector<Tensor> derive_call(const Derivation& d);

// ---- The rules, each beside its operation in eager/.
Tensor run_gather(const CallInputs& inputs);
std::vector<Tensor> derive_gather(const Derivation& d);
Tensor run_index_select(const CallInputs& inputs);
std::vector<Tensor> derive_index_select(const Derivation& d);
Tensor run_scatter(const CallInputs& inputs);
std::vector<Tensor> derive_scatter(const Derivation& d);
Tensor run_scatter_add(const CallInputs& inputs);
std::vector<Tensor> derive_scatter_add(const Derivation& d);
Tensor run_index_add(const CallInputs& inputs);
std::vector<Tensor> derive_index_add(const Derivation& d);
Tensor run_checked_index(const CallInputs& inputs);
Tensor run_max_pool2d(const CallInputs& inputs);
std::vector<Tensor> derive_max_pool2d(const Derivation& d);
Tensor run_max_pool2d_places(const CallInputs& inputs);
Tensor run_max_pool2d_backward(const CallInputs& inputs);
Tensor run_avg_pool2d(const CallInputs& inputs);
std::vector<Tensor> derive_avg_pool2d(const Derivation& d);
Tensor run_avg_pool2d_backward(const CallInputs& inputs);
Tensor run_conv2d(const CallInputs& inputs);
std::vector<Tensor> derive_conv2d(const Derivation& d);
Tensor run_conv2d_weight(const CallInputs& inputs);
Tensor run_rand(const CallInputs& inputs);
Tensor run_randn(const CallInputs& inputs);

}  // namespace tilewright::graph
