// SPDX-License-Identifier: Apache-2.0
// load_inline/torch_ops.h — the arithmetic that torch-shaped host functions do on whole tensors.
#pragma once

#include <string_view>

#include "tilewright/tensor.h"

namespace tilewright {

enum class BinaryOp { Add, Sub, Mul, Div, ReverseSub, ReverseDiv };
enum class UnaryOp { Neg, Abs, Exp, Log, Sqrt, Rsqrt, Tanh, Sigmoid, Relu, Sin, Cos };
enum class Reduction { Sum, Mean, Max, Min };

// Shapes are broadcast; dtypes are promoted as in PyTorch (a true division of integers gives
// float32).
Tensor binary(BinaryOp op, const Tensor& a, const Tensor& b);
// The number does not widen a tensor of floats; a fraction turns a tensor of integers into float32.
Tensor binary(BinaryOp op, const Tensor& a, double scalar, bool is_fraction);
Tensor unary(UnaryOp op, const Tensor& a);
Tensor reduce(Reduction reduction, const Tensor& a);  // to a tensor without dimensions

}  // namespace tilewright
