// SPDX-License-Identifier: Apache-2.0
// runtime/arguments.cpp — scalar conversions and the sentences about arguments that do not fit.
#include "runtime/arguments.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "runtime/plan.h"

namespace tilewright {
namespace {

std::string place_of(const FunctionState& function, std::size_t index) {
  return fmt::format("argument {} '{}' of kernel '{}'", index + 1,
                     function.kernel->parameters[index].name, function.kernel->name);
}

std::string scalar_of(DType dtype) {
  return fmt::format("{} {} scalar", name_of(dtype).starts_with('i') ? "an" : "a", name_of(dtype));
}

std::string wanted(const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::Scalar:
      return scalar_of(parameter.dtype);
    case Parameter::Kind::Opaque:
      return parameter.opaque_bytes ? fmt::format("a struct of {} bytes", parameter.opaque_bytes)
                                    : "a struct";
    case Parameter::Kind::Pointer:
      return parameter.any_pointee ? "a pointer"
                                   : fmt::format("a pointer to {}", name_of(parameter.dtype));
  }
  TW_UNREACHABLE("parameter kind {}", static_cast<int>(parameter.kind));
}

std::string given(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::Scalar:
      return scalar_of(argument.dtype);
    case Argument::Kind::Opaque:
      return fmt::format("a struct of {} bytes", argument.bytes);
    case Argument::Kind::Memory:
      return fmt::format("a tensor of {}", name_of(argument.dtype));
    case Argument::Kind::Pointer:
      return argument.any_pointee ? "a pointer"
                                  : fmt::format("a pointer to {}", name_of(argument.dtype));
  }
  TW_UNREACHABLE("argument kind {}", static_cast<int>(argument.kind));
}

template <class T>
T value_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// Wide enough for every int64 and uint64.
using Integer = __int128;

Integer integer_value(DType dtype, std::uint64_t bits) {
  return dtype == DType::UInt64 ? static_cast<Integer>(bits)
                                : static_cast<Integer>(integer_of_bits(dtype, bits));
}

bool fits(Integer value, DType dtype) {
  const int bits = dtype == DType::Bool ? 1 : static_cast<int>(8 * size_of(dtype));
  const Integer one = 1;
  if (is_signed(dtype)) return value >= -(one << (bits - 1)) && value < (one << (bits - 1));
  return value >= 0 && value < (one << bits);
}

double floating_value(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::Float64:
      return value_of<double>(bits);
    case DType::Float32:
      return value_of<float>(bits);
    case DType::Float16:
      return half_to_float(static_cast<std::uint16_t>(bits));
    case DType::BFloat16:
      return bfloat16_to_float(static_cast<std::uint16_t>(bits));
    case DType::Float8E4M3:
      return float8_e4m3_to_float(static_cast<std::uint8_t>(bits));
    case DType::Float8E5M2:
      return float8_e5m2_to_float(static_cast<std::uint8_t>(bits));
    default:
      return static_cast<double>(integer_value(dtype, bits));
  }
}

std::uint64_t floating_bits(DType dtype, double value) {
  const auto single = static_cast<float>(value);
  switch (dtype) {
    case DType::Float64:
      return bits_of(value);
    case DType::Float32:
      return bits_of(single);
    case DType::Float16:
      return float_to_half(single);
    case DType::BFloat16:
      return float_to_bfloat16(single);
    case DType::Float8E4M3:
      return float_to_float8_e4m3(single);
    case DType::Float8E5M2:
      return float_to_float8_e5m2(single);
    default:
      TW_UNREACHABLE("{} is not floating", name_of(dtype));
  }
}

}  // namespace

UsualArgument usual_argument(const Parameter& parameter) {
  UsualArgument usual{.needs_contiguous = parameter.needs_contiguous};
  if (parameter.any_pointee || parameter.kind == Parameter::Kind::Opaque) return usual;
  Argument argument;
  argument.dtype = parameter.dtype;
  if (parameter.kind == Parameter::Kind::Pointer) {
    argument.kind = Argument::Kind::Pointer;
    usual.second = type_word(argument);
    argument.kind = Argument::Kind::Memory;
  } else if (parameter.dtype == DType::Int32) {
    usual.second = type_word(Argument(std::int64_t{0}));
  }
  usual.first = type_word(argument);
  return usual;
}

std::uint64_t convert_scalar(const FunctionState& function, std::size_t index,
                             const Argument& argument) {
  const Parameter& parameter = function.kernel->parameters[index];
  if (argument.kind != Argument::Kind::Scalar) throw_wrong_argument(function, index, argument);
  if (is_floating(parameter.dtype))
    return floating_bits(parameter.dtype, floating_value(argument.dtype, argument.bits));
  if (is_floating(argument.dtype)) throw_wrong_argument(function, index, argument);
  const Integer value = integer_value(argument.dtype, argument.bits);
  if (!fits(value, parameter.dtype))
    throw ArgumentError(fmt::format("{} must fit in {}, got {}", place_of(function, index),
                                    name_of(parameter.dtype), value));
  return static_cast<std::uint64_t>(value);
}

void throw_wrong_argument(const FunctionState& function, std::size_t index,
                          const Argument& argument) {
  const Parameter& parameter = function.kernel->parameters[index];
  const std::string place = place_of(function, index);
  if (parameter.kind == Parameter::Kind::Pointer && argument.kind == Argument::Kind::Memory) {
    if (!argument.is_defined)
      throw ArgumentError(fmt::format(
          "{} is a tensor without memory (null or freed); give it a value first", place));
    if (parameter.any_pointee || argument.dtype == parameter.dtype) {
      if (!is_reachable(argument, function.device))
        throw ArgumentError(fmt::format("{} must be on {}, got a tensor on {}; copy it there first",
                                        place, function.device.name(), argument.device.name()));
      throw ArgumentError(
          fmt::format("{} must be a contiguous tensor; call contiguous() on it first", place));
    }
  }
  throw ArgumentError(
      fmt::format("{} must be {}, got {}", place, wanted(parameter), given(argument)));
}

void throw_wrong_count(const FunctionState& function, std::size_t given_count) {
  const std::vector<Parameter>& parameters = function.kernel->parameters;
  if (parameters.empty())
    throw ArgumentError(
        fmt::format("kernel '{}' takes no arguments, got {}", function.kernel->name, given_count));
  std::string names;
  for (const Parameter& parameter : parameters)
    names += (names.empty() ? "" : ", ") + parameter.name;
  throw ArgumentError(fmt::format("kernel '{}' takes {} argument{} ({}), got {}",
                                  function.kernel->name, parameters.size(),
                                  parameters.size() == 1 ? "" : "s", names, given_count));
}

}  // namespace tilewright
