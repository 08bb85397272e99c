// SPDX-License-Identifier: Apache-2.0
// graph/provide.cpp — the operations that torch-shaped inline sources call, by name.
#include <functional>
#include <map>
#include <string_view>

#include "tensor/op_provider.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace {

using Provided = std::function<Tensor(const OpCall&)>;

// A number keeps its kind: `integers[0]` says whether it is a fraction.
Scalar number_of(const OpCall& call) {
  const double value = call.numbers[0];
  return call.integers[0] != 0 ? Scalar(value) : Scalar(static_cast<std::int64_t>(value));
}

using Binary = Tensor (*)(const Operand&, const Operand&);
Provided binary(Binary f) {
  return [f](const OpCall& call) {
    if (call.tensors.size() == 2) return f(call.tensors[0], call.tensors[1]);
    return f(call.tensors[0], number_of(call));
  };
}
Provided reversed(Binary f) {
  return [f](const OpCall& call) { return f(number_of(call), call.tensors[0]); };
}
Provided unary(Tensor (*f)(const Tensor&)) {
  return [f](const OpCall& call) { return f(call.tensors[0]); };
}

// With a dimension and whether it is kept, or over all.
Provided reduction(Tensor (*f)(const Tensor&, const Axes&, bool)) {
  return [f](const OpCall& call) {
    if (call.integers.empty()) return f(call.tensors[0], {}, false);
    return f(call.tensors[0], static_cast<int>(call.integers[0]), call.integers[1] != 0);
  };
}
Provided along(Tensor (*f)(const Tensor&, int)) {
  return [f](const OpCall& call) { return f(call.tensors[0], static_cast<int>(call.integers[0])); };
}

// The mean of integers is that of floats.
Tensor mean_of(const Tensor& x, const Axes& axes, bool keepdim) {
  return mean(is_floating(x.dtype()) ? x : x.to(DType::Float32), axes, keepdim);
}

const std::map<std::string_view, Provided>& provided() {
  static const auto& table = *new std::map<std::string_view, Provided>{
      {"add", binary(add)},
      {"radd", reversed(add)},
      {"sub", binary(sub)},
      {"rsub", reversed(sub)},
      {"mul", binary(mul)},
      {"rmul", reversed(mul)},
      {"div", binary(div)},
      {"rdiv", reversed(div)},
      {"pow", binary(pow)},
      {"maximum", binary(maximum)},
      {"minimum", binary(minimum)},
      {"neg", unary(neg)},
      {"abs", unary(abs)},
      {"exp", unary(exp)},
      {"log", unary(log)},
      {"sqrt", unary(sqrt)},
      {"rsqrt", unary(rsqrt)},
      {"tanh", unary(tanh)},
      {"sigmoid", unary(sigmoid)},
      {"relu", unary(relu)},
      {"silu", unary(silu)},
      {"erf", unary(erf)},
      {"sin", unary(sin)},
      {"cos", unary(cos)},
      {"gelu",
       [](const OpCall& call) {
         return gelu(call.tensors[0], call.integers[0] != 0 ? Gelu::Tanh : Gelu::Erf);
       }},
      {"sum", reduction(sum)},
      {"mean", reduction(mean_of)},
      {"max", reduction(max)},
      {"min", reduction(min)},
      {"softmax", along(softmax)},
      {"log_softmax", along(log_softmax)},
      {"matmul", [](const OpCall& call) { return matmul(call.tensors[0], call.tensors[1]); }},
      {"bmm", [](const OpCall& call) { return bmm(call.tensors[0], call.tensors[1]); }},
  };
  return table;
}

Tensor provide(const OpCall& call) {
  const auto found = provided().find(call.name);
  return found == provided().end() ? Tensor() : found->second(call);
}

[[maybe_unused]] const bool is_provider_set = (set_op_provider(provide), true);

}  // namespace
}  // namespace tilewright
