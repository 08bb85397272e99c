// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_create.cpp — tensors from nothing, casts and choices.
#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/constants.h"

namespace tilewright::triton {
namespace {

using python::BinaryOperator;

int grid_axis(Call& call) {
  const std::int64_t axis = call.integer("axis");
  if (axis < 0 || axis > 2) call.fail(fmt::format("has the axis {}", axis), "use 0, 1 or 2");
  return static_cast<int>(axis);
}

Value program_id(Call& call) { return call.builder().program_id(grid_axis(call)); }
Value num_programs(Call& call) { return call.builder().num_programs(grid_axis(call)); }

Value arange(Call& call) {
  const std::int64_t start = call.integer("start"), end = call.integer("end");
  const auto [smallest, largest] = range_of(i32);
  if (start < smallest || start > largest || end < smallest || end > largest)
    call.fail(fmt::format("from {} to {} does not fit int32", start, end));
  if (end <= start) call.fail(fmt::format("from {} to {} has no elements", start, end));
  const std::int64_t size = end - start;
  if ((size & (size - 1)) != 0)
    call.fail(
        fmt::format("from {} to {} has {} elements, which is no power of two", start, end, size),
        "make it longer, and use a mask");
  call.semantic.shape(Value::integer(size), "the block of tl.arange");
  return call.builder().arange(start, end);
}

ir::Value filled(Call& call, const Value& value, const ir::Type& element,
                 const std::vector<std::int64_t>& shape) {
  Semantic& semantic = call.semantic;
  ir::Value scalar;
  if (is_number(value) && !element.is_pointer) {
    scalar = semantic.constant(value, element.dtype);
  } else {
    scalar = semantic.tensor(value);
    if (call.type(scalar).numel() != 1)
      call.fail(fmt::format("needs a scalar, not {}", call.describe(value)));
    scalar = semantic.cast(scalar_of(semantic, scalar), element);
  }
  return semantic.broadcast_to(scalar, shape);
}

Value full(Call& call) {
  return filled(call, call["value"], call.element_type("dtype"), call.shape("shape"));
}

Value zeros(Call& call) {
  return filled(call, Value::integer(0), call.element_type("dtype"), call.shape("shape"));
}

Value zeros_like(Call& call) {
  const ir::Type type = call.type(call.tensor("input"));
  return filled(call, Value::integer(0), type.element(), type.shape());
}

Value full_like(Call& call) {
  const ir::Type type = call.type(call.tensor("input"));
  return filled(call, call["value"], type.element(), type.shape());
}

Value cast(Call& call) {
  Semantic& semantic = call.semantic;
  const ir::Type element = call.element_type("dtype");
  const bool bitcast = call.flag("bitcast");
  const std::string rounding = call.text("fp_downcast_rounding");
  const Value& input = call["input"];
  return semantic.cast(semantic.tensor(input), element, bitcast, rounding);
}

Value to_tensor(Call& call) { return call.tensor("x"); }

Value where(Call& call) { return call.semantic.select(call["condition"], call["x"], call["y"]); }

// ---- Operators as functions: constants become tensors, as in every function of Triton.

Value operate(Call& call, BinaryOperator op) {
  const bool is_folded = is_number(call["x"]) && is_number(call["y"]);
  const Value x = is_folded ? Value(call.tensor("x")) : call["x"];
  return call.semantic.binary(op, x, call["y"]);
}

Value add(Call& call) { return operate(call, BinaryOperator::Add); }
Value sub(Call& call) { return operate(call, BinaryOperator::Subtract); }
Value mul(Call& call) { return operate(call, BinaryOperator::Multiply); }

// (x + (div - 1)) // div: constants fold.
Value cdiv(Call& call) {
  Semantic& semantic = call.semantic;
  const Value less = semantic.binary(BinaryOperator::Subtract, call["div"], Value::integer(1));
  const Value sum = semantic.binary(BinaryOperator::Add, call["x"], less);
  return semantic.binary(BinaryOperator::FloorDivide, sum, call["div"]);
}

Value logical(Call& call, python::BoolOperator op) {
  return call.semantic.logical(op, call["x"], call["y"]);
}
Value logical_and(Call& call) { return logical(call, python::BoolOperator::And); }
Value logical_or(Call& call) { return logical(call, python::BoolOperator::Or); }

// The index of a row-major matrix becomes one that walks columns inside groups of size_g rows.
Value swizzle2d(Call& call) {
  Semantic& s = call.semantic;
  const auto op = [&](BinaryOperator which, const Value& a, const Value& b) {
    return s.binary(which, a, b);
  };
  const Value& size_j = call["size_j"];
  const Value index =
      op(BinaryOperator::Add, op(BinaryOperator::Multiply, call["i"], size_j), call["j"]);
  const Value group = op(BinaryOperator::Multiply, call["size_g"], size_j);
  const Value first =
      op(BinaryOperator::Multiply, op(BinaryOperator::FloorDivide, index, group), call["size_g"]);
  const auto [rest, size] = s.operands(op(BinaryOperator::Subtract, call["size_i"], first),
                                       call["size_g"], "tl.minimum", Literals::Strong);
  const Value rows = extremum(s, ir::OpKind::Minimum, rest, size);
  const Value inside = op(BinaryOperator::Modulo, index, group);
  return Value::tuple({op(BinaryOperator::Add, first, op(BinaryOperator::Modulo, inside, rows)),
                       op(BinaryOperator::FloorDivide, inside, rows)});
}

constexpr BuiltinRow create_rows[] = {
    {"program_id", "axis", program_id},
    {"num_programs", "axis", num_programs},
    {"arange", "start, end", arange},
    {"full", "shape, value, dtype", full},
    {"zeros", "shape, dtype", zeros},
    {"zeros_like", "input", zeros_like},
    {"full_like", "input, value", full_like},
    {"cast", "input, dtype, fp_downcast_rounding=None, bitcast=False", cast, true},
    {"to", "input, dtype, fp_downcast_rounding=None, bitcast=False", cast, true},
    {"to_tensor", "x", to_tensor},
    {"where", "condition, x, y", where},
    {"add", "x, y, sanitize_overflow=True", add},
    {"sub", "x, y, sanitize_overflow=True", sub},
    {"mul", "x, y, sanitize_overflow=True", mul},
    {"cdiv", "x, div", cdiv, true},
    {"logical_and", "x, y", logical_and, true},
    {"logical_or", "x, y", logical_or, true},
    {"swizzle2d", "i, j, size_i, size_j, size_g", swizzle2d},
};

}  // namespace

std::span<const BuiltinRow> create_builtins() { return create_rows; }

}  // namespace tilewright::triton
