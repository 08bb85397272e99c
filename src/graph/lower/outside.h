// SPDX-License-Identifier: Apache-2.0
// graph/lower/outside.h — what the values of a formula are behind the end of a row, where loads are
// given a number instead of an element. A reduction whose operand is neutral there needs no mask.
//
//   softmax   x: -inf   max_number(x)   sub(x, max): -inf   exp: 0   sum needs no mask
//   rms_norm  x: 0      square: 0       sum needs no mask
#pragma once

#include <optional>
#include <vector>

#include "graph/formula.h"

namespace tilewright::graph {

struct Outside {
  std::vector<std::optional<double>> values;  // by number of the value; empty: anything

  // Does a reduction take from there what changes nothing?
  bool is_neutral(const Formula& formula, const Step& reduction) const;
};

// `is_masked` leaves (by number) are loaded under the row's mask; those of floats are given the
// number that a reduction over them wants.
Outside values_outside(const Formula& formula, const std::vector<bool>& is_masked);

}  // namespace tilewright::graph
