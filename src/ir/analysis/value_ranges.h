// SPDX-License-Identifier: Apache-2.0
// ir/analysis/value_ranges.h — which numbers the floats of a kernel can be.
//
// A range says what holds of every element that is a number; any element may be a NaN besides.
// Rounding to nearest keeps the order of numbers, so a bound of the exact result, rounded, bounds
// the rounded result. Bounds other than 0 and constants are right to a few units in the last place.
//
// Two facts are of tiles and not of elements: a value that is nowhere below a tile (its maximum
// along an axis) makes their difference at most 0; and where that maximum is exact, each row of the
// difference has a 0, so that the powers e^x of a row have a 1 and add up to at least 1.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  friend bool operator==(const Range&, const Range&) = default;
};

class ValueRanges {
 public:
  explicit ValueRanges(const Kernel& kernel);

  // Of a float; of anything else, and of values made after the analysis, all numbers.
  Range of(Value value) const;

 private:
  // A number that every row along an axis has as an element.
  struct Attained {
    int axis;
    double number;
  };
  void visit(const Region& region);
  void note(const Op& op);
  Range of_result(const Op& op) const;
  Range of_binary(const Op& op) const;
  Range of_cast(const Op& op) const;
  Range of_elementwise(const Op& op) const;
  Range of_across(const Op& op) const;
  Range of_larger(const Op& op, bool is_maximum) const;
  Range of_reduction(const Op& op) const;
  std::optional<Attained> attained(Value value) const;
  bool is_nowhere_below(Value value, Value tile) const;
  std::optional<int> axis_of_maximum(Value value, Value tile) const;
  bool is_never_nan(Value value) const;

  const Kernel& kernel_;
  std::vector<Range> ranges_;  // by value
};

}  // namespace tilewright::ir
