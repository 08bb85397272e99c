// SPDX-License-Identifier: Apache-2.0
// compiler/triton/specialize.cpp — the rules, one kind of argument after the other.
#include "compiler/triton/specialize.h"

#include <bit>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "compiler/triton/signature.h"
#include "runtime/plan.h"

namespace tilewright {
namespace {

[[noreturn]] void refuse(std::string_view kernel, const TritonParameter& parameter,
                         std::string_view why) {
  throw ArgumentError(fmt::format("parameter '{}' of kernel '{}' {}", parameter.name, kernel, why));
}

bool is_integer_argument(const Argument& value) {
  return value.kind == Argument::Kind::Scalar && is_integer(value.dtype);
}

double float_of(const Argument& value) {
  switch (value.dtype) {
    case DType::Float64:
      return std::bit_cast<double>(value.bits);
    case DType::Float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
    case DType::BFloat16:
      return bfloat16_to_float(static_cast<std::uint16_t>(value.bits));
    default:
      return half_to_float(static_cast<std::uint16_t>(value.bits));
  }
}

// The integer in 64 bits, and whether those are signed.
std::uint64_t wide_bits(const Argument& value) {
  return value.dtype == DType::UInt64
             ? value.bits
             : static_cast<std::uint64_t>(integer_of_bits(value.dtype, value.bits));
}

DType smallest_type(const Argument& value) {
  const std::uint64_t bits = wide_bits(value);
  if (value.dtype == DType::UInt64 && bits > std::numeric_limits<std::int64_t>::max())
    return DType::UInt64;
  const auto number = static_cast<std::int64_t>(bits);
  const bool fits = number >= std::numeric_limits<std::int32_t>::min() &&
                    number <= std::numeric_limits<std::int32_t>::max();
  return fits ? DType::Int32 : DType::Int64;
}

Specialized constant_argument(std::string_view kernel, const TritonParameter& parameter,
                              const Argument& value) {
  if (value.kind == Argument::Kind::Pointer && value.bits == 0)
    return {.kind = Specialized::Kind::None};
  if (value.kind != Argument::Kind::Scalar)
    refuse(kernel, parameter,
           "is a tl.constexpr and takes a number, text, type or none, not a tensor or pointer");
  if (value.dtype == DType::Bool)
    return {.kind = Specialized::Kind::Flag, .dtype = DType::Bool, .bits = value.bits & 1};
  if (is_floating(value.dtype))
    return {.kind = Specialized::Kind::Number,
            .dtype = DType::Float64,
            .bits = std::bit_cast<std::uint64_t>(float_of(value))};
  return {.kind = Specialized::Kind::Integer,
          .dtype = value.dtype == DType::UInt64 ? DType::UInt64 : DType::Int64,
          .bits = wide_bits(value)};
}

Specialized pointer_argument(std::string_view kernel, const TritonParameter& parameter,
                             const Argument& value) {
  if (!value.is_defined) refuse(kernel, parameter, "was given a tensor that is not defined");
  if (value.kind == Argument::Kind::Pointer && value.bits == 0)
    return {.kind = Specialized::Kind::None};
  if (parameter.type && !parameter.type->is_pointer)
    refuse(kernel, parameter,
           fmt::format("is annotated as {} and cannot take a tensor or pointer",
                       name_of(parameter.type->dtype)));
  if (value.any_pointee && !parameter.type)
    refuse(kernel, parameter,
           "was given an address without an element type; cast it to float* or "
           "the like, or pass a tensor");
  return {.kind = Specialized::Kind::Pointer,
          .dtype = value.any_pointee ? parameter.type->dtype : value.dtype,
          .divisible = parameter.specializes_alignment && value.bits % 16 == 0,
          .is_const = parameter.is_const};
}

Specialized scalar_argument(std::string_view kernel, const TritonParameter& parameter,
                            const Argument& value) {
  if (parameter.type && parameter.type->is_pointer)
    refuse(kernel, parameter, "is annotated as a pointer and cannot take a number");
  if (is_integer_argument(value)) {
    const std::uint64_t bits = wide_bits(value);
    if (parameter.type && is_floating(parameter.type->dtype))
      return {.kind = Specialized::Kind::Scalar, .dtype = parameter.type->dtype};
    if (!parameter.type && parameter.specializes && bits == 1)
      return {.kind = Specialized::Kind::Integer, .dtype = DType::Int64, .bits = 1};
    return {.kind = Specialized::Kind::Scalar,
            .dtype = parameter.type ? parameter.type->dtype : smallest_type(value),
            .divisible = parameter.specializes_alignment && bits % 16 == 0 &&
                         !(parameter.type && parameter.type->is_bool())};
  }
  if (parameter.type && is_floating(value.dtype) && !is_floating(parameter.type->dtype))
    refuse(
        kernel, parameter,
        fmt::format("is annotated as {} and cannot take a float", name_of(parameter.type->dtype)));
  const DType own = value.dtype == DType::Bool ? DType::Bool : DType::Float32;
  return {.kind = Specialized::Kind::Scalar, .dtype = parameter.type ? parameter.type->dtype : own};
}

}  // namespace

Specialized specialize(std::string_view kernel, const TritonParameter& parameter,
                       const TritonArgument& argument) {
  switch (argument.kind) {
    case TritonArgument::Kind::None:
      return {.kind = Specialized::Kind::None};
    case TritonArgument::Kind::Text:
      if (!parameter.is_constexpr)
        refuse(kernel, parameter,
               fmt::format("is no tl.constexpr and cannot take the text '{}'", argument.text));
      return {.kind = Specialized::Kind::Text, .text = argument.text};
    case TritonArgument::Kind::Type:
      if (!parameter.is_constexpr)
        refuse(
            kernel, parameter,
            fmt::format("is no tl.constexpr and cannot take the type {}", name_of(argument.type)));
      return {.kind = Specialized::Kind::Type, .dtype = argument.type};
    case TritonArgument::Kind::Tuple:
    case TritonArgument::Kind::Descriptor:
      refuse(kernel, parameter, "cannot take a tuple or descriptor inside a tuple");
    case TritonArgument::Kind::Value:
      break;
  }
  const Argument& value = argument.value;
  if (value.kind == Argument::Kind::Opaque)
    refuse(kernel, parameter, "cannot take a struct; pass its fields one by one");
  if (parameter.is_constexpr) return constant_argument(kernel, parameter, value);
  if (value.kind == Argument::Kind::Scalar) return scalar_argument(kernel, parameter, value);
  return pointer_argument(kernel, parameter, value);
}

triton::ParameterType parameter_type(const Specialized& specialized) {
  switch (specialized.kind) {
    case Specialized::Kind::Scalar:
      return scalar_parameter(specialized.dtype, specialized.divisible ? 16 : 1);
    case Specialized::Kind::Pointer:
      return pointer_parameter(specialized.dtype, specialized.divisible ? 16 : 1,
                               specialized.is_const);
    case Specialized::Kind::Integer:
      if (specialized.dtype == DType::UInt64)
        return constant_parameter(
            triton::Value::integer(static_cast<triton::Int128>(specialized.bits)));
      return constant_parameter(
          triton::Value::integer(static_cast<std::int64_t>(specialized.bits)));
    case Specialized::Kind::Number:
      return constant_parameter(triton::Value::number(std::bit_cast<double>(specialized.bits)));
    case Specialized::Kind::Flag:
      return constant_parameter(triton::Value::boolean(specialized.bits != 0));
    case Specialized::Kind::Text:
      return constant_parameter(triton::Value::text(std::string(specialized.text)));
    case Specialized::Kind::Type:
      return constant_parameter(
          triton::Value(triton::TypeValue{ir::Type::scalar(specialized.dtype)}));
    case Specialized::Kind::None:
      return constant_parameter(triton::Value());
    case Specialized::Kind::Absent:
      break;
  }
  TW_UNREACHABLE("an absent argument has no type");
}

std::span<const TritonArgument> items_of(const TritonArgument& argument) {
  if (argument.kind == TritonArgument::Kind::Tuple) return argument.tuple->items();
  if (argument.kind == TritonArgument::Kind::Descriptor) return argument.descriptor->items();
  return {};
}

triton::ParameterType specialized_type(std::string_view kernel, const TritonParameter& parameter,
                                       const TritonArgument& argument) {
  using triton::ParameterType;
  const auto type_of = [&](const TritonArgument& value) {
    return parameter_type(specialize(kernel, parameter, value));
  };
  if (argument.kind == TritonArgument::Kind::Descriptor) {
    const TensorDescriptor& descriptor = *argument.descriptor;
    ParameterType type = type_of(descriptor.items()[0]);
    type.kind = ParameterType::Kind::Descriptor;
    type.block_shape = descriptor.block_shape();
    type.pads_with_nan = descriptor.padding() == TensorDescriptor::Padding::NaN;
    return type;
  }
  if (argument.kind != TritonArgument::Kind::Tuple) return type_of(argument);
  ParameterType type{.kind = ParameterType::Kind::Tuple};
  for (const TritonArgument& item : argument.tuple->items()) type.items.push_back(type_of(item));
  if (!parameter.is_constexpr) return type;
  std::vector<triton::Value> constants;
  for (const ParameterType& item : type.items) constants.push_back(item.constant);
  return constant_parameter(triton::Value::tuple(std::move(constants)));
}

}  // namespace tilewright
