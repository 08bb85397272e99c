// SPDX-License-Identifier: Apache-2.0
// bench/suite/ops.cpp — the table of operations, and problems made from it.
#include "bench/suite/ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/units.h"
#include "bench/suite/references.h"
#include "tilewright/error.h"

namespace tilewright::suite {
namespace {

using Fill = Operand::Fill;
using Operands = std::vector<Operand>;

Operand normal(const char* name, Shape shape, DType dtype) {
  return {name, std::move(shape), dtype};
}
Operand output(Shape shape, DType dtype) { return {"out", std::move(shape), dtype, Fill::Nothing}; }

Operands one_input(const Shape& s, DType t) { return {normal("x", s, t), output(s, t)}; }
Operands two_inputs(const Shape& s, DType t) {
  return {normal("x", s, t), normal("y", s, t), output(s, t)};
}
Operands with_weight(const Shape& s, DType t) {
  return {normal("x", s, t), normal("weight", {s.back()}, t), output(s, t)};
}
Operands with_weight_and_bias(const Shape& s, DType t) {
  return {normal("x", s, t), normal("weight", {s.back()}, t), normal("bias", {s.back()}, t),
          output(s, t)};
}
Operands with_target(const Shape& s, DType t) {
  return {normal("x", s, t),
          {"target", {s[0]}, DType::Int64, Fill::Classes, s[1]},
          output({s[0]}, DType::Float32)};
}
Operands product(const Shape& s, DType t) {
  return {normal("a", {s[0], s[2]}, t), normal("b", {s[2], s[1]}, t), output({s[0], s[1]}, t)};
}
Operands heads(const Shape& s, DType t) {
  return {normal("q", s, t), normal("k", s, t), normal("v", s, t), output(s, t)};
}

Shape square(std::int64_t n) { return {n, n}; }
Shape cube(std::int64_t n) { return {n, n, n}; }
Shape eight_heads(std::int64_t n) { return {1, 8, n, 64}; }

double count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, [](double product, std::int64_t size) {
    return product * static_cast<double>(size);
  });
}
template <int PerElement>
double per_element(const Shape& shape) {
  return PerElement * count(shape);
}
double attention_flops(const Shape& s) { return 4 * count(s) * static_cast<double>(s[2]); }

constexpr DType f32_ = DType::Float32, f16_ = DType::Float16;
constexpr const char* plane = "rows x columns";

// name, what, shape, arithmetic, operands, --dim, its default on cpu and cuda, dtype on cuda,
// FLOPs, reference
const std::array table = {
    Operation{"add", "x + y", plane, false, two_inputs, square, 4096, 16384, f32_, per_element<1>,
              check_add},
    Operation{"attention", "softmax(q k^T / sqrt(d)) v", "batch x heads x length x head", true,
              heads, eight_heads, 1024, 8192, f16_, attention_flops, check_attention},
    Operation{"cross_entropy", "log(sum(exp(row))) - row[target]", plane, false, with_target,
              square, 4096, 16384, f32_, per_element<4>, check_cross_entropy},
    Operation{"dropout", "zero with probability 0.25, else x / 0.75", plane, false, one_input,
              square, 4096, 16384, f32_, per_element<2>, check_dropout},
    Operation{"gelu", "0.5 x (1 + tanh(0.79788456 (x + 0.044715 x^3)))", plane, false, one_input,
              square, 4096, 16384, f32_, per_element<10>, check_gelu},
    Operation{"layernorm", "(row - mean) / deviation * weight + bias", plane, false,
              with_weight_and_bias, square, 4096, 16384, f32_, per_element<8>, check_layernorm},
    Operation{"matmul", "a @ b", "M x N x K", true, product, cube, 1024, 4096, f16_, per_element<2>,
              check_matmul},
    Operation{"rmsnorm", "row / sqrt(mean(row^2)) * weight", plane, false, with_weight, square,
              4096, 16384, f32_, per_element<4>, check_rmsnorm},
    Operation{"softmax", "exp(row - max) / sum", plane, false, one_input, square, 4096, 16384, f32_,
              per_element<5>, check_softmax},
};

double bytes_of(const Operand& operand) {
  return count(operand.shape) * static_cast<double>(size_of(operand.dtype));
}

Tensor made(const Operand& operand, Device device, std::uint64_t seed) {
  if (operand.fill == Fill::Nothing) return empty(operand.shape, {operand.dtype, device});
  if (operand.fill == Fill::Normal)
    return randn(operand.shape, RandomOptions(operand.dtype, device).with_seed(seed));
  std::vector<std::int64_t> values(static_cast<std::size_t>(operand.shape[0]));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int64_t>(i * 7919 % static_cast<std::size_t>(operand.classes));
  return tensor(values, device);
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 0x1p-10;
    case DType::BFloat16:
      return 0x1p-7;
    case DType::Float64:
      return 0x1p-52;
    default:
      return 0x1p-23;
  }
}

}  // namespace

const Tensor& Problem::tensor(std::string_view name) const {
  for (const auto& [known, value] : tensors)
    if (known == name) return value;
  throw InternalError(fmt::format("{} has no operand '{}'", operation->name, name));
}

std::int64_t Problem::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::span<const Operation> operations() { return table; }

const Operation& operation_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Operation& operation : table) {
    if (operation.name == name) return operation;
    names.emplace_back(operation.name);
  }
  throw ArgumentError(
      fmt::format("there is no operation '{}'{}", name, suggest_names(name, names)));
}

void check_shape(const Operation& operation, const Shape& shape) {
  if (shape.size() != operation.shape_of(1).size())
    throw ArgumentError(fmt::format("{} has the shape {}, so '{}' does not fit", operation.name,
                                    operation.shape_names, shape_text(shape)));
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 1; }))
    throw ArgumentError(
        fmt::format("a shape has sizes of at least 1, so '{}' is none", shape_text(shape)));
  if (count(shape) > 0x1p56)
    throw ArgumentError(
        fmt::format("the shape '{}' has more elements than can be counted", shape_text(shape)));
}

double bytes_at_least(const Operation& operation, const Shape& shape, DType dtype) {
  double bytes = 0;
  for (const Operand& operand : operation.operands(shape, dtype)) bytes += bytes_of(operand);
  return bytes;
}

void check_memory(const Operation& operation, const Shape& shape, DType dtype, Device device,
                  int extra_outputs) {
  const double output_bytes = bytes_of(operation.operands(shape, dtype).back());
  const double needed = bytes_at_least(operation, shape, dtype) + extra_outputs * output_bytes;
  const MemoryState memory = device.memory();
  const double possible = static_cast<double>(memory.free + memory.cached);
  if (needed <= possible) return;
  throw ArgumentError(fmt::format(
      "{} at {} in {} needs about {}, but {} has {} free; choose a smaller --dim or --shape",
      operation.name, shape_text(shape), name_of(dtype),
      format_bytes(static_cast<std::size_t>(needed)), device.name(),
      format_bytes(static_cast<std::size_t>(possible))));
}

Problem make_problem(const Operation& operation, const Shape& shape, DType dtype, Device device) {
  check_shape(operation, shape);
  check_memory(operation, shape, dtype, device);
  Problem problem{&operation, shape, dtype, device, {}};
  std::uint64_t seed = 1;
  for (const Operand& operand : operation.operands(shape, dtype))
    problem.tensors.emplace_back(operand.name, made(operand, device, seed++));
  return problem;
}

double tolerance_of(const Problem& problem, int roundings) {
  const bool is_product = problem.operation->is_arithmetic;
  const double arithmetic = is_product && problem.device.is_cuda() ? 0x1p-9 : 64 * 0x1p-23;
  return arithmetic + roundings * epsilon_of(problem.dtype);
}

std::string shape_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

}  // namespace tilewright::suite
