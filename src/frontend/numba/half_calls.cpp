// SPDX-License-Identifier: Apache-2.0
// frontend/numba/half_calls.cpp — cuda.fp16: operators and functions of float16 by their names.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

struct HalfOperator {
  std::string_view name;
  BinaryOperator op;
};
constexpr HalfOperator operators[] = {{"hadd", BinaryOperator::Add},
                                      {"hsub", BinaryOperator::Subtract},
                                      {"hmul", BinaryOperator::Multiply},
                                      {"hdiv", BinaryOperator::Divide}};

struct HalfComparison {
  std::string_view name;
  CompareOperator op;
};
constexpr HalfComparison comparisons[] = {
    {"heq", CompareOperator::Equal},   {"hne", CompareOperator::NotEqual},
    {"hlt", CompareOperator::Less},    {"hle", CompareOperator::LessEqual},
    {"hgt", CompareOperator::Greater}, {"hge", CompareOperator::GreaterEqual}};

// Those whose name is that of numpy with an h in front.
constexpr std::string_view functions[] = {"hsin",  "hcos",   "hlog",  "hlog10", "hlog2",
                                          "hexp",  "hexp2",  "hsqrt", "hrsqrt", "hfloor",
                                          "hceil", "htrunc", "hrint"};

}  // namespace

Value FunctionWriter::call_half(std::string_view name, const Arguments& given, const Node& place) {
  Arguments halves = given;
  for (Value& value : halves.values)
    value = converted(expect_scalar(value, fmt::format("an argument of cuda.fp16.{}", name), place),
                      DType::Float16);
  const auto expect = [&](std::size_t count) {
    expect_count(given, count, count, fmt::format("cuda.fp16.{}", name), place);
  };
  for (const HalfOperator& each : operators)
    if (each.name == name) {
      expect(2);
      return binary(each.op, halves.values[0], halves.values[1], place);
    }
  for (const HalfComparison& each : comparisons)
    if (each.name == name) {
      expect(2);
      return compare(each.op, halves.values[0], halves.values[1], place);
    }
  if (name == "hmax" || name == "hmin") {
    expect(2);
    return minimum_or_maximum(name == "hmin", halves, place);
  }
  if (name == "hfma") {
    expect(3);
    need_threads();  // that of the emulation
    return scalar_value(DType::Float16, fmt::format("__hfma({}, {}, {})", halves.values[0].text,
                                                    halves.values[1].text, halves.values[2].text));
  }
  expect(1);
  if (name == "habs") return call_math("fabs", halves, place);
  if (name == "hneg")
    return converted(
        scalar_value(DType::Float32, "-" + converted(halves.values[0], DType::Float32).text, false),
        DType::Float16);
  if (name == "hrcp")
    return binary(BinaryOperator::Divide, float_constant(1, DType::Float16), halves.values[0],
                  place);
  if (name == "hexp10") {
    Value result = scalar_value(DType::Float32,
                                fmt::format("{}(10.0f, {})", math_function("pow", DType::Float32),
                                            converted(halves.values[0], DType::Float32).text));
    return converted(result, DType::Float16);
  }
  if (std::find(std::begin(functions), std::end(functions), name) != std::end(functions))
    return call_numpy(name.substr(1), halves, place);
  missing(place, fmt::format("cuda.fp16.{}", name));
}

}  // namespace tilewright::numba
