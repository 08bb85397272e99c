// SPDX-License-Identifier: Apache-2.0
// cli/differences.cpp — element by element on the host.
#include "cli/differences.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::cli {
namespace {

Shape index_of_element(const Shape& shape, std::int64_t flat) {
  Shape index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index;
}

std::string text_of_element(const Tensor& host, std::int64_t flat) {
  const Tensor element = host.contiguous().view({-1})[flat];
  if (is_floating(host.dtype())) return fmt::format("{:.9g}", element.item<double>());
  if (host.dtype() == DType::UInt64) return fmt::format("{}", element.item<std::uint64_t>());
  return fmt::format("{}", element.item<std::int64_t>());
}

DifferentElement element_at(const Tensor& got, const Tensor& expected, std::int64_t flat) {
  return {.index = index_of_element(got.shape(), flat),
          .value = got.contiguous().view({-1})[flat].item<double>(),
          .expected = expected.contiguous().view({-1})[flat].item<double>(),
          .value_text = text_of_element(got, flat),
          .expected_text = text_of_element(expected, flat)};
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

// How far apart, and whether that is too far.
struct Judgement {
  double error = 0;
  bool differs = false;
};

Judgement judge_floats(double got, double expected, double allowed) {
  if (std::isnan(got) && std::isnan(expected)) return {};
  if (got == expected) return {};
  const double error = std::abs(got - expected);
  if (!std::isfinite(error)) return {std::numeric_limits<double>::infinity(), true};
  return {error, error > allowed};
}

struct Counter {
  std::int64_t different = 0;
  std::int64_t first = -1;
  std::int64_t worst = -1;
  double worst_error = -1;

  void add(std::int64_t i, const Judgement& judgement) {
    if (!judgement.differs) return;
    ++different;
    if (first < 0) first = i;
    if (judgement.error > worst_error) {
      worst = i;
      worst_error = judgement.error;
    }
  }
};

// `allowed` takes the expected element.
template <class Allowed>
Counter count_floats(const Tensor& got, const std::vector<double>& expected,
                     const Allowed& allowed) {
  const std::vector<double> values = got.to(DType::Float64).to_vector<double>();
  Counter counter;
  for (std::size_t i = 0; i < values.size(); ++i)
    counter.add(static_cast<std::int64_t>(i),
                judge_floats(values[i], expected[i], allowed(expected[i])));
  return counter;
}

Counter count_integers(const Tensor& got, const Tensor& expected) {
  const std::vector<std::int64_t> a = got.to(DType::Int64).to_vector<std::int64_t>();
  const std::vector<std::int64_t> b = expected.to(DType::Int64).to_vector<std::int64_t>();
  Counter counter;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    counter.add(static_cast<std::int64_t>(i), {error, a[i] != b[i]});
  }
  return counter;
}

Json element_json(const DifferentElement& element) {
  return {{"index", element.index}, {"value", element.value}, {"expected", element.expected}};
}

TensorDifference found(const Tensor& got, const Tensor& expected, const Counter& counter) {
  TensorDifference result{.elements = got.numel(), .different = counter.different};
  if (counter.different == 0) return result;
  result.first = element_at(got, expected, counter.first);
  result.worst = element_at(got, expected, counter.worst);
  return result;
}

}  // namespace

double tolerance_of(DType dtype) {
  if (!is_floating(dtype)) return 0;
  if (dtype == DType::Float64) return 1e-10;
  if (dtype == DType::Float32) return 1e-5;
  if (dtype == DType::Float16) return 2e-3;
  return dtype == DType::BFloat16 ? 1.6e-2 : 0.13;
}

TensorDifference find_differences(const Tensor& got, const Tensor& expected, double tolerance) {
  const Tensor a = got.to(Device::cpu());
  const Tensor b = expected.to(Device::cpu());
  if (!is_floating(a.dtype()) && !is_floating(b.dtype())) return found(a, b, count_integers(a, b));
  const std::vector<double> wanted = b.to(DType::Float64).to_vector<double>();
  const double scale = root_mean_square(wanted);
  TensorDifference result = found(a, b, count_floats(a, wanted, [&](double element) {
                                    return tolerance * (std::abs(element) + scale);
                                  }));
  result.tolerance = tolerance;
  return result;
}

TensorDifference find_differences_beyond(const Tensor& got, const Tensor& expected,
                                         double absolute) {
  const Tensor a = got.to(Device::cpu());
  const Tensor b = expected.to(Device::cpu());
  const std::vector<double> wanted = b.to(DType::Float64).to_vector<double>();
  return found(a, b, count_floats(a, wanted, [&](double) { return absolute; }));
}

std::string difference_text(const TensorDifference& d) {
  if (d.different == 0)
    return d.tolerance == 0 ? "equal" : fmt::format("equal within {:.2g}", d.tolerance);
  const auto place = [](const DifferentElement& element) {
    return fmt::format("at [{}]: {}, expected {}", fmt::join(element.index, ", "),
                       element.value_text, element.expected_text);
  };
  std::string text = fmt::format("{} of {} differ", d.different, d.elements);
  if (d.tolerance > 0) text += fmt::format(" by more than {:.2g}", d.tolerance);
  text += fmt::format("; first {}", place(*d.first));
  if (d.different > 1) text += fmt::format("; worst {}", place(*d.worst));
  return text;
}

Json difference_json(const TensorDifference& d) {
  Json json = {{"elements", d.elements}, {"different", d.different}, {"tolerance", d.tolerance}};
  if (d.first) json["first"] = element_json(*d.first);
  if (d.worst) json["worst"] = element_json(*d.worst);
  return json;
}

}  // namespace tilewright::cli
