// SPDX-License-Identifier: Apache-2.0
// graph/lower/emit.cpp — what each operation of ops.def computes.
#include "graph/lower/emit.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace tilewright::graph {
namespace {

using Kind = ir::OpKind;
using ir::Builder;
using ir::Value;

// Bools are computed with as integers of 32 bits, except by what is made for them.
DType arithmetic_dtype(const Step& step) {
  const DType compute = compute_dtype(step.operand_dtype);
  const bool takes_bools =
      facts_of(step.op).types == TypeRule::Logical || step.op == Op::Where || step.op == Op::Cast;
  return compute == DType::Bool && !takes_bools ? DType::Int32 : compute;
}

Value emit_number(Builder& b, Value like, double value) {
  const ir::Type& type = b.type(like);
  if (type.is_float()) return b.constant(type, value);
  return b.constant(type, static_cast<std::int64_t>(value));
}

Value emit_propagating(Builder& b, Kind kind, Value x, Value y) {
  if (!b.type(x).is_float()) return b.binary(kind, x, y);
  return b.create_one(kind, {x, y}, b.type(x), {{"nan", std::string("propagate")}});
}

Value emit_division(Builder& b, Value x, Value y, bool is_exact) {
  std::vector<ir::Attribute> attributes;
  if (is_exact) attributes.push_back({"exact", std::int64_t{1}});
  return b.create_one(Kind::Divide, {x, y}, b.type(x), std::move(attributes));
}

// 1 / (1 + exp(-x))
Value emit_sigmoid(Builder& b, Value x) {
  const Value one = emit_number(b, x, 1);
  const Value power = b.math("exp", {b.unary(Kind::Negate, x)});
  return emit_division(b, one, b.binary(Kind::Add, one, power), false);
}

Value emit_gelu(Builder& b, Value x) {
  const Value scaled = b.binary(Kind::Multiply, x, emit_number(b, x, std::sqrt(0.5)));
  const Value share = b.binary(Kind::Add, b.math("erf", {scaled}), emit_number(b, x, 1));
  return b.binary(Kind::Multiply, b.binary(Kind::Multiply, x, emit_number(b, x, 0.5)), share);
}

// 0.5 x (1 + tanh(u)) = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3)
Value emit_gelu_tanh(Builder& b, Value x) {
  const Value square = b.binary(Kind::Multiply, x, x);
  const Value cube = b.binary(Kind::Multiply, square, x);
  const Value term = b.binary(Kind::Multiply, cube, emit_number(b, x, 0.044715));
  const Value sum = b.binary(Kind::Add, x, term);
  const Value u = b.binary(Kind::Multiply, sum, emit_number(b, x, 2 * std::sqrt(2 / M_PI)));
  return b.binary(Kind::Multiply, x, emit_sigmoid(b, u));
}

Value emit_sign(Builder& b, Value x) {
  const Value zero = emit_number(b, x, 0), one = emit_number(b, x, 1);
  const Value up = b.select(b.compare("gt", x, zero), one, zero);
  if (b.type(x).is_int() && !is_signed(b.type(x).dtype)) return up;
  return b.select(b.compare("lt", x, zero), emit_number(b, x, -1), up);
}

// Is a rest that is not 0 of another sign than its divisor? Then it is Python's plus the divisor.
Value emit_differs_in_sign(Builder& b, Value rest, Value divisor) {
  const Value zero = emit_number(b, rest, 0);
  return b.binary(Kind::And, b.compare("ne", rest, zero),
                  b.binary(Kind::Xor, b.compare("lt", rest, zero), b.compare("lt", divisor, zero)));
}

// Python's, whose result has the divisor's sign; 0 for integers divided by 0.
Value emit_remainder(Builder& b, Value x, Value y) {
  const Value zero = emit_number(b, x, 0);
  Value divisor = y;
  if (b.type(x).is_int()) divisor = b.select(b.compare("eq", y, zero), emit_number(b, x, 1), y);
  const Value rest = b.binary(Kind::Remainder, x, divisor);
  return b.select(emit_differs_in_sign(b, rest, divisor), b.binary(Kind::Add, rest, divisor), rest);
}

// From the exact rest, since x / y may be rounded up to the next whole number: 1 // 0.1 is 9. The
// quotient of what is left is whole but for its rounding.
Value emit_floor_divide_floats(Builder& b, Value x, Value y) {
  const Value zero = emit_number(b, x, 0), one = emit_number(b, x, 1);
  const Value rest = b.binary(Kind::Remainder, x, y);
  const Value is_below = emit_differs_in_sign(b, rest, y);
  const Value whole = emit_division(b, b.binary(Kind::Subtract, x, rest), y, true);
  const Value near = b.select(is_below, b.binary(Kind::Subtract, whole, one), whole);
  const Value low = b.math("floor", {near});
  const Value is_high =
      b.compare("gt", b.binary(Kind::Subtract, near, low), emit_number(b, x, 0.5));
  const Value result = b.select(is_high, b.binary(Kind::Add, low, one), low);
  // A 0 has the sign of x / y, and so has what is divided by 0.
  const Value ratio = emit_division(b, x, y, true);
  const Value signed_zero = b.binary(Kind::Multiply, ratio, zero);
  const Value any = b.select(b.compare("eq", near, zero), signed_zero, result);
  return b.select(b.compare("eq", y, zero), ratio, any);
}

Value emit_floor_divide(Builder& b, Value x, Value y) {
  if (b.type(x).is_float()) return emit_floor_divide_floats(b, x, y);
  const Value zero = emit_number(b, x, 0), one = emit_number(b, x, 1);
  const Value is_zero = b.compare("eq", y, zero);
  const Value divisor = b.select(is_zero, one, y);
  const Value whole = b.binary(Kind::Divide, x, divisor);
  const Value rest = b.binary(Kind::Remainder, x, divisor);
  // Of the quotient that drops the rest: x without its rest may be out of range.
  const Value below = b.select(emit_differs_in_sign(b, rest, divisor), one, zero);
  return b.select(is_zero, zero, b.binary(Kind::Subtract, whole, below));
}

// By squaring, modulo 2^bits as products are: all bits of the exponent count, since only even bases
// become 0. A negative exponent leaves 0 unless the base is 1 or -1.
Value emit_integer_power(Builder& b, Value x, Value y) {
  const Value one = emit_number(b, x, 1), zero = emit_number(b, x, 0);
  Value result = one, base = x, exponent = y;
  const int all = 8 * static_cast<int>(size_of(b.type(x).dtype));
  const int bits = is_signed(b.type(x).dtype) ? all - 1 : all;
  for (int bit = 0; bit < bits; ++bit) {
    const Value is_odd = b.compare("ne", b.binary(Kind::And, exponent, one), zero);
    result = b.select(is_odd, b.binary(Kind::Multiply, result, base), result);
    if (bit + 1 == bits) break;
    base = b.binary(Kind::Multiply, base, base);
    exponent = b.binary(Kind::ShiftRight, exponent, one);
  }
  if (!is_signed(b.type(x).dtype)) return result;
  const Value minus = emit_number(b, x, -1);
  const Value is_odd = b.compare("ne", b.binary(Kind::And, y, one), zero);
  const Value of_minus = b.select(is_odd, minus, one);
  const Value inverse =
      b.select(b.compare("eq", x, one), one, b.select(b.compare("eq", x, minus), of_minus, zero));
  return b.select(b.compare("lt", y, zero), inverse, result);
}

Value emit_rounded(Builder& b, const char* function, Value x) {
  return b.type(x).is_float() ? b.math(function, {x}) : x;
}

// 2^64 for what is so small that its reciprocal may be infinite, 2^-64 for what is so large that it
// may be subnormal, else 1.
Value emit_balance(Builder& b, Value x) {
  const Value size = b.unary(Kind::Absolute, x);
  const Value if_large = b.select(b.compare("gt", size, emit_number(b, x, 0x1p100)),
                                  emit_number(b, x, 0x1p-64), emit_number(b, x, 1));
  return b.select(b.compare("lt", size, emit_number(b, x, 0x1p-100)), emit_number(b, x, 0x1p64),
                  if_large);
}

Value emit_is_inf(Builder& b, Value x) {
  if (!b.type(x).is_float()) return b.constant(b.type(x).with_element(b1), std::int64_t{0});
  return b.compare("eq", b.unary(Kind::Absolute, x), emit_number(b, x, INFINITY));
}

Value emit_cast(Builder& b, const Step& step, Value x) {
  // A small float is rounded, then computed with as before.
  return b.cast(b.cast(x, step.dtype), compute_dtype(step.dtype));
}

Value emit_plain(Builder& b, const Step& step, const std::vector<Value>& in) {
  const Value x = in[0];
  switch (step.op) {
    case Op::Add:
      return b.binary(Kind::Add, x, in[1]);
    case Op::Subtract:
      return b.binary(Kind::Subtract, x, in[1]);
    case Op::Multiply:
      return b.binary(Kind::Multiply, x, in[1]);
    case Op::Divide:
      return emit_division(b, x, in[1], true);
    case Op::Quotient:
      return emit_division(b, x, in[1], false);
    case Op::FloorDivide:
      return emit_floor_divide(b, x, in[1]);
    case Op::Remainder:
      return emit_remainder(b, x, in[1]);
    case Op::Power:
      return b.type(x).is_float() ? b.math("pow", {x, in[1]}) : emit_integer_power(b, x, in[1]);
    case Op::Minimum:
      return emit_propagating(b, Kind::Minimum, x, in[1]);
    case Op::Maximum:
      return emit_propagating(b, Kind::Maximum, x, in[1]);
    case Op::Equal:
      return b.compare("eq", x, in[1]);
    case Op::NotEqual:
      return b.compare("ne", x, in[1]);
    case Op::Less:
      return b.compare("lt", x, in[1]);
    case Op::LessEqual:
      return b.compare("le", x, in[1]);
    case Op::Greater:
      return b.compare("gt", x, in[1]);
    case Op::GreaterEqual:
      return b.compare("ge", x, in[1]);
    case Op::LogicalAnd:
      return b.binary(Kind::And, x, in[1]);
    case Op::LogicalOr:
      return b.binary(Kind::Or, x, in[1]);
    case Op::LogicalNot:
      return b.binary(Kind::Xor, x, emit_number(b, x, 1));
    case Op::Negate:
      return b.unary(Kind::Negate, x);
    case Op::Absolute:
      return b.type(x).is_int() && !is_signed(b.type(x).dtype) ? x : b.unary(Kind::Absolute, x);
    case Op::Sign:
      return emit_sign(b, x);
    case Op::Square:
      return b.binary(Kind::Multiply, x, x);
    case Op::Relu:
      return emit_propagating(b, Kind::Maximum, x, emit_number(b, x, 0));
    case Op::Floor:
      return emit_rounded(b, "floor", x);
    case Op::Ceil:
      return emit_rounded(b, "ceil", x);
    case Op::Round:
      return emit_rounded(b, "rint", x);
    case Op::Trunc:
      return emit_rounded(b, "trunc", x);
    case Op::IsNan:
      return b.compare("ne", x, x);
    case Op::IsInf:
      return emit_is_inf(b, x);
    case Op::Reciprocal:
      return emit_division(b, emit_number(b, x, 1), x, true);
    case Op::Balance:
      return emit_balance(b, x);
    case Op::Exp:
    case Op::Expm1:
    case Op::Log:
    case Op::Log2:
    case Op::Log1p:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Tanh:
    case Op::Erf:
    case Op::Rsqrt:
      return b.math(facts_of(step.op).name, {x});
    case Op::Sqrt:
      return b.math("sqrt_rn", {x});
    case Op::Sigmoid:
      return emit_sigmoid(b, x);
    case Op::Silu:
      return b.binary(Kind::Multiply, x, emit_sigmoid(b, x));
    case Op::Gelu:
      return emit_gelu(b, x);
    case Op::GeluTanh:
      return emit_gelu_tanh(b, x);
    case Op::Cast:
      return emit_cast(b, step, x);
    case Op::Where:
      return b.select(x, in[1], in[2]);
    case Op::Clamp:
      return emit_propagating(b, Kind::Minimum, emit_propagating(b, Kind::Maximum, x, in[1]),
                              in[2]);
    case Op::Sum:
    case Op::Product:
    case Op::Max:
    case Op::Min:
    case Op::MaxNumber:
    case Op::ArgMax:
    case Op::ArgMin:
    case Op::RowIndex:
      break;
  }
  TW_UNREACHABLE("'{}' is not pointwise", facts_of(step.op).name);
}

bool keeps_place(Op op) { return op == Op::ArgMax || op == Op::ArgMin; }

double integer_lowest(DType dtype) {
  if (!is_signed(dtype)) return 0;
  return -std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - 1);
}

std::int64_t integer_highest(DType dtype) {
  const int bits = static_cast<int>(8 * size_of(dtype));
  if (is_signed(dtype)) return static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1);
  return static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits));
}

Value emit_neutral_value(Builder& b, Op op, const ir::Type& type) {
  if (op == Op::Sum)
    return type.is_float() ? b.constant(type, 0.0) : b.constant(type, std::int64_t{0});
  if (op == Op::Product)
    return type.is_float() ? b.constant(type, 1.0) : b.constant(type, std::int64_t{1});
  const bool is_max = op == Op::Max || op == Op::MaxNumber || op == Op::ArgMax;
  if (type.is_float()) return b.constant(type, is_max ? -INFINITY : INFINITY);
  return b.constant(type, is_max ? static_cast<std::int64_t>(integer_lowest(type.dtype))
                                 : integer_highest(type.dtype));
}

// The first of the largest (smallest) elements; a NaN is larger and smaller than all numbers.
std::vector<Value> emit_better(Builder& b, Op op, std::span<const Value> x,
                               std::span<const Value> y) {
  Value is_better = b.compare(op == Op::ArgMax ? "gt" : "lt", y[0], x[0]);
  Value is_tie = b.compare("eq", y[0], x[0]);
  if (b.type(x[0]).is_float()) {
    const Value x_is_nan = b.compare("ne", x[0], x[0]), y_is_nan = b.compare("ne", y[0], y[0]);
    const Value x_is_number = b.compare("eq", x[0], x[0]);
    is_better = b.binary(Kind::Or, is_better, b.binary(Kind::And, y_is_nan, x_is_number));
    is_tie = b.binary(Kind::Or, is_tie, b.binary(Kind::And, y_is_nan, x_is_nan));
  }
  const Value is_earlier = b.compare("lt", y[1], x[1]);
  const Value wins = b.binary(Kind::Or, is_better, b.binary(Kind::And, is_tie, is_earlier));
  return {b.select(wins, y[0], x[0]), b.select(wins, y[1], x[1])};
}

}  // namespace

Value emit_pointwise(Builder& builder, const Step& step, std::vector<Value> operands) {
  const DType wanted = arithmetic_dtype(step);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_condition = step.op == Op::Where && i == 0;
    operands[i] = builder.cast(operands[i], is_condition ? DType::Bool : wanted);
  }
  return builder.cast(emit_plain(builder, step, operands), compute_dtype(step.dtype));
}

std::vector<Value> emit_neutral(Builder& builder, const Step& step, const ir::Type& shape) {
  std::vector<Value> made = {
      emit_neutral_value(builder, step.op, shape.with_element(arithmetic_dtype(step)))};
  if (keeps_place(step.op))
    made.push_back(
        builder.constant(shape.with_element(i64), std::numeric_limits<std::int64_t>::max()));
  return made;
}

std::vector<Value> emit_partial(Builder& builder, const Step& step, Value operand, Value place) {
  std::vector<Value> made = {builder.cast(operand, arithmetic_dtype(step))};
  if (keeps_place(step.op)) made.push_back(place);
  return made;
}

std::vector<Value> emit_combined(Builder& b, const Step& step, std::span<const Value> x,
                                 std::span<const Value> y) {
  switch (step.op) {
    case Op::Sum:
      return {b.binary(Kind::Add, x[0], y[0])};
    case Op::Product:
      return {b.binary(Kind::Multiply, x[0], y[0])};
    case Op::Max:
      return {emit_propagating(b, Kind::Maximum, x[0], y[0])};
    case Op::Min:
      return {emit_propagating(b, Kind::Minimum, x[0], y[0])};
    case Op::MaxNumber:
      return {b.binary(Kind::Maximum, x[0], y[0])};
    case Op::ArgMax:
    case Op::ArgMin:
      return emit_better(b, step.op, x, y);
    default:
      TW_UNREACHABLE("'{}' is no reduction", facts_of(step.op).name);
  }
}

std::vector<Value> emit_reduced(Builder& builder, const Step& step,
                                const std::vector<Value>& partial) {
  std::vector<ir::Type> types;
  for (const Value value : partial) types.push_back(builder.type(value).element());
  ir::Op* op = builder.create(Kind::Reduce, partial, types, {{"axis", std::int64_t{0}}});
  ir::Region& region = op->regions.emplace_back();
  for (int side = 0; side < 2; ++side)
    for (const ir::Type& type : types)
      region.arguments.push_back(builder.kernel().make_value(type, "", nullptr));
  const Builder::Into into(builder, region);
  const std::span<const Value> all(region.arguments);
  builder.yield(emit_combined(builder, step, all.first(types.size()), all.subspan(types.size())));
  return op->results;
}

Value emit_result(const Step& step, std::span<const Value> partial) {
  return keeps_place(step.op) ? partial[1] : partial[0];
}

}  // namespace tilewright::graph
