// SPDX-License-Identifier: Apache-2.0
// compiler/guess/agreement.cpp — element by element.
#include "compiler/guess/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace tilewright {
namespace {

// Dots of float32 may be rounded to TF32, which has 10 bits.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 1e-6;
    case DType::Float32:
      return 2e-3;
    case DType::Float16:
      return 4e-3;
    case DType::BFloat16:
      return 2e-2;
    default:
      return 0.13;  // fp8
  }
}

bool same_kind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::isinf(a) || std::isinf(b) ? a == b : true;
}

std::string float_difference(const std::string& name, const Tensor& before, const Tensor& expected,
                             const Tensor& got, const Tensor* exact) {
  const auto old = before.to(DType::Float64).to_vector<double>();
  const auto a = expected.to(DType::Float64).to_vector<double>();
  const auto b = got.to(DType::Float64).to_vector<double>();
  const std::vector<double> wide = exact != nullptr ? exact->to_vector<double>() : a;
  double largest = 0;
  double error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || a[i] == old[i]) continue;
    largest = std::max(largest, std::fabs(a[i]));
    if (std::isfinite(wide[i])) error = std::max(error, std::fabs(a[i] - wide[i]));
  }
  const double share = tolerance_of(expected.dtype());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const double allowed = share * (std::fabs(a[i]) + largest);
    const bool is_near = std::fabs(b[i] - a[i]) <= allowed ||
                         std::fabs(b[i] - wide[i]) <= allowed + 4 * error || std::isnan(a[i]);
    if (same_kind(a[i], b[i]) && is_near) continue;
    return fmt::format("{}[{}] is {:.7g} in the interpreter and {:.7g} on the device", name, i,
                       a[i], b[i]);
  }
  return "";
}

// Where rounding alone changes integers (floats that were cast), they may be off by one, and by the
// share that the floats may.
std::string integer_difference(const std::string& name, const Tensor& expected, const Tensor& got,
                               const Tensor* exact) {
  const auto bytes = static_cast<std::size_t>(expected.numel()) * size_of(expected.dtype());
  if (std::memcmp(expected.data(), got.data(), bytes) == 0) return "";
  const bool is_rounded =
      exact != nullptr && std::memcmp(expected.data(), exact->data(), bytes) != 0;
  const auto a = expected.to(DType::Int64).to_vector<std::int64_t>();
  const auto b = got.to(DType::Int64).to_vector<std::int64_t>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double share = is_rounded ? tolerance_of(DType::Float32) : 0;
    const double allowed = share == 0 ? 0 : 1 + share * std::fabs(static_cast<double>(a[i]));
    if (std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <= allowed) continue;
    return fmt::format("{}[{}] is {} in the interpreter and {} on the device", name, i, a[i], b[i]);
  }
  return "";
}

}  // namespace

std::string difference(const std::vector<std::string>& names, const std::vector<Tensor>& before,
                       const std::vector<Tensor>& expected, const std::vector<Tensor>& got,
                       const std::vector<Tensor>* exact) {
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::string problem = is_floating(expected[t].dtype())
                                    ? float_difference(names[t], before[t], expected[t], got[t],
                                                       exact != nullptr ? &(*exact)[t] : nullptr)
                                    : integer_difference(names[t], expected[t], got[t],
                                                         exact != nullptr ? &(*exact)[t] : nullptr);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace tilewright
