// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/host_tensors.h — what calls of torch in host code make: shape, type and content of
// torch.empty_like(x), torch.zeros((m, n), dtype=x.dtype), x.view(-1, n).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "frontend/python/evaluate.h"

namespace tilewright {

// A value of host code. A tensor that it makes has a maker as `tilewright run` names them: empty,
// zeros, ones, full, rand, randn, randint, arange.
struct WrapperValue {
  python::Value value;
  std::string maker;
  double fill = 0;  // of full

  const python::TensorValue* tensor() const { return value.get_if<python::TensorValue>(); }
};

// Evaluates an operand of a call. Throws UserError for what cannot be evaluated.
using HostOperand = std::function<WrapperValue(const python::Node*)>;

// `name` is "torch.empty_like". Empty when it makes no tensor.
std::optional<WrapperValue> made_by_torch(std::string_view name, const python::Call& call,
                                          const HostOperand& operand);

// owner.name(...), where the result is a tensor. Empty for other methods.
std::optional<WrapperValue> made_by_method(const WrapperValue& owner, std::string_view name,
                                           const python::Call& call, const HostOperand& operand);

// Row-major strides.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape);

}  // namespace tilewright
