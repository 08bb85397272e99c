// SPDX-License-Identifier: Apache-2.0
// graph/eager/pointwise.cpp — operations on elements at the same place.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "graph/eager/eager.h"
#include "graph/trace/tracer.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace graph {

bool is_number_of(DType dtype, const Scalar& number) {
  if (number.dtype() == DType::Float32) return true;
  const bool is_beyond_int64 = number.real() > 0 && number.integer() < 0;
  if (!is_signed(dtype) && number.real() < 0) return false;
  if (size_of(dtype) == 8) return !is_signed(dtype) || !is_beyond_int64;
  const int bits = static_cast<int>(8 * size_of(dtype));
  const double end = std::ldexp(1.0, is_signed(dtype) ? bits - 1 : bits);
  return number.real() < end && number.real() >= -end;
}

namespace {

constexpr std::size_t most_pointwise = 3;

TypedOperand typed(const Operand& operand) {
  const Tensor* const tensor = operand.tensor();
  if (tensor == nullptr) return {operand.number().dtype(), Weight::Number};
  return {tensor->dtype(), tensor->rank() == 0 ? Weight::Scalar : Weight::Tensor};
}

std::string operand_text(const Operand& operand) {
  if (operand.tensor() != nullptr) return tensor_text(*operand.tensor());
  const Scalar& number = operand.number();
  return number.dtype() == DType::Float32 ? fmt::format("{}", number.real())
                                          : fmt::format("{}", number.integer());
}

std::string call_text(Op op, std::span<const Operand> operands) {
  std::string text(facts_of(op).name);
  for (std::size_t i = 0; i < operands.size(); ++i)
    text += (i == 0 ? "(" : ", ") + operand_text(operands[i]);
  return text + ")";
}

DType common_dtype(Op op, std::span<const Operand> operands) {
  TypedOperand types[most_pointwise] = {{DType::Bool}, {DType::Bool}, {DType::Bool}};
  const std::size_t first = op == Op::Where ? 1 : 0;
  for (std::size_t i = first; i < operands.size(); ++i) types[i - first] = typed(operands[i]);
  return promote({types, operands.size() - first});
}

void check_meaning(Op op, std::span<const Operand> operands, DType common) {
  const bool is_bool = common == DType::Bool;
  if (is_bool && (op == Op::Subtract || op == Op::Negate))
    throw ArgumentError(fmt::format("{}: bools have no difference: use ne() or logical_not()",
                                    call_text(op, operands)));
  if (op == Op::Where && operands[0].tensor()->dtype() != DType::Bool)
    throw ArgumentError(
        fmt::format("{}: the condition must be a bool tensor: compare it with something",
                    call_text(op, operands)));
}

// Sums and products are modulo 2^bits, whatever the number is; where its size counts, another one
// in its place would give what nobody asked for.
void check_numbers(Op op, std::span<const Operand> operands, DType common) {
  if (!is_integer(common)) return;
  const bool is_exponent = op == Op::Power;
  const bool is_size = facts_of(op).types == TypeRule::Compare || op == Op::Minimum ||
                       op == Op::Maximum || op == Op::Clamp || op == Op::FloorDivide ||
                       op == Op::Remainder || op == Op::Where || is_exponent;
  if (!is_size) return;
  for (std::size_t i = is_exponent ? 1 : 0; i < operands.size(); ++i)
    if (operands[i].tensor() == nullptr && !is_number_of(common, operands[i].number()))
      throw ArgumentError(fmt::format("{}: {} is no {}: convert the tensor with to() first",
                                      call_text(op, operands), operand_text(operands[i]),
                                      name_of(common)));
}

// What a trace makes of two aranges (a causal mask) is computed where it is read, not kept: where
// all operands are known, and the result has more elements than each of them.
Tracer* tracer_of_places(std::span<const Operand> operands, const Shape& shape) {
  Tracer* const tracer = Tracer::current();
  bool is_any = false;
  for (const Operand& operand : operands) {
    const Tensor* const tensor = operand.tensor();
    if (tensor == nullptr) continue;
    const std::optional<MadeContents> contents = contents_of(*tensor);
    if (!contents || tensor->shape() == shape || tensor->device() != tracer->graph.device)
      return nullptr;
    is_any |= contents->kind == MadeContents::Kind::Counting;
  }
  return is_any ? tracer : nullptr;
}

// By dtypes, and which operands are numbers.
std::uint64_t formula_key(std::span<const Operand> operands, DType common) {
  std::uint64_t key = static_cast<std::uint64_t>(common);
  for (const Operand& operand : operands)
    key =
        key << 5 |
        (operand.tensor() != nullptr ? static_cast<std::uint64_t>(operand.tensor()->dtype()) : 31);
  return key;
}

void make_pointwise(Formula& f, Op op, std::span<const Operand> operands, DType common) {
  f.name = fmt::format("tw_{}", facts_of(op).name);
  int values[most_pointwise] = {-1, -1, -1};
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].tensor() != nullptr) values[i] = f.leaf(operands[i].tensor()->dtype());
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].tensor() == nullptr)
      values[i] = f.number(number_dtype(compute_dtype(operand_dtype(op, common))));
  const int made = f.step(op, std::vector<int>(values, values + operands.size()), common);
  f.output(made, f.dtype(made));
}

}  // namespace

Tensor apply_pointwise(Op op, std::span<const Operand> operands) {
  Tracer* tracer = nullptr;
  const Tensor* first = nullptr;
  const Tensor* widest = nullptr;  // whose shape the result has; null where none has it alone
  for (const Operand& operand : operands) {
    const Tensor* const tensor = operand.tensor();
    if (tensor == nullptr) continue;
    if (Tracer* const found = tracer_of(*tensor)) tracer = found;
    if (first == nullptr) {
      first = widest = tensor;
      check_rank(facts_of(op).name, *tensor);
      continue;
    }
    check_rank(facts_of(op).name, *tensor);
    check_one_device(facts_of(op).name, *first, *tensor);
    if (widest != nullptr && tensor->shape() != widest->shape()) widest = nullptr;
  }
  if (first == nullptr)
    throw ArgumentError(
        fmt::format("{} needs a tensor among its operands", call_text(op, operands)));
  const DType common = common_dtype(op, operands);
  check_meaning(op, operands, common);
  check_numbers(op, operands, common);
  Shape shape = first->shape();
  if (widest == nullptr)
    for (const Operand& operand : operands)
      if (operand.tensor() != nullptr)
        shape = broadcast_shapes(facts_of(op).name, shape, operand.tensor()->shape());
  if (tracer == nullptr && widest == nullptr && Tracer::current() != nullptr) [[unlikely]]
    tracer = tracer_of_places(operands, shape);
  if (tracer != nullptr) return tracer->record_pointwise(op, operands, common, shape);
  const Formula& formula =
      eager_formula(static_cast<int>(op), formula_key(operands, common),
                    [&](Formula& f) { make_pointwise(f, op, operands, common); });
  const Tensor out = empty(std::move(shape), {formula.outputs[0].dtype, first->device()});
  if (out.numel() == 0) return out;
  Walk walk;
  walk.set_sizes(out.shape());
  Argument arguments[most_pointwise + 1], numbers[most_pointwise];
  std::size_t tensors = 0, scalars = 0;
  for (const Operand& operand : operands) {
    if (const Tensor* const tensor = operand.tensor()) {
      walk.add_operand(tensor->shape(), tensor->strides());
      arguments[tensors++] = *tensor;
    } else {
      numbers[scalars++] = operand_argument(operand_dtype(op, common), operand.number());
    }
  }
  walk.add_operand(out.shape(), out.strides());
  arguments[tensors++] = out;
  walk.finish(0, false, out.device().kind);
  run_group(formula, walk, {arguments, tensors}, {numbers, scalars});
  return out;
}

Tensor apply_pointwise(Op op, std::initializer_list<Operand> operands) {
  return apply_pointwise(op, std::span<const Operand>(operands.begin(), operands.size()));
}

}  // namespace graph

using graph::apply_pointwise;
using graph::Op;

Tensor add(const Operand& a, const Operand& b) { return apply_pointwise(Op::Add, {a, b}); }
Tensor sub(const Operand& a, const Operand& b) { return apply_pointwise(Op::Subtract, {a, b}); }
Tensor mul(const Operand& a, const Operand& b) { return apply_pointwise(Op::Multiply, {a, b}); }
Tensor div(const Operand& a, const Operand& b) { return apply_pointwise(Op::Divide, {a, b}); }
Tensor floor_divide(const Operand& a, const Operand& b) {
  return apply_pointwise(Op::FloorDivide, {a, b});
}
Tensor remainder(const Operand& a, const Operand& b) {
  return apply_pointwise(Op::Remainder, {a, b});
}

Tensor pow(const Operand& a, const Operand& b) {
  // x * x is exact where the general power is not, and much cheaper.
  const bool is_square = a.tensor() != nullptr && b.tensor() == nullptr && b.number().real() == 2 &&
                         (is_floating(a.tensor()->dtype()) || b.number().dtype() == DType::Int64);
  if (is_square && a.tensor()->dtype() != DType::Bool) return square(*a.tensor());
  return apply_pointwise(Op::Power, {a, b});
}

Tensor minimum(const Operand& a, const Operand& b) { return apply_pointwise(Op::Minimum, {a, b}); }
Tensor maximum(const Operand& a, const Operand& b) { return apply_pointwise(Op::Maximum, {a, b}); }
Tensor eq(const Operand& a, const Operand& b) { return apply_pointwise(Op::Equal, {a, b}); }
Tensor ne(const Operand& a, const Operand& b) { return apply_pointwise(Op::NotEqual, {a, b}); }
Tensor lt(const Operand& a, const Operand& b) { return apply_pointwise(Op::Less, {a, b}); }
Tensor le(const Operand& a, const Operand& b) { return apply_pointwise(Op::LessEqual, {a, b}); }
Tensor gt(const Operand& a, const Operand& b) { return apply_pointwise(Op::Greater, {a, b}); }
Tensor ge(const Operand& a, const Operand& b) { return apply_pointwise(Op::GreaterEqual, {a, b}); }
Tensor logical_and(const Operand& a, const Operand& b) {
  return apply_pointwise(Op::LogicalAnd, {a, b});
}
Tensor logical_or(const Operand& a, const Operand& b) {
  return apply_pointwise(Op::LogicalOr, {a, b});
}
Tensor logical_not(const Tensor& x) { return apply_pointwise(Op::LogicalNot, {x}); }
Tensor isnan(const Tensor& x) { return apply_pointwise(Op::IsNan, {x}); }
Tensor isinf(const Tensor& x) { return apply_pointwise(Op::IsInf, {x}); }
Tensor neg(const Tensor& x) { return apply_pointwise(Op::Negate, {x}); }
Tensor abs(const Tensor& x) { return apply_pointwise(Op::Absolute, {x}); }
Tensor sign(const Tensor& x) { return apply_pointwise(Op::Sign, {x}); }
Tensor square(const Tensor& x) { return apply_pointwise(Op::Square, {x}); }
Tensor reciprocal(const Tensor& x) { return apply_pointwise(Op::Reciprocal, {x}); }
Tensor floor(const Tensor& x) { return apply_pointwise(Op::Floor, {x}); }
Tensor ceil(const Tensor& x) { return apply_pointwise(Op::Ceil, {x}); }
Tensor round(const Tensor& x) { return apply_pointwise(Op::Round, {x}); }
Tensor trunc(const Tensor& x) { return apply_pointwise(Op::Trunc, {x}); }
Tensor exp(const Tensor& x) { return apply_pointwise(Op::Exp, {x}); }
Tensor expm1(const Tensor& x) { return apply_pointwise(Op::Expm1, {x}); }
Tensor log(const Tensor& x) { return apply_pointwise(Op::Log, {x}); }
Tensor log2(const Tensor& x) { return apply_pointwise(Op::Log2, {x}); }
Tensor log1p(const Tensor& x) { return apply_pointwise(Op::Log1p, {x}); }
Tensor sqrt(const Tensor& x) { return apply_pointwise(Op::Sqrt, {x}); }
Tensor rsqrt(const Tensor& x) { return apply_pointwise(Op::Rsqrt, {x}); }
Tensor sin(const Tensor& x) { return apply_pointwise(Op::Sin, {x}); }
Tensor cos(const Tensor& x) { return apply_pointwise(Op::Cos, {x}); }
Tensor tan(const Tensor& x) { return apply_pointwise(Op::Tan, {x}); }
Tensor tanh(const Tensor& x) { return apply_pointwise(Op::Tanh, {x}); }
Tensor erf(const Tensor& x) { return apply_pointwise(Op::Erf, {x}); }
Tensor sigmoid(const Tensor& x) { return apply_pointwise(Op::Sigmoid, {x}); }
Tensor relu(const Tensor& x) { return apply_pointwise(Op::Relu, {x}); }
Tensor silu(const Tensor& x) { return apply_pointwise(Op::Silu, {x}); }

Tensor gelu(const Tensor& x, Gelu form) {
  return apply_pointwise(form == Gelu::Erf ? Op::Gelu : Op::GeluTanh, {x});
}

Tensor clamp(const Tensor& x, std::optional<Scalar> low, std::optional<Scalar> high) {
  if (!low && !high)
    throw ArgumentError("clamp needs a lowest or a highest value, but was given neither");
  if (!low) return minimum(x, *high);
  if (!high) return maximum(x, *low);
  return apply_pointwise(Op::Clamp, {x, *low, *high});
}

Tensor where(const Tensor& condition, const Operand& a, const Operand& b) {
  return apply_pointwise(Op::Where, {condition, a, b});
}

Tensor to(const Tensor& x, DType dtype) { return x.to(dtype); }

}  // namespace tilewright
