// SPDX-License-Identifier: Apache-2.0
// load_inline/torch_ops.cpp — elementwise operations: a loop on the CPU, a small kernel on a GPU.
#include "load_inline/torch_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "load_inline/inline_source.h"
#include "tilewright/module.h"

namespace tilewright {
namespace {

// ---- Dtypes and shapes.

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (is_floating(a)) {
    if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
    return DType::Float32;  // float16 with bfloat16
  }
  if (a == DType::Bool || b == DType::Bool) return a == DType::Bool ? b : a;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return is_signed(a) ? a : b;
}

DType result_type(BinaryOp op, DType dtype) {
  const bool divides = op == BinaryOp::Div || op == BinaryOp::ReverseDiv;
  return divides && !is_floating(dtype) ? DType::Float32 : dtype;
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw ArgumentError(fmt::format("shapes [{}] and [{}] do not fit together",
                                      fmt::join(a, ", "), fmt::join(b, ", ")));
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

// ---- The CPU: 64-bit arithmetic of the dtype's kind, rounded once.

double apply(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::ReverseSub:
      return b - a;
    case BinaryOp::ReverseDiv:
      return b / a;
  }
  TW_UNREACHABLE("binary operation {}", static_cast<int>(op));
}

std::int64_t apply(BinaryOp op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (op) {
    case BinaryOp::Add:
      return static_cast<std::int64_t>(x + y);
    case BinaryOp::Sub:
      return static_cast<std::int64_t>(x - y);
    case BinaryOp::Mul:
      return static_cast<std::int64_t>(x * y);
    case BinaryOp::ReverseSub:
      return static_cast<std::int64_t>(y - x);
    case BinaryOp::Div:
    case BinaryOp::ReverseDiv:
      break;
  }
  TW_UNREACHABLE("integer operation {}", static_cast<int>(op));
}

double apply(UnaryOp op, double a) {
  switch (op) {
    case UnaryOp::Neg:
      return -a;
    case UnaryOp::Abs:
      return std::abs(a);
    case UnaryOp::Exp:
      return std::exp(a);
    case UnaryOp::Log:
      return std::log(a);
    case UnaryOp::Sqrt:
      return std::sqrt(a);
    case UnaryOp::Rsqrt:
      return 1 / std::sqrt(a);
    case UnaryOp::Tanh:
      return std::tanh(a);
    case UnaryOp::Sigmoid:
      return 1 / (1 + std::exp(-a));
    case UnaryOp::Relu:
      return a > 0 || a != a ? a : 0;
    case UnaryOp::Sin:
      return std::sin(a);
    case UnaryOp::Cos:
      return std::cos(a);
  }
  TW_UNREACHABLE("unary operation {}", static_cast<int>(op));
}

template <class Body>
void with_element(DType dtype, Body body) {
  switch (dtype) {
    case DType::Float64:
      return body(double{});
    case DType::Float32:
      return body(float{});
    case DType::Float16:
      return body(Half{});
    case DType::BFloat16:
      return body(BFloat16{});
    case DType::Float8E4M3:
      return body(Float8E4M3{});
    case DType::Float8E5M2:
      return body(Float8E5M2{});
    case DType::Int8:
      return body(std::int8_t{});
    case DType::Int16:
      return body(std::int16_t{});
    case DType::Int32:
      return body(std::int32_t{});
    case DType::Int64:
      return body(std::int64_t{});
    case DType::UInt8:
      return body(std::uint8_t{});
    case DType::UInt16:
      return body(std::uint16_t{});
    case DType::UInt32:
      return body(std::uint32_t{});
    case DType::UInt64:
      return body(std::uint64_t{});
    case DType::Bool:
      return body(bool{});
  }
  TW_UNREACHABLE("dtype {}", static_cast<int>(dtype));
}

template <class T>
constexpr bool is_float_element = !std::is_integral_v<T>;

// b is a tensor of the same shape and dtype, or null for the scalar.
void binary_on_cpu(BinaryOp op, const Tensor& a, const Tensor* b, double scalar,
                   const Tensor& out) {
  with_element(a.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* x = static_cast<const T*>(a.data());
    const T* y = b ? static_cast<const T*>(b->data()) : nullptr;
    T* z = static_cast<T*>(out.data());
    for (std::int64_t i = 0, n = out.numel(); i < n; ++i) {
      if constexpr (is_float_element<T>)
        z[i] = static_cast<T>(
            apply(op, static_cast<double>(x[i]), y ? static_cast<double>(y[i]) : scalar));
      else
        z[i] = static_cast<T>(
            apply(op, static_cast<std::int64_t>(x[i]),
                  y ? static_cast<std::int64_t>(y[i]) : static_cast<std::int64_t>(scalar)));
    }
  });
}

void unary_on_cpu(UnaryOp op, const Tensor& a, const Tensor& out) {
  with_element(a.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* x = static_cast<const T*>(a.data());
    T* z = static_cast<T*>(out.data());
    for (std::int64_t i = 0, n = out.numel(); i < n; ++i)
      z[i] = static_cast<T>(apply(op, static_cast<double>(x[i])));
  });
}

// ---- A GPU.

const char* device_type(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return "double";
    case DType::Float32:
      return "float";
    case DType::Float16:
      return "c10::Half";
    case DType::BFloat16:
      return "c10::BFloat16";
    case DType::Int8:
      return "signed char";
    case DType::Int16:
      return "short";
    case DType::Int32:
      return "int";
    case DType::Int64:
      return "long";
    case DType::UInt8:
      return "unsigned char";
    case DType::UInt16:
      return "unsigned short";
    case DType::UInt32:
      return "unsigned";
    case DType::UInt64:
      return "unsigned long";
    case DType::Bool:
      return "bool";
    case DType::Float8E4M3:
    case DType::Float8E5M2:
      break;
  }
  throw ArgumentError(fmt::format(
      "arithmetic on {} tensors is not available on a GPU; convert them first", name_of(dtype)));
}

Function device_function(const std::string& expression, Device device,
                         std::vector<Parameter> parameters) {
  KernelSource source;
  source.name = "torch_ops";
  source.text = embedded_part("torch/small_floats.h") + embedded_part("torch/elementwise.cu");
  source.options = {"-std=c++17"};
  source.name_expressions = {expression};
  source.kernels.push_back(
      {expression, parameters, {direct_plan(expression, parameters.size())}, {}});
  return Module::load(source, device).function(expression);
}

Parameter pointer() {
  Parameter parameter;
  parameter.kind = Parameter::Kind::Pointer;
  parameter.any_pointee = true;
  return parameter;
}

Parameter scalar_of(DType dtype) {
  Parameter parameter;
  parameter.dtype = dtype;
  return parameter;
}

constexpr int block_threads = 256;

void binary_on_gpu(BinaryOp op, const Tensor& a, const Tensor* b, double scalar,
                   const Tensor& out) {
  const std::string expression =
      fmt::format("binary<{}, {}>", device_type(a.dtype()), static_cast<int>(op));
  const Function f = device_function(
      expression, a.device(), {pointer(), pointer(), scalar_of(f64), pointer(), scalar_of(i64)});
  f[{.grid = cdiv(out.numel(), block_threads), .block = block_threads}](
      a, b ? *b : a, b ? std::nan("") : scalar, out, b ? out.numel() : -out.numel());
}

void unary_on_gpu(UnaryOp op, const Tensor& a, const Tensor& out) {
  const std::string expression =
      fmt::format("unary<{}, {}>", device_type(a.dtype()), static_cast<int>(op));
  const Function f =
      device_function(expression, a.device(), {pointer(), pointer(), scalar_of(i64)});
  f[{.grid = cdiv(out.numel(), block_threads), .block = block_threads}](a, out, out.numel());
}

Tensor run_binary(BinaryOp op, const Tensor& a, const Tensor* b, double scalar) {
  const Tensor out = empty(a.shape(), TensorOptions(a.dtype(), a.device()));
  if (out.numel() == 0) return out;
  if (a.device().is_cuda()) binary_on_gpu(op, a, b, scalar, out);
  else binary_on_cpu(op, a, b, scalar, out);
  return out;
}

}  // namespace

Tensor binary(BinaryOp op, const Tensor& a, const Tensor& b) {
  if (a.device() != b.device())
    throw ArgumentError(
        fmt::format("tensors on {} and {} cannot be combined; copy one of them first",
                    a.device().name(), b.device().name()));
  const DType dtype = result_type(op, promote(a.dtype(), b.dtype()));
  const Shape shape = broadcast_shape(a.shape(), b.shape());
  const Tensor x = a.to(dtype).broadcast_to(shape).contiguous();
  const Tensor y = b.to(dtype).broadcast_to(shape).contiguous();
  return run_binary(op, x, &y, 0);
}

Tensor binary(BinaryOp op, const Tensor& a, double scalar, bool is_fraction) {
  DType dtype = a.dtype();
  if (!is_floating(dtype) && is_fraction) dtype = DType::Float32;
  if (dtype == DType::Bool) dtype = DType::Int64;
  return run_binary(op, a.to(result_type(op, dtype)).contiguous(), nullptr, scalar);
}

Tensor unary(UnaryOp op, const Tensor& a) {
  const bool keeps_integers = op == UnaryOp::Neg || op == UnaryOp::Abs || op == UnaryOp::Relu;
  const Tensor x =
      (is_floating(a.dtype()) || keeps_integers ? a : a.to(DType::Float32)).contiguous();
  const Tensor out = empty(x.shape(), TensorOptions(x.dtype(), x.device()));
  if (out.numel() == 0) return out;
  if (x.device().is_cuda()) unary_on_gpu(op, x, out);
  else unary_on_cpu(op, x, out);
  return out;
}

Tensor reduce(Reduction reduction, const Tensor& a) {
  const bool extremum = reduction == Reduction::Max || reduction == Reduction::Min;
  if (extremum && a.numel() == 0)
    throw ArgumentError("the maximum or minimum of a tensor without elements is not defined");
  const Tensor values = a.cpu().to(DType::Float64).contiguous();
  const double* x = values.data<double>();
  double result = extremum ? x[0] : 0;
  for (std::int64_t i = 0, n = values.numel(); i < n; ++i) {
    if (reduction == Reduction::Max) result = x[i] > result || x[i] != x[i] ? x[i] : result;
    else if (reduction == Reduction::Min) result = x[i] < result || x[i] != x[i] ? x[i] : result;
    else result += x[i];
  }
  if (reduction == Reduction::Mean)
    result = a.numel() > 0 ? result / static_cast<double>(a.numel())
                           : std::numeric_limits<double>::quiet_NaN();
  const bool widens = reduction == Reduction::Sum && !is_floating(a.dtype());
  const DType dtype = widens                                                    ? DType::Int64
                      : reduction == Reduction::Mean && !is_floating(a.dtype()) ? DType::Float32
                                                                                : a.dtype();
  return full({}, result, TensorOptions(dtype, a.device()));
}

}  // namespace tilewright
