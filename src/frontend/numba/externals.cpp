// SPDX-License-Identifier: Apache-2.0
// frontend/numba/externals.cpp — tables of outside names.
#include "frontend/numba/externals.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numbers>
#include <utility>

namespace tilewright::numba {

std::string without_package(std::string_view name) {
  for (const std::string_view package : {"numba_cuda.numba.", "numba."})
    if (name.starts_with(package)) return std::string(name.substr(package.size()));
  return std::string(name);
}

bool is_complex_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  return last == "complex64" || last == "complex128" || last == "complex" || last == "c8" ||
         last == "c16";
}

std::optional<DType> dtype_named(std::string_view name) {
  if (name == "builtins.int") return DType::Int64;
  if (name == "builtins.float") return DType::Float64;
  if (name == "builtins.bool") return DType::Bool;
  bool is_from_there = false;
  for (const std::string_view package :
       {"numpy.", "numba.core.types.", "numba.types.", "numba.cuda.types.", "numba.np.", "numba."})
    if (!is_from_there && name.starts_with(package)) {
      name.remove_prefix(package.size());
      is_from_there = true;
    }
  if (!is_from_there) return {};
  constexpr std::pair<std::string_view, DType> names[] = {
      {"float64", DType::Float64}, {"double", DType::Float64}, {"f8", DType::Float64},
      {"float32", DType::Float32}, {"single", DType::Float32}, {"f4", DType::Float32},
      {"int8", DType::Int8},       {"int16", DType::Int16},    {"int32", DType::Int32},
      {"int64", DType::Int64},     {"intp", DType::Int64},     {"int_", DType::Int64},
      {"uint8", DType::UInt8},     {"uint16", DType::UInt16},  {"uint32", DType::UInt32},
      {"uint64", DType::UInt64},   {"uintp", DType::UInt64},   {"bool_", DType::Bool},
      {"boolean", DType::Bool},    {"i1", DType::Int8},        {"i2", DType::Int16},
      {"i4", DType::Int32},        {"i8", DType::Int64},       {"u1", DType::UInt8},
      {"u2", DType::UInt16},       {"u4", DType::UInt32},      {"u8", DType::UInt64},
      {"float16", DType::Float16}, {"f2", DType::Float16},     {"bool", DType::Bool},
      {"byte", DType::UInt8},      {"longlong", DType::Int64}, {"b1", DType::Bool},
      {"intc", DType::Int32},      {"float_", DType::Float64}};
  for (const auto& [known, dtype] : names)
    if (known == name) return dtype;
  return {};
}

std::optional<double> number_named(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view package = name.substr(0, dot), last = name.substr(dot + 1);
  if (package != "math" && package != "numpy") return {};
  if (last == "pi") return std::numbers::pi;
  if (last == "e") return std::numbers::e;
  if (last == "tau") return 2 * std::numbers::pi;
  if (last == "inf") return std::numeric_limits<double>::infinity();
  if (last == "nan") return std::numeric_limits<double>::quiet_NaN();
  return {};
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace tilewright::numba
