// SPDX-License-Identifier: Apache-2.0
// tilewright/grad.h — derivatives of functions of tensors, as a transform of their graphs.
//
//   auto [loss, g] = tw::value_and_grad(loss_of)(parameters, x, target);   // g: like parameters
//
// The function gives one float; it is differentiated by its first argument, a tensor or a tree of
// them (compile.h), of floats. Inside of a compiled function the derivative becomes part of its
// graph, where forward and backward share kernels; outside, a call traces and runs it, and a later
// call like it runs the plan.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tilewright/compile.h"

namespace tilewright {

namespace compiled {
bool is_tracing_now();
// While a function is traced: a tensor that stands for this one and that can be differentiated by.
Tensor begin_derivative(const Tensor& tensor);
// The derivatives of `value` by what begin_derivative gave. Throws ArgumentError when it is not one
// float, when one of them is not of floats, or when an operation between has no derivative.
std::vector<Tensor> derivatives(const Tensor& value, std::span<const Tensor> by);
}  // namespace compiled

template <class Function>
class ValueAndGrad {
 public:
  explicit ValueAndGrad(Function function)
      : compiled_(compile(Traced{std::move(function)}, {.name = "value_and_grad"})) {}

  template <class Parameters, class... Arguments>
  std::pair<Tensor, Parameters> operator()(Parameters parameters, Arguments... arguments) const {
    if (compiled::is_tracing_now())
      return compiled_.function()(std::move(parameters), std::move(arguments)...);
    return compiled_(std::move(parameters), std::move(arguments)...);
  }

 private:
  struct Traced {
    Function function;
    template <class Parameters, class... Arguments>
    std::pair<Tensor, Parameters> operator()(Parameters parameters, Arguments... arguments) const {
      std::vector<Tensor> by;
      visit_tensors(parameters, [&](Tensor& tensor) {
        tensor = compiled::begin_derivative(tensor);
        by.push_back(tensor);
      });
      Parameters result = parameters;
      const Tensor value = function(std::move(parameters), std::move(arguments)...);
      const std::vector<Tensor> made = compiled::derivatives(value, by);
      std::size_t next = 0;
      compiled::replace(result, made, next);
      return {value, std::move(result)};
    }
  };
  Compiled<Traced> compiled_;
};

template <class Function>
ValueAndGrad<Function> value_and_grad(Function function) {
  return ValueAndGrad<Function>(std::move(function));
}

// The derivative alone.
template <class Function>
auto grad(Function function) {
  return [both = value_and_grad(std::move(function))](auto parameters, auto... arguments) {
    return both(std::move(parameters), std::move(arguments)...).second;
  };
}

}  // namespace tilewright
