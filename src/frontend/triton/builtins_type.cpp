// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_type.cpp — types as values: how they are made and what can be asked.
#include <bit>

#include <fmt/format.h>

#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/constants.h"

namespace tilewright::triton {
namespace {

Value constexpr_(Call& call) {
  if (call["value"].is_tensor())
    call.fail(fmt::format("needs a constant, not {}", call.describe(call["value"])));
  return call["value"];
}

Value dtype(Call& call) {
  const std::string name = call.text("name");
  if (const std::optional<DType> found = dtype_named(name))
    return TypeValue{ir::Type::scalar(*found)};
  call.fail(fmt::format("does not know the type '{}'", name), "use 'fp32', 'int32', 'bf16', ...");
}

Value pointer_type(Call& call) {
  const ir::Type element = call.element_type("element_ty");
  if (element.is_pointer) call.fail("of a pointer is not supported", "use tl.int64 and a cast");
  return TypeValue{ir::Type::pointer(element.dtype)};
}

Value block_type(Call& call) {
  return TypeValue{call.element_type("element_ty").with_shape(call.shape("shape"))};
}

Value get_int_dtype(Call& call) {
  const bool is_signed_type = call.flag("signed");
  const std::int64_t bits = call.integer("bitwidth");
  if (bits == 1) return TypeValue{ir::Type::scalar(b1)};
  const auto found = dtype_named(fmt::format("{}int{}", is_signed_type ? "" : "u", bits));
  if (!found) call.fail(fmt::format("has no integer of {} bits", bits));
  return TypeValue{ir::Type::scalar(*found)};
}

Value log2_of(Call& call) {
  const std::int64_t value = call.integer("i");
  return Value::integer(value <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(value)) - 1);
}

Value is_power_of_two(Call& call) {
  const std::int64_t value = call.integer("i");
  return Value::boolean(value != 0 && (value & (value - 1)) == 0);
}

Value only_in_for(Call& call) { call.fail("is only for 'for' loops"); }
Value only_a_type(Call& call) { call.fail("cannot be called inside a kernel"); }

constexpr BuiltinRow type_rows[] = {
    {"constexpr", "value", constexpr_},
    {"dtype", "name", dtype},
    {"pointer_type", "element_ty, address_space=1, const=False", pointer_type},
    {"block_type", "element_ty, shape", block_type},
    {"get_int_dtype", "bitwidth, signed", get_int_dtype},
    {"_get_int_dtype", "bitwidth, signed", get_int_dtype},
    {"_log2", "i", log2_of},
    {"_is_power_of_two", "i", is_power_of_two},
    {"range", "*arguments, num_stages=None", only_in_for},
    {"static_range", "*arguments", only_in_for},
    {"tensor", "*arguments", only_a_type},
    {"tensor_descriptor", "*arguments", only_a_type},
    {"tuple", "*arguments", only_a_type},
    {"const", "*arguments", only_a_type},
};

// ---- Questions to a type

const ir::Type& self(Call& call) { return call["self"].get_if<TypeValue>()->type; }

template <DType wanted>
Value is_type(Call& call) {
  return Value::boolean(self(call).element() == ir::Type::scalar(wanted));
}

Value is_floating_type(Call& call) { return Value::boolean(self(call).is_float()); }
Value is_standard_floating(Call& call) {
  return Value::boolean(self(call).is_float() && !is_float8(self(call)));
}
Value is_fp8(Call& call) { return Value::boolean(is_float8(self(call))); }
Value is_int(Call& call) { return Value::boolean(is_integral(self(call))); }
Value is_int_unsigned(Call& call) { return Value::boolean(is_unsigned_integral(self(call))); }
Value is_int_signed(Call& call) {
  return Value::boolean(is_integral(self(call)) && !is_unsigned_integral(self(call)));
}
Value is_block(Call& call) { return Value::boolean(self(call).is_tile()); }
Value is_ptr(Call& call) { return Value::boolean(self(call).is_pointer && self(call).is_scalar()); }
Value never(Call&) { return Value::boolean(false); }
Value scalar_type(Call& call) { return TypeValue{self(call).element()}; }
Value block_shape(Call& call) {
  std::vector<Value> sizes;
  for (const std::int64_t size : self(call).shape()) sizes.push_back(Value::integer(size));
  return Value::tuple(std::move(sizes));
}
Value with_element_ty(Call& call) {
  return TypeValue{call.element_type("scalar_ty").with_shape_of(self(call))};
}
Value smallest(Call& call) {
  if (!is_integral(self(call))) call.fail("is for integer types");
  return Value::integer(range_of(self(call).dtype).first);
}
Value largest(Call& call) {
  if (!is_integral(self(call))) call.fail("is for integer types");
  return Value::integer(range_of(self(call).dtype).second);
}

constexpr BuiltinRow methods[] = {
    {"is_floating", "self", is_floating_type},
    {"is_standard_floating", "self", is_standard_floating},
    {"is_fp8", "self", is_fp8},
    {"is_fp8e4nv", "self", is_type<f8e4m3>},
    {"is_fp8e5", "self", is_type<f8e5m2>},
    {"is_fp8e4b8", "self", never},
    {"is_fp8e4b15", "self", never},
    {"is_fp8e5b16", "self", never},
    {"is_fp16", "self", is_type<f16>},
    {"is_bf16", "self", is_type<bf16>},
    {"is_fp32", "self", is_type<f32>},
    {"is_fp64", "self", is_type<f64>},
    {"is_int1", "self", is_type<b1>},
    {"is_bool", "self", is_type<b1>},
    {"is_int8", "self", is_type<i8>},
    {"is_int16", "self", is_type<i16>},
    {"is_int32", "self", is_type<i32>},
    {"is_int64", "self", is_type<i64>},
    {"is_uint8", "self", is_type<u8>},
    {"is_uint16", "self", is_type<u16>},
    {"is_uint32", "self", is_type<u32>},
    {"is_uint64", "self", is_type<u64>},
    {"is_int", "self", is_int},
    {"is_int_signed", "self", is_int_signed},
    {"is_int_unsigned", "self", is_int_unsigned},
    {"is_block", "self", is_block},
    {"is_ptr", "self", is_ptr},
    {"is_const", "self", never},
    {"is_void", "self", never},
    {"get_block_shapes", "self", block_shape},
    {"get_int_min_value", "self", smallest},
    {"get_int_max_value", "self", largest},
    {"with_element_ty", "self, scalar_ty", with_element_ty},
    {"get_scalar_type", "self", scalar_type},
};

}  // namespace

std::span<const BuiltinRow> type_builtins() { return type_rows; }
std::span<const BuiltinRow> dtype_methods() { return methods; }

}  // namespace tilewright::triton
