// SPDX-License-Identifier: Apache-2.0
// base/statistics.h — what is said about a set of measured times.
//
// Times have a hard floor and a long tail, so the median and order statistics describe them;
// nothing here assumes a normal distribution.
#pragma once

#include <span>
#include <vector>

namespace tilewright {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Summary {
  double median = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
  double p10 = 0;
  double p90 = 0;
  Interval interval;  // of the median
  int outliers = 0;
};

// All need at least one sample.
Summary summarize(std::span<const double> samples);
double median_of(std::span<const double> samples);

// The value below which a fraction `q` of the samples lies, interpolated between neighbours.
// `sorted` is ascending.
double quantile(std::span<const double> sorted, double q);

// Samples that lie more than 1.5 times the width of the middle half outside of it.
int count_outliers(std::span<const double> sorted);

// A range that holds the true median with a probability of 95%, between two of the samples. Fewer
// than six samples cannot promise that: the range is then that of all samples.
Interval median_interval(std::span<const double> sorted);

}  // namespace tilewright
