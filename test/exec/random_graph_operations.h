// SPDX-License-Identifier: Apache-2.0
// exec/random_graph_operations.h — what the lines of random functions are: PyTorch source and the
// same in C++.
#pragma once

#include <span>
#include <vector>

#include "tilewright/ops.h"

namespace tilewright {

struct Given {
  Tensor a, b;
  int axis = 0;
  double number = 1;
  Shape full;  // what all values are broadcast to

  Tensor whole_a() const { return a.broadcast_to(full); }
  Tensor whole_b() const { return b.broadcast_to(full); }
  // No two elements of a row are equal: where all are, a norm makes 300 times the rounding of their
  // mean. Captured.
  Tensor uneven_a() const {
    std::vector<double> ramp;
    for (std::int64_t i = 0; i < full[2]; ++i) ramp.push_back(0.25 * static_cast<double>(i * i));
    return whole_a() * 0.1 + tensor<double>(ramp, Device::cpu()).to(a.dtype());
  }
};

struct Operation {
  const char* python;  // of a, b, axis, n and the sizes X, Y, Z
  Tensor (*run)(const Given&);
};

// Values of one floating dtype. Results are broadcast over three dimensions.
std::span<const Operation> float_operations();
// Others that came later: lines that were drawn before them stay as they are.
std::span<const Operation> more_float_operations();
// Values of any dtypes but floats, which are exact.
std::span<const Operation> integer_operations();

}  // namespace tilewright
