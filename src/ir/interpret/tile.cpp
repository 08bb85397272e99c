// SPDX-License-Identifier: Apache-2.0
// ir/interpret/tile.cpp — exact rounding and the memory form of elements.
#include "ir/interpret/tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace tilewright::ir {
namespace {

// A double as a float rounded to odd: what a second rounding to a type of at least two fewer bits
// then gives is the same as one rounding of the double.
float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest))
    return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const bool too_large = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  if (too_large) --bits;  // toward zero
  return std::bit_cast<float>(bits | 1u);
}

template <class T>
T read_as(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class T>
void write_as(void* address, T value) {
  std::memcpy(address, &value, sizeof value);
}

}  // namespace

std::int64_t wrap(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::Int8:
      return static_cast<std::int8_t>(value);
    case DType::Int16:
      return static_cast<std::int16_t>(value);
    case DType::Int32:
      return static_cast<std::int32_t>(value);
    case DType::UInt8:
      return static_cast<std::uint8_t>(value);
    case DType::UInt16:
      return static_cast<std::uint16_t>(value);
    case DType::UInt32:
      return static_cast<std::uint32_t>(value);
    case DType::Bool:
      return value != 0;
    default:
      return value;
  }
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::Float64:
      return value;
    case DType::Float32:
      return static_cast<float>(value);
    case DType::Float16:
      return half_to_float(float_to_half(round_to_odd(value)));
    case DType::BFloat16:
      return bfloat16_to_float(float_to_bfloat16(round_to_odd(value)));
    case DType::Float8E4M3:
      return float8_e4m3_to_float(float_to_float8_e4m3(round_to_odd(value)));
    case DType::Float8E5M2:
      return float8_e5m2_to_float(float_to_float8_e5m2(round_to_odd(value)));
    default:
      TW_UNREACHABLE("{} is not a float type", name_of(dtype));
  }
}

double round_toward_zero(DType dtype, double value) {
  const double nearest = round_to(dtype, value);
  if (std::isnan(value) || std::fabs(nearest) <= std::fabs(value)) return nearest;
  // One step of the type toward zero: the values below a float are those of the next lower bit
  // pattern.
  switch (dtype) {
    case DType::Float32:
      return std::nextafter(static_cast<float>(nearest), 0.0f);
    case DType::Float16:
      return half_to_float(
          static_cast<std::uint16_t>(float_to_half(static_cast<float>(nearest)) - 1));
    case DType::BFloat16:
      return bfloat16_to_float(
          static_cast<std::uint16_t>(float_to_bfloat16(static_cast<float>(nearest)) - 1));
    case DType::Float8E4M3:
      return float8_e4m3_to_float(
          static_cast<std::uint8_t>(float_to_float8_e4m3(static_cast<float>(nearest)) - 1));
    case DType::Float8E5M2:
      return float8_e5m2_to_float(
          static_cast<std::uint8_t>(float_to_float8_e5m2(static_cast<float>(nearest)) - 1));
    default:
      return nearest;
  }
}

double round_saturating(DType dtype, double value) {
  const double largest = dtype == DType::Float8E4M3 ? 448 : 57344;
  return round_to(dtype, std::clamp(value, -largest, largest));
}

std::int64_t float_to_int(DType dtype, double value) {
  if (std::isnan(value)) return 0;
  if (dtype == DType::UInt64) {
    if (value <= -1) return 0;
    if (value >= 18446744073709551616.0) return -1;
    return static_cast<std::int64_t>(value < 0 ? 0 : static_cast<std::uint64_t>(value));
  }
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  const bool has_sign = is_signed(dtype);
  const double high = std::ldexp(1.0, has_sign ? bits - 1 : bits);  // one past the largest
  const double low = has_sign ? -high : 0.0;
  if (value >= high)
    return has_sign && bits == 64 ? std::numeric_limits<std::int64_t>::max()
                                  : static_cast<std::int64_t>(high - 1);
  if (value <= low) return static_cast<std::int64_t>(low);
  return static_cast<std::int64_t>(value);
}

double int_to_float(DType from, std::int64_t value) {
  return from == DType::UInt64 ? static_cast<double>(static_cast<std::uint64_t>(value))
                               : static_cast<double>(value);
}

Element read_element(DType dtype, const void* address) {
  switch (dtype) {
    case DType::Float64:
      return {.f = read_as<double>(address)};
    case DType::Float32:
      return {.f = read_as<float>(address)};
    case DType::Float16:
      return {.f = half_to_float(read_as<std::uint16_t>(address))};
    case DType::BFloat16:
      return {.f = bfloat16_to_float(read_as<std::uint16_t>(address))};
    case DType::Float8E4M3:
      return {.f = float8_e4m3_to_float(read_as<std::uint8_t>(address))};
    case DType::Float8E5M2:
      return {.f = float8_e5m2_to_float(read_as<std::uint8_t>(address))};
    case DType::Int8:
      return {.i = read_as<std::int8_t>(address)};
    case DType::Int16:
      return {.i = read_as<std::int16_t>(address)};
    case DType::Int32:
      return {.i = read_as<std::int32_t>(address)};
    case DType::Int64:
    case DType::UInt64:
      return {.i = read_as<std::int64_t>(address)};
    case DType::UInt8:
      return {.i = read_as<std::uint8_t>(address)};
    case DType::UInt16:
      return {.i = read_as<std::uint16_t>(address)};
    case DType::UInt32:
      return {.i = read_as<std::uint32_t>(address)};
    case DType::Bool:
      return {.i = read_as<std::uint8_t>(address) != 0};
  }
  TW_UNREACHABLE("unknown dtype");
}

void write_element(DType dtype, Element element, void* address) {
  const float narrow = is_floating(dtype) && dtype != DType::Float64 ? round_to_odd(element.f) : 0;
  switch (dtype) {
    case DType::Float64:
      return write_as(address, element.f);
    case DType::Float32:
      return write_as(address, static_cast<float>(element.f));
    case DType::Float16:
      return write_as(address, float_to_half(narrow));
    case DType::BFloat16:
      return write_as(address, float_to_bfloat16(narrow));
    case DType::Float8E4M3:
      return write_as(address, float_to_float8_e4m3(narrow));
    case DType::Float8E5M2:
      return write_as(address, float_to_float8_e5m2(narrow));
    case DType::Int8:
    case DType::UInt8:
      return write_as(address, static_cast<std::uint8_t>(element.i));
    case DType::Int16:
    case DType::UInt16:
      return write_as(address, static_cast<std::uint16_t>(element.i));
    case DType::Int32:
    case DType::UInt32:
      return write_as(address, static_cast<std::uint32_t>(element.i));
    case DType::Int64:
    case DType::UInt64:
      return write_as(address, element.i);
    case DType::Bool:
      return write_as(address, static_cast<std::uint8_t>(element.i != 0));
  }
}

}  // namespace tilewright::ir
