// SPDX-License-Identifier: Apache-2.0
// ir/interpret/math.cpp — the functions of ir/math.def in double, each by its name.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "base/check.h"
#include "ir/interpret/elementwise.h"

namespace tilewright::ir {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

// The inverse of erf by Newton's method from a rough start; doubles converge in four steps.
double erfinv(double x) {
  if (x <= -1 || x >= 1)
    return std::fabs(x) == 1 ? x * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
  const double w = -std::log((1 - x) * (1 + x));
  double y = x * std::sqrt(w < 5 ? 0.886 : w / (std::fabs(x) + 1e-300));
  if (std::fabs(x) < 0.7) y = 0.886226925452758 * x;
  for (int step = 0; step < 60; ++step) {
    const double error = x > 0.5    ? -(std::erfc(y) - (1 - x))
                         : x < -0.5 ? std::erfc(-y) - (1 + x)
                                    : std::erf(y) - x;
    const double change = error / (1.1283791670955126 * std::exp(-y * y));
    y -= std::clamp(change, -0.5, 0.5);
    if (std::fabs(change) <= 1e-16 * std::fabs(y)) break;
  }
  return y;
}

// The modified Bessel function of the first kind: its series, whose terms have one sign, and far
// from 0 its expansion by 1 / x.
double bessel_i(int order, double x) {
  const double a = std::fabs(x);
  double sum = order == 0 ? 1 : a / 2;
  if (a < 25) {
    double term = sum;
    for (int k = 1; term > 1e-17 * sum; ++k) {
      term *= a * a / 4 / (static_cast<double>(k) * (k + order));
      sum += term;
    }
  } else if (a < 1500) {
    double term = 1;
    sum = 1;
    for (int k = 1; k < 40 && std::fabs(term) > 1e-17; ++k) {
      term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8.0 * k * a);
      sum += term;
    }
    const double power = std::exp(a / 2);
    sum = power / std::sqrt(6.283185307179586 * a) * sum * power;
  } else {
    sum = a * std::numeric_limits<double>::infinity();
  }
  return order == 1 && x < 0 ? -sum : sum;
}

const std::map<std::string_view, Unary>& unary_functions() {
  static const std::map<std::string_view, Unary> table = {
      {"exp", std::exp},
      {"exp2", std::exp2},
      {"expm1", std::expm1},
      {"log", std::log},
      {"log2", std::log2},
      {"log10", std::log10},
      {"log1p", std::log1p},
      {"sqrt", std::sqrt},
      {"sqrt_rn", std::sqrt},
      {"cbrt", std::cbrt},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tan", std::tan},
      {"asin", std::asin},
      {"acos", std::acos},
      {"atan", std::atan},
      {"sinh", std::sinh},
      {"cosh", std::cosh},
      {"tanh", std::tanh},
      {"asinh", std::asinh},
      {"acosh", std::acosh},
      {"atanh", std::atanh},
      {"erf", std::erf},
      {"erfc", std::erfc},
      {"erfinv", erfinv},
      {"lgamma", std::lgamma},
      {"tgamma", std::tgamma},
      {"j0", ::j0},
      {"j1", ::j1},
      {"y0", ::y0},
      {"y1", ::y1},
      {"cyl_bessel_i0", [](double x) { return bessel_i(0, x); }},
      {"cyl_bessel_i1", [](double x) { return bessel_i(1, x); }},
      {"floor", std::floor},
      {"ceil", std::ceil},
      {"trunc", std::trunc},
      {"round", std::round},
      {"rint", std::nearbyint},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
  };
  return table;
}

const std::map<std::string_view, Binary>& binary_functions() {
  static const std::map<std::string_view, Binary> table = {
      {"atan2", std::atan2}, {"pow", std::pow}, {"hypot", std::hypot}, {"copysign", std::copysign}};
  return table;
}

double next_after(DType dtype, double x, double toward) {
  if (dtype == DType::Float32)
    return std::nextafter(static_cast<float>(x), static_cast<float>(toward));
  return std::nextafter(x, toward);
}

// A test gives 1 or 0, in whichever type the result has: both forms of the element are never mixed
// up, because tests of the table give integers.
bool test_value(std::string_view function, double x) {
  if (function == "isnan") return std::isnan(x);
  if (function == "isinf") return std::isinf(x);
  if (function == "isfinite") return std::isfinite(x);
  return std::signbit(x);
}

}  // namespace

Element math_value(std::string_view function, DType dtype, std::span<const Element> operands) {
  if (const auto found = unary_functions().find(function); found != unary_functions().end())
    return {.f = found->second(operands[0].f)};
  if (const auto found = binary_functions().find(function); found != binary_functions().end())
    return {.f = found->second(operands[0].f, operands[1].f)};
  if (function == "nextafter") return {.f = next_after(dtype, operands[0].f, operands[1].f)};
  const int width = static_cast<int>(size_of(dtype)) * 8;
  const std::uint64_t bits =
      static_cast<std::uint64_t>(operands[0].i) & (width == 64 ? ~0ULL : (1ULL << width) - 1);
  if (function == "popcount") return {.i = std::popcount(bits)};
  if (function == "clz") return {.i = std::countl_zero(bits) - (64 - width)};
  return {.i = test_value(function, operands[0].f)};
}

}  // namespace tilewright::ir
