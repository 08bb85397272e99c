// SPDX-License-Identifier: Apache-2.0
// frontend/triton/types.cpp — the table of names, and the promotion rules in the order that
// decides.
#include "frontend/triton/types.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "frontend/triton/constants.h"

namespace tilewright::triton {
namespace {

struct TypeName {
  DType dtype;
  std::string_view triton;   // as Triton prints it
  std::string_view written;  // as users write it after tl.
};

constexpr TypeName type_names[] = {
    {f64, "fp64", "float64"},      {f32, "fp32", "float32"},  {f16, "fp16", "float16"},
    {bf16, "bf16", "bfloat16"},    {i8, "int8", "int8"},      {f8e4m3, "fp8e4nv", "float8e4nv"},
    {f8e5m2, "fp8e5", "float8e5"}, {i16, "int16", "int16"},   {i32, "int32", "int32"},
    {i64, "int64", "int64"},       {u8, "uint8", "uint8"},    {u16, "uint16", "uint16"},
    {u32, "uint32", "uint32"},     {u64, "uint64", "uint64"}, {b1, "int1", "int1"},
};

const TypeName& names_of(DType dtype) {
  for (const TypeName& name : type_names)
    if (name.dtype == dtype) return name;
  TW_UNREACHABLE("a dtype without a name");
}

int kind_of(DType dtype) { return dtype == b1 ? 0 : is_floating(dtype) ? 2 : 1; }

bool is_unsigned_type(DType dtype) {
  return dtype == b1 || (is_integer(dtype) && !is_signed(dtype));
}

// As in C: the wider; of one width the unsigned.
DType promote_integers(DType a, DType b) {
  const int width_a = bits_of(ir::Type::scalar(a)), width_b = bits_of(ir::Type::scalar(b));
  if (is_unsigned_type(a) == is_unsigned_type(b)) return width_a > width_b ? a : b;
  if (is_unsigned_type(a)) return width_a >= width_b ? a : b;
  return width_b >= width_a ? b : a;
}

DType promote_floats(DType a, DType b, bool divides) {
  const auto either = [&](DType dtype) { return a == dtype || b == dtype; };
  if (either(f64)) return f64;
  if (divides || either(f32)) return f32;
  if (either(f16)) return f16;
  if (a == bf16 && b == bf16) return bf16;
  if (either(bf16)) return f32;
  if (is_floating(a) && is_floating(b)) return a == b ? a : f16;
  throw Mistake{
      fmt::format("{} and {} have no common type", names_of(a).written, names_of(b).written),
      "cast the float8 operand with .to(tl.float32)"};
}

}  // namespace

std::string_view triton_name(DType dtype) { return names_of(dtype).triton; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const TypeName& known : type_names)
    if (known.triton == name || known.written == name) return known.dtype;
  return {};
}

std::string text_of_shape(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string text_of(const ir::Type& type) {
  std::string text(names_of(type.dtype).written);
  if (type.is_pointer) text = fmt::format("pointer<{}>", text);
  return type.is_scalar() ? text : text + text_of_shape(type.shape());
}

std::string triton_text(const ir::Type& type) {
  std::string text(triton_name(type.dtype));
  if (type.is_pointer) text = fmt::format("pointer<{}>", text);
  if (type.is_scalar()) return text;
  return fmt::format("<{}, {}>", text_of_shape(type.shape()), text);
}

bool is_integral(const ir::Type& type) { return type.is_int() || type.is_bool(); }

bool is_unsigned_integral(const ir::Type& type) {
  return !type.is_pointer && is_unsigned_type(type.dtype);
}

bool is_float8(const ir::Type& type) {
  return !type.is_pointer && (type.dtype == f8e4m3 || type.dtype == f8e5m2);
}

int bits_of(const ir::Type& type) {
  if (type.is_bool()) return 1;
  return static_cast<int>(type.element_bytes()) * 8;
}

std::pair<Int128, Int128> range_of(DType dtype) {
  const int width = bits_of(ir::Type::scalar(dtype));
  if (is_unsigned_type(dtype)) return {0, (Int128{1} << width) - 1};
  return {-(Int128{1} << (width - 1)), (Int128{1} << (width - 1)) - 1};
}

DType promote(OperandType a, OperandType b, bool divides) {
  if (a.is_weak != b.is_weak) {
    const OperandType& weak = a.is_weak ? a : b;
    const OperandType& strong = a.is_weak ? b : a;
    if (kind_of(weak.dtype) <= kind_of(strong.dtype)) a = b = strong;
  }
  if (is_floating(a.dtype) || is_floating(b.dtype))
    return promote_floats(a.dtype, b.dtype, divides);
  if (divides && is_unsigned_type(a.dtype) != is_unsigned_type(b.dtype))
    throw Mistake{fmt::format("{} and {} differ in signedness, which /, // and % do not take",
                              names_of(a.dtype).written, names_of(b.dtype).written),
                  "cast one of them with .to(...)"};
  return promote_integers(a.dtype, b.dtype);
}

DType type_of_number(const Value& number) {
  const Constant& constant = *number.get_if<Constant>();
  if (std::holds_alternative<bool>(constant.value)) return b1;
  if (const double* value = std::get_if<double>(&constant.value)) {
    const double magnitude = std::fabs(*value);
    const bool fits = std::isinf(magnitude) || std::isnan(magnitude) || magnitude == 0 ||
                      (magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127);
    return fits ? f32 : f64;
  }
  const Int128 value = std::get<Int128>(constant.value);
  for (const DType dtype : {i32, u32, i64, u64})
    if (value >= range_of(dtype).first && value <= range_of(dtype).second) return dtype;
  throw Mistake{fmt::format("the integer {} does not fit 64 bits", to_text(value)), ""};
}

}  // namespace tilewright::triton
