// SPDX-License-Identifier: Apache-2.0
// cli/differences.h — where a tensor differs from the one that was expected: how many elements, the
// first and the worst.
#pragma once

#include <optional>
#include <string>

#include "bench/json.h"
#include "tilewright/tensor.h"

namespace tilewright::cli {

struct DifferentElement {
  Shape index;
  double value = 0;
  double expected = 0;
  std::string value_text;  // integers with all their digits
  std::string expected_text;
};

struct TensorDifference {
  std::int64_t elements = 0;
  std::int64_t different = 0;
  double tolerance = 0;                   // of floats, see tolerance_of
  std::optional<DifferentElement> first;  // in row-major order
  std::optional<DifferentElement> worst;  // by absolute error; NaN and infinity are the worst
};

// What sums in another order cost in this type: 1e-5 for float32. 0 for integers.
double tolerance_of(DType dtype);

// A float may differ by `tolerance` times (its own magnitude + the root mean square of the whole
// expected tensor), so that results near 0 are judged by the scale of their neighbours. Integers
// must be equal, as must NaN and infinities. Both tensors have one shape.
TensorDifference find_differences(const Tensor& got, const Tensor& expected, double tolerance);

// Elements that are further apart than `absolute`.
TensorDifference find_differences_beyond(const Tensor& got, const Tensor& expected,
                                         double absolute);

// "3 of 1000 differ by more than 1e-05; first at [5]: 1.5, expected 2.5; worst at [7]: 1, expected
// 9", or "equal", or "equal within 1e-05".
std::string difference_text(const TensorDifference& difference);
Json difference_json(const TensorDifference& difference);

}  // namespace tilewright::cli
