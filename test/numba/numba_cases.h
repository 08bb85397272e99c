// SPDX-License-Identifier: Apache-2.0
// numba/numba_cases.h — the launches of expected.json, which Numba's simulator ran.
#pragma once

#include <string>
#include <vector>

#include "frontend/numba/types.h"
#include "tilewright/numba.h"

namespace tilewright {

struct NumbaCaseArgument {
  DType dtype = DType::Float32;
  bool is_array = false;
  Shape shape, strides;
  std::vector<double> before, after;  // row-major
  double value = 0;                   // of a number

  Tensor tensor() const;  // on the CPU, as before the launch
  numba::Type type() const;
  bool is_contiguous() const;
};

struct NumbaCase {
  std::string file, kernel;
  Dim3 grid, block;
  std::vector<NumbaCaseArgument> arguments;

  std::string path() const;
  std::string name() const { return file + ":" + kernel; }
  std::vector<numba::Type> types() const;
};

std::vector<NumbaCase> numba_cases(const std::string& file);
// Launches the kernel and expects what the simulator gave.
void expect_as_simulated(const NumbaCase& each, Device device, bool emulate);

}  // namespace tilewright
