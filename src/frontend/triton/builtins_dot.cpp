// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_dot.cpp — matrix products.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/memory_access.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

struct Shape {
  std::int64_t rows, depth, columns;
};

Shape shape_of(Call& call, const ir::Type& a, const ir::Type& b) {
  if (a.rank < 2 || a.rank != b.rank)
    call.fail(fmt::format("needs two matrices, or two batches of them, not {} and {}", text_of(a),
                          text_of(b)));
  const int m = a.rank - 2;
  for (int d = 0; d < m; ++d)
    if (a.size(d) != b.size(d))
      call.fail(fmt::format("needs equal batches, not {} and {}", text_of(a), text_of(b)));
  if (a.size(m + 1) != b.size(m))
    call.fail(fmt::format("needs equal inner sizes, not {} of {} and {} of {}", a.size(m + 1),
                          text_of(a), b.size(m), text_of(b)));
  return {a.size(m), a.size(m + 1), b.size(m + 1)};
}

void require_operands(Call& call, const ir::Type& a, const ir::Type& b) {
  static constexpr DType taken[] = {i8, f16, bf16, f32, f64};
  if (is_float8(a) && is_float8(b)) return;
  for (const ir::Type* type : {&a, &b})
    if (type->is_pointer ||
        std::find(std::begin(taken), std::end(taken), type->dtype) == std::end(taken))
      call.fail(fmt::format("does not take {}", text_of(*type)),
                "use float16, bfloat16, float32, float64, int8 or two float8");
  if (a.dtype != b.dtype)
    call.fail(fmt::format("needs operands of one type, not {} and {}", text_of(a.element()),
                          text_of(b.element())),
              "cast one of them with .to(...)");
}

void require_depth(Call& call, const ir::Type& element, std::int64_t depth) {
  const std::int64_t least = 256 / bits_of(element);  // one step of the tensor cores
  if (depth < least)
    call.fail(fmt::format("needs an inner size of at least {} for {}, not {}", least,
                          text_of(element.element()), depth));
}

DType result_type(Call& call, DType operand, DType wanted) {
  if (operand == i8) return i32;
  if (wanted == bf16)
    call.fail("cannot give bfloat16", "use out_dtype=tl.float32 and .to(tl.bfloat16)");
  if (operand == f32 || operand == bf16) return f32;
  if (operand == f64) return f64;
  return wanted == f16 ? f16 : f32;
}

std::string precision_of(Call& call) {
  if (call.has("allow_tf32") && call.has("input_precision"))
    call.fail("takes allow_tf32 or input_precision, not both");
  if (call.has("allow_tf32")) return call.flag("allow_tf32") ? "tf32" : "ieee";
  static constexpr std::string_view known[] = {"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"};
  const std::string precision = one_of(call, "input_precision", known);
  return precision.empty() ? "tf32" : precision;
}

// Leading dimensions become one batch.
ir::Value flattened(Semantic& semantic, ir::Value value) {
  const ir::Type type = semantic.type(value);
  if (type.rank <= 3) return value;
  const std::int64_t rows = type.size(type.rank - 2), columns = type.size(type.rank - 1);
  return reshape(semantic, value, {type.numel() / (rows * columns), rows, columns});
}

ir::Value multiply(Call& call, std::array<ir::Value, 3> operands,
                   std::vector<ir::Attribute> attributes) {
  const std::vector<std::int64_t> shape = call.type(operands[2]).shape();
  for (ir::Value& operand : operands) operand = flattened(call.semantic, operand);
  const ir::Value result =
      call.builder().create_one(OpKind::Dot, {operands[0], operands[1], operands[2]},
                                call.type(operands[2]), std::move(attributes));
  return reshape(call.semantic, result, shape);
}

ir::Value accumulator(Call& call, const ir::Type& result) {
  if (!call.has("acc")) {
    const ir::Value zero = result.is_float()
                               ? call.builder().constant(result.element(), 0.0)
                               : call.builder().constant(result.element(), std::int64_t{0});
    return call.semantic.like(zero, result);
  }
  const ir::Value acc = call.tensor("acc");
  if (call.type(acc) != result)
    call.fail(
        fmt::format("needs an accumulator {}, not {}", text_of(result), text_of(call.type(acc))));
  return acc;
}

Value dot(Call& call) {
  const ir::Value a = call.tile("input"), b = call.tile("other");
  const ir::Type left = call.type(a), right = call.type(b);
  require_operands(call, left, right);
  const Shape size = shape_of(call, left, right);
  require_depth(call, left, size.depth);
  DType wanted = f32;
  if (call.has("acc")) wanted = call.type(call.tensor("acc")).dtype;
  if (call.has("out_dtype")) wanted = call.element_type("out_dtype").dtype;
  std::vector<std::int64_t> shape = left.shape();
  shape.back() = size.columns;
  const ir::Type result = ir::Type::tile(result_type(call, left.dtype, wanted), shape);

  std::vector<ir::Attribute> attributes;
  const std::string precision = precision_of(call);
  if (left.dtype == f32) attributes.push_back({"precision", precision});
  if (call.has("max_num_imprecise_acc") && is_float8(left)) {
    const std::int64_t most = call.integer("max_num_imprecise_acc");
    if (most > size.depth)
      call.fail(
          fmt::format("has max_num_imprecise_acc {}, above the inner size {}", most, size.depth));
    attributes.push_back({"imprecise", most});
  }
  return multiply(call, {a, b, accumulator(call, result)}, std::move(attributes));
}

// ---- Scaled operands: made wide first, then multiplied

struct ScaledOperand {
  ir::Value value;  // [rows, depth] of lhs, [depth, columns] of rhs
  ir::Value scale;  // absent, or one byte for 32 elements along the depth
  std::string format;
  bool is_right = false;
  bool packs_depth = true;
};

ir::Value constant_like(Semantic& s, ir::Value like, std::int64_t value) {
  return s.like(s.builder().constant(s.type(like).element(), value), s.type(like));
}

// Four bits: sign, two of exponent, one of mantissa.
ir::Value decode_e2m1(Semantic& s, ir::Value code) {
  ir::Builder& b = s.builder();
  const auto constant = [&](std::int64_t value) { return constant_like(s, code, value); };
  const auto op = [&](OpKind kind, ir::Value x, std::int64_t y) {
    return b.binary(kind, x, constant(y));
  };
  const ir::Value sign = op(OpKind::ShiftLeft, op(OpKind::And, code, 8), 28);
  const ir::Value magnitude = op(OpKind::And, code, 7);
  // The exponent of float32 is 126 above; 0.5 is the only one below the normal numbers.
  const ir::Value normal = op(OpKind::ShiftLeft, op(OpKind::Add, magnitude, 2 * 126), 22);
  const ir::Value small =
      b.select(b.compare("eq", magnitude, constant(1)), constant(0x3f000000), constant(0));
  const ir::Value bits = b.select(b.compare("ge", magnitude, constant(2)), normal, small);
  return b.bitcast(b.binary(OpKind::Or, bits, sign), f32);
}

ir::Value swap_last(Semantic& s, ir::Value value) {
  std::vector<std::int64_t> order;
  for (int d = 0; d < s.type(value).rank; ++d) order.push_back(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return s.builder().permute(value, order);
}

// Two elements a byte, the first in the low bits.
ir::Value unpack(Semantic& s, ir::Value packed) {
  ir::Builder& b = s.builder();
  const ir::Value wide = b.cast(packed, u32);
  const ir::Value low = decode_e2m1(s, b.binary(OpKind::And, wide, constant_like(s, wide, 15)));
  const ir::Value high =
      decode_e2m1(s, b.binary(OpKind::ShiftRight, wide, constant_like(s, wide, 4)));
  std::vector<std::int64_t> shape = s.type(low).shape();
  shape.push_back(2);
  const ir::Value both = b.create_one(OpKind::Join, {low, high}, s.type(low).with_shape(shape));
  shape.pop_back();
  shape.back() *= 2;
  return reshape(s, both, shape);
}

ir::Value decode(Call& call, const ScaledOperand& operand) {
  Semantic& s = call.semantic;
  const ir::Type type = call.type(operand.value);
  if (operand.format == "e2m1") {
    const bool is_last = operand.packs_depth != operand.is_right;
    if (is_last) return unpack(s, operand.value);
    return swap_last(s, unpack(s, swap_last(s, operand.value)));
  }
  if (operand.format == "bf16" || operand.format == "fp16")
    return s.cast(operand.value, ir::Type::scalar(f32));
  const DType float8 = operand.format == "e4m3" ? f8e4m3 : f8e5m2;
  if (bits_of(type) != 8)
    call.fail(fmt::format("needs 8-bit elements for {}, not {}", operand.format, text_of(type)));
  return s.cast(s.cast(operand.value, ir::Type::scalar(float8), true), ir::Type::scalar(f32));
}

// A byte e is 2 to the (e - 127); 255 is NaN.
ir::Value decode_scale(Semantic& s, ir::Value scale) {
  ir::Builder& b = s.builder();
  const ir::Value wide = b.cast(scale, u32);
  const auto constant = [&](std::int64_t value) { return constant_like(s, wide, value); };
  ir::Value bits = b.binary(OpKind::ShiftLeft, wide, constant(23));
  bits = b.select(b.compare("eq", wide, constant(0)), constant(0x00400000), bits);
  bits = b.select(b.compare("eq", wide, constant(255)), constant(0x7fc00000), bits);
  return b.bitcast(bits, f32);
}

ir::Value scaled(Call& call, const ScaledOperand& operand, DType compute) {
  Semantic& s = call.semantic;
  ir::Value value = decode(call, operand);
  if (operand.scale) {
    if (operand.is_right) value = swap_last(s, value);
    const std::vector<std::int64_t> shape = call.type(value).shape();
    ir::Value factor = decode_scale(s, operand.scale);
    std::vector<std::int64_t> grouped = call.type(factor).shape();
    if (grouped.empty() || grouped.back() * 32 != shape.back())
      call.fail(fmt::format("needs a scale for every 32 elements of {}, not {}",
                            text_of_shape(shape), text_of(call.type(operand.scale))));
    grouped.push_back(1);
    factor = reshape(s, factor, grouped);
    grouped.back() = 32;
    factor = reshape(s, s.broadcast_to(factor, grouped), shape);
    value = call.builder().binary(OpKind::Multiply, value, factor);
    if (operand.is_right) value = swap_last(s, value);
  }
  return s.cast(value, ir::Type::scalar(compute));
}

Value dot_scaled(Call& call) {
  static constexpr std::string_view formats[] = {"e2m1", "e4m3", "e5m2", "bf16", "fp16"};
  const auto operand = [&](const char* name, const char* scale, const char* format) {
    ScaledOperand result{.value = call.tile(name)};
    result.format = one_of(call, format, formats);
    if (result.format.empty()) call.fail(fmt::format("needs a format in '{}'", format));
    if (call.has(scale))
      result.scale = call.semantic.cast(call.tile(scale), ir::Type::scalar(u8),
                                        bits_of(call.type(call.tile(scale))) == 8);
    return result;
  };
  ScaledOperand left = operand("lhs", "lhs_scale", "lhs_format");
  ScaledOperand right = operand("rhs", "rhs_scale", "rhs_format");
  right.is_right = true;
  left.packs_depth = call.flag("lhs_k_pack");
  right.packs_depth = call.flag("rhs_k_pack");
  if (call.element_type("out_dtype").dtype != f32) call.fail("gives only float32");
  const DType compute = left.format == "fp16" || right.format == "fp16" ? f16 : bf16;
  const ir::Value a = scaled(call, left, compute), b = scaled(call, right, compute);
  const Shape size = shape_of(call, call.type(a), call.type(b));
  std::vector<std::int64_t> shape = call.type(a).shape();
  shape.back() = size.columns;
  return multiply(call, {a, b, accumulator(call, ir::Type::tile(f32, shape))}, {});
}

constexpr BuiltinRow dot_rows[] = {
    {"dot",
     "input, other, acc=None, input_precision=None, allow_tf32=None, "
     "max_num_imprecise_acc=None, out_dtype=None",
     dot},
    {"dot_scaled",
     "lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=None, fast_math=False, "
     "lhs_k_pack=True, rhs_k_pack=True, out_dtype=\"float32\"",
     dot_scaled},
};

}  // namespace

std::span<const BuiltinRow> dot_builtins() { return dot_rows; }

}  // namespace tilewright::triton
