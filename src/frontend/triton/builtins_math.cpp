// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_math.cpp — tl.exp and its like, maximum and minimum, division.
#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/constants.h"

namespace tilewright::triton {
namespace {

bool is_plain_float(const ir::Type& type) {
  return type.is_float() && (type.dtype == f32 || type.dtype == f64);
}

void require_plain_float(Call& call, ir::Value value) {
  if (is_plain_float(call.type(value))) return;
  call.fail(fmt::format("takes float32 or float64, not {}", text_of(call.type(value))),
            "use .to(tl.float32)");
}

// Every unary function of math.def has the name that tl gives it.
Value unary_math(Call& call) {
  const ir::Value x = call.tensor("x");
  require_plain_float(call, x);
  return call.builder().math(call.row.name, {x});
}

Value absolute(Call& call) {
  const ir::Value x = call.tensor("x");
  const ir::Type& type = call.type(x);
  if (type.is_pointer) call.fail("does not take a pointer");
  if (is_unsigned_integral(type)) return x;
  return call.builder().unary(ir::OpKind::Absolute, x);
}

// ---- Maximum, minimum, clamp

bool propagates_nan(Call& call) {
  const std::string mode = call.text("propagate_nan");
  if (mode.empty() || mode == "PropagateNan.NONE") return false;
  if (mode == "PropagateNan.ALL") return true;
  call.fail(fmt::format("has propagate_nan {}", mode),
            "use tl.PropagateNan.NONE or tl.PropagateNan.ALL");
}

std::pair<ir::Value, ir::Value> lifted(Call& call, const Value& x, const Value& y) {
  Semantic& semantic = call.semantic;
  return semantic.operands(lift_bfloat16(semantic, semantic.tensor(x)),
                           lift_bfloat16(semantic, semantic.tensor(y)), call.name,
                           Literals::Strong);
}

Value extremum_of(Call& call, ir::OpKind kind) {
  const bool propagates = propagates_nan(call);
  const auto [x, y] = lifted(call, call["x"], call["y"]);
  return extremum(call.semantic, kind, x, y, propagates);
}

Value maximum(Call& call) { return extremum_of(call, ir::OpKind::Maximum); }
Value minimum(Call& call) { return extremum_of(call, ir::OpKind::Minimum); }

Value clamp(Call& call) {
  Semantic& semantic = call.semantic;
  const bool propagates = propagates_nan(call);
  auto [low, high] = lifted(call, call["min"], call["max"]);
  ir::Value x = lift_bfloat16(semantic, call.tensor("x"));
  std::tie(x, low) = semantic.operands(x, low, call.name, Literals::Strong);
  std::tie(x, high) = semantic.operands(x, high, call.name, Literals::Strong);
  low = semantic.operands(x, low, call.name, Literals::Strong).second;
  if (!call.type(x).is_float())
    call.fail(fmt::format("takes floats, not {}", text_of(call.type(x))),
              "use tl.minimum(tl.maximum(x, low), high)");
  const ir::Value above = extremum(semantic, ir::OpKind::Maximum, x, low, propagates);
  return extremum(semantic, ir::OpKind::Minimum, above, high, propagates);
}

// ---- Division and products

ir::Value divided(Call& call, ir::Value x, ir::Value y, bool is_exact) {
  std::vector<ir::Attribute> attributes;
  if (is_exact) attributes.push_back({"exact", std::int64_t{1}});
  return call.builder().create_one(ir::OpKind::Divide, {x, y}, call.type(x), std::move(attributes));
}

Value fdiv(Call& call) {
  const bool is_exact = call.flag("ieee_rounding");
  const auto [x, y] =
      call.semantic.operands(call.tensor("x"), call.tensor("y"), call.name, Literals::Strong);
  if (!call.type(x).is_float() || !call.type(y).is_float())
    call.fail(fmt::format("takes floats, not {}", text_of(call.type(x))), "use x / y");
  return divided(call, x, y, is_exact);
}

Value div_rn(Call& call) {
  const auto [x, y] =
      call.semantic.operands(call.tensor("x"), call.tensor("y"), call.name, Literals::Strong);
  if (call.type(x).dtype != f32)
    call.fail(fmt::format("takes float32, not {}", text_of(call.type(x))), "use .to(tl.float32)");
  return divided(call, x, y, true);
}

// The upper half of the product of the bits read as unsigned, whatever the operands' sign.
Value umulhi(Call& call) {
  Semantic& semantic = call.semantic;
  const Value &a = call["x"], &b = call["y"];
  const auto [x, y] = semantic.operands(a, b, call.name, Literals::Strong);
  const ir::Type type = call.type(x);
  if (!type.is_int() || bits_of(type) < 32)
    call.fail(fmt::format("takes integers of 32 or 64 bits, not {}", text_of(type)));
  const ir::Type bits = ir::Type::scalar(bits_of(type) == 32 ? u32 : u64);
  const ir::Value product = call.builder().binary(
      ir::OpKind::MultiplyHigh, semantic.cast(x, bits, true), semantic.cast(y, bits, true));
  return semantic.cast(product, type, true);
}

Value fma(Call& call) {
  Semantic& semantic = call.semantic;
  auto [x, y] = semantic.operands(call["x"], call["y"], call.name, Literals::Strong);
  ir::Value z;
  std::tie(x, z) = semantic.operands(x, call["z"], call.name, Literals::Strong);
  std::tie(y, z) = semantic.operands(y, z, call.name, Literals::Strong);
  std::tie(x, y) = semantic.operands(x, y, call.name, Literals::Strong);
  if (!call.type(x).is_float())
    call.fail(fmt::format("takes floats, not {}", text_of(call.type(x))), "use x * y + z");
  return call.builder().create_one(ir::OpKind::Fma, {x, y, z}, call.type(x));
}

// 1 / (1 + exp(-x))
Value sigmoid(Call& call) {
  using python::BinaryOperator;
  Semantic& semantic = call.semantic;
  const ir::Value x = call.tensor("x");
  require_plain_float(call, x);
  const ir::Value power = call.builder().math("exp", {semantic.negate(x)});
  const Value sum = semantic.binary(BinaryOperator::Add, Value::integer(1), power);
  return semantic.binary(BinaryOperator::Divide, Value::integer(1), sum);
}

constexpr BuiltinRow math_rows[] = {
    {"exp", "x", unary_math, true},
    {"exp2", "x", unary_math, true},
    {"log", "x", unary_math, true},
    {"log2", "x", unary_math, true},
    {"sin", "x", unary_math, true},
    {"cos", "x", unary_math, true},
    {"sqrt", "x", unary_math, true},
    {"sqrt_rn", "x", unary_math, true},
    {"rsqrt", "x", unary_math, true},
    {"erf", "x", unary_math, true},
    {"floor", "x", unary_math, true},
    {"ceil", "x", unary_math, true},
    {"abs", "x", absolute, true},
    {"maximum", "x, y, propagate_nan=None", maximum},
    {"minimum", "x, y, propagate_nan=None", minimum},
    {"clamp", "x, min, max, propagate_nan=None", clamp},
    {"fdiv", "x, y, ieee_rounding=False", fdiv},
    {"div_rn", "x, y", div_rn},
    {"umulhi", "x, y", umulhi},
    {"fma", "x, y, z", fma},
    {"sigmoid", "x", sigmoid, true},
};

}  // namespace

ir::Value extremum(Semantic& semantic, ir::OpKind kind, ir::Value a, ir::Value b,
                   bool propagates_nan) {
  if (!semantic.type(a).is_float() || !propagates_nan) return semantic.arithmetic(kind, a, b);
  return semantic.builder().create_one(kind, {a, b}, semantic.type(a),
                                       {{"nan", std::string("propagate")}});
}

ir::Value lift_bfloat16(Semantic& semantic, ir::Value value) {
  const ir::Type& type = semantic.type(value);
  return !type.is_pointer && type.dtype == bf16 ? semantic.builder().cast(value, f32) : value;
}

std::span<const BuiltinRow> math_builtins() { return math_rows; }

}  // namespace tilewright::triton
