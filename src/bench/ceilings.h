// SPDX-License-Identifier: Apache-2.0
// bench/ceilings.h — what a device reaches at best, measured: no kernel runs faster than its bytes
// or its arithmetic.
//
// Each takes well under a second and gives the median, so that a kernel timed in the same run can
// be compared with it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewright/benchmark.h"
#include "tilewright/device.h"
#include "tilewright/dtype.h"

namespace tilewright {

struct Ceiling {
  double per_second = 0;  // bytes or operations; 0 when it was not measured
  BenchResult times;
  std::string problem;  // why it was not measured; empty otherwise
};

// Bytes read plus bytes written by a large copy within the device's memory: with streaming stores
// on all cores of a CPU, the driver's copy on a GPU. `bytes` is the size of the copy; 0 chooses one
// that no cache holds.
Ceiling measure_copy(Device device, std::size_t bytes = 0);

// Float32 operations of multiply-adds on whole vectors, two each; on a GPU without its matrix
// units.
Ceiling measure_multiply_add(Device device);

// Operations of matrix products on operands of this type, two per multiply-add: in the matrix units
// of a GPU (float32 as tf32) or of a CPU (bfloat16), else by the vector instructions that products
// are made of. `problem` where the device has no such instruction.
Ceiling measure_matrix(Device device, DType dtype);

// What `info` and reports measure: those that the device has instructions for.
std::vector<DType> matrix_dtypes(const Target& target);

}  // namespace tilewright
