// SPDX-License-Identifier: Apache-2.0
// base/statistics.cpp — quantiles and the order-statistics interval of the median.
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace tilewright {
namespace {

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// How many samples at either end may be left out so that at most 2.5% of the probability is lost
// there: the largest k with P(Binomial(n, 1/2) < k) <= 0.025.
std::size_t samples_outside(std::size_t n) {
  if (n > 1000) {
    const double size = static_cast<double>(n);
    return static_cast<std::size_t>(std::floor((size - 1.96 * std::sqrt(size)) / 2));
  }
  double probability = std::pow(0.5, static_cast<double>(n));
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += probability;
    if (sum > 0.025) return k;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return 0;
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  TW_CHECK(!sorted.empty(), "a quantile of no samples");
  const double position = q * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

double median_of(std::span<const double> samples) { return quantile(sorted_copy(samples), 0.5); }

int count_outliers(std::span<const double> sorted) {
  const double low = quantile(sorted, 0.25), high = quantile(sorted, 0.75);
  const double reach = 1.5 * (high - low);
  return static_cast<int>(std::count_if(sorted.begin(), sorted.end(), [&](double sample) {
    return sample < low - reach || sample > high + reach;
  }));
}

Interval median_interval(std::span<const double> sorted) {
  TW_CHECK(!sorted.empty(), "an interval of no samples");
  const std::size_t outside = samples_outside(sorted.size());
  const std::size_t first = outside > 0 ? outside - 1 : 0;
  return {sorted[first], sorted[sorted.size() - 1 - first]};
}

Summary summarize(std::span<const double> samples) {
  const std::vector<double> sorted = sorted_copy(samples);
  Summary s;
  s.median = quantile(sorted, 0.5);
  s.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  s.min = sorted.front();
  s.max = sorted.back();
  s.p10 = quantile(sorted, 0.1);
  s.p90 = quantile(sorted, 0.9);
  s.interval = median_interval(sorted);
  s.outliers = count_outliers(sorted);
  return s;
}

}  // namespace tilewright
