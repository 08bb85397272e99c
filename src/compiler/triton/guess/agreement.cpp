// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/agreement.cpp — element by element.
#include "compiler/triton/guess/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr double spread_factor = 4;

// Two units in the last place, as a share of the number.
double two_units(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return std::ldexp(1.0, -51);
    case DType::Float32:
      return std::ldexp(1.0, -22);
    case DType::Float16:
      return std::ldexp(1.0, -9);
    case DType::BFloat16:
      return std::ldexp(1.0, -6);
    case DType::Float8E4M3:
      return std::ldexp(1.0, -2);
    default:
      return std::ldexp(1.0, -1);  // Float8E5M2
  }
}

bool is_same_kind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::isinf(a) || std::isinf(b) ? a == b : true;
}

// How far rounding moves the elements of one tensor.
struct Spread {
  std::vector<double> of_element;  // the farthest; infinite where rounding changes what kind it is
  double of_tensor = 0;            // root of the mean square over elements that are written
};

Spread spread_of(const std::vector<double>& before, const std::vector<double>& expected,
                 const std::vector<std::vector<double>>& runs) {
  Spread spread{.of_element = std::vector<double>(expected.size(), 0)};
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double& farthest = spread.of_element[i];
    for (const std::vector<double>& run : runs)
      farthest = std::max(farthest, is_same_kind(expected[i], run[i])
                                        ? std::fabs(run[i] - expected[i])
                                        : std::numeric_limits<double>::infinity());
    if (std::isnan(farthest)) farthest = 0;  // both are infinite
    if (expected[i] == before[i] || std::isinf(farthest)) continue;
    squares += farthest * farthest;
    count += 1;
  }
  if (count > 0) spread.of_tensor = std::sqrt(squares / count);
  return spread;
}

std::vector<double> doubles(const Tensor& tensor) {
  return tensor.to(DType::Float64).to_vector<double>();
}

std::vector<std::vector<double>> runs_of(const Comparison& comparison, std::size_t t) {
  std::vector<std::vector<double>> runs;
  for (const std::vector<Tensor>& run : comparison.rounded) runs.push_back(doubles(run[t]));
  return runs;
}

double largest_written(const std::vector<double>& before, const std::vector<double>& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (std::isfinite(expected[i]) && expected[i] != before[i])
      largest = std::max(largest, std::fabs(expected[i]));
  return largest;
}

bool writes_whole_numbers(const std::vector<double>& before, const std::vector<double>& after) {
  for (std::size_t i = 0; i < after.size(); ++i)
    if (after[i] != before[i] && after[i] != std::trunc(after[i])) return false;
  return true;
}

std::string float_difference(const Comparison& comparison, std::size_t t) {
  const DType dtype = comparison.expected[t].dtype();
  const std::vector<double> before = doubles(comparison.before[t]);
  const std::vector<double> a = doubles(comparison.expected[t]);
  const std::vector<double> b = doubles(comparison.got[t]);
  const std::vector<std::vector<double>> runs = runs_of(comparison, t);
  const Spread spread = spread_of(before, a, runs);
  // Sums of numbers that cancel err by a share of the numbers, not of the sum.
  const double floor = std::ldexp(largest_written(before, a), dtype == DType::Float64 ? -44 : -19);
  // A cast to an integer, stored into floats: as for tensors of integers.
  const bool is_whole = writes_whole_numbers(before, a) &&
                        std::all_of(runs.begin(), runs.end(), [&](const auto& run) {
                          return writes_whole_numbers(before, run);
                        });
  const double step = spread.of_tensor > 0 && is_whole ? 1 : 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double allowed = step + two_units(dtype) * std::fabs(a[i]) + floor +
                           spread_factor * (spread.of_element[i] + spread.of_tensor);
    if (std::isinf(spread.of_element[i])) continue;
    if (is_same_kind(a[i], b[i]) && std::fabs(b[i] - a[i]) <= allowed) continue;
    return fmt::format("{}[{}] is {:.7g} in the interpreter and {:.7g} on the device",
                       comparison.names[t], i, a[i], b[i]);
  }
  return "";
}

std::string integer_difference(const Comparison& comparison, std::size_t t) {
  const Tensor& expected = comparison.expected[t];
  const Tensor& got = comparison.got[t];
  const auto bytes = static_cast<std::size_t>(expected.numel()) * size_of(expected.dtype());
  if (std::memcmp(expected.data(), got.data(), bytes) == 0) return "";
  const Spread spread =
      spread_of(doubles(comparison.before[t]), doubles(expected), runs_of(comparison, t));
  const auto a = expected.to(DType::Int64).to_vector<std::int64_t>();
  const auto b = got.to(DType::Int64).to_vector<std::int64_t>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double allowed = spread.of_tensor > 0 ? 1 + spread_factor * spread.of_element[i] : 0;
    if (std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <= allowed) continue;
    return fmt::format("{}[{}] is {} in the interpreter and {} on the device", comparison.names[t],
                       i, a[i], b[i]);
  }
  return "";
}

}  // namespace

std::string difference(const Comparison& comparison) {
  for (std::size_t t = 0; t < comparison.names.size(); ++t) {
    std::string problem = is_floating(comparison.expected[t].dtype())
                              ? float_difference(comparison, t)
                              : integer_difference(comparison, t);
    if (!problem.empty()) return problem;
  }
  return "";
}

bool changes_memory(const std::vector<Tensor>& before, const std::vector<Tensor>& after) {
  for (std::size_t t = 0; t < before.size(); ++t)
    if (std::memcmp(before[t].data(), after[t].data(), before[t].nbytes()) != 0) return true;
  return false;
}

}  // namespace tilewright
