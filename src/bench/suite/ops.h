// SPDX-License-Identifier: Apache-2.0
// bench/suite/ops.h — the operations that `tilewright bench` knows: their operands, what they cost
// at least, and their float64 reference.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/tensor.h"

namespace tilewright::suite {

// A tensor that an operation reads, or ("out", the last one) writes.
struct Operand {
  enum class Fill { Normal, Classes, Nothing };
  std::string name;
  Shape shape;
  DType dtype = DType::Float32;
  Fill fill = Fill::Normal;
  std::int64_t classes = 0;  // of Classes: integers below this
};

struct Operation;

// One operation at one size on one device, with its tensors.
struct Problem {
  const Operation* operation = nullptr;
  Shape shape;
  DType dtype = DType::Float32;
  Device device;
  std::vector<std::pair<std::string, Tensor>> tensors;  // in the order of the operands

  const Tensor& tensor(std::string_view name) const;
  const Tensor& out() const { return tensors.back().second; }
  std::int64_t elements() const;  // product of the shape
  std::int64_t rows() const { return columns() == 0 ? 0 : elements() / columns(); }
  std::int64_t columns() const { return shape.back(); }
};

// How far a result is from the reference.
struct Check {
  double error = 0;       // largest difference, relative to the largest value of the reference
  std::int64_t rows = 0;  // how many rows were compared
  std::string worst;      // "row 3, column 5: 1.5, expected 2"; empty where nothing differs
  std::string problem;    // why nothing can be said: the reference itself is not finite
};

struct Operation {
  const char* name;
  const char* summary;
  const char* shape_names;  // "rows x columns"
  bool is_arithmetic;       // its rate is counted in FLOP/s, else in B/s
  std::vector<Operand> (*operands)(const Shape& shape, DType dtype);
  Shape (*shape_of)(std::int64_t dim);  // of --dim
  std::int64_t cpu_dim, cuda_dim;       // unless something else is asked for
  DType cuda_dtype;                     // float32 on the CPU
  double (*flops)(const Shape& shape);
  Check (*check)(const Problem& problem, const Tensor& out);
};

std::span<const Operation> operations();
// Throws ArgumentError with the nearest names.
const Operation& operation_named(std::string_view name);

// Throws ArgumentError when the shape does not fit the operation.
void check_shape(const Operation& operation, const Shape& shape);

// Every input once and the output once: no way can move less.
double bytes_at_least(const Operation& operation, const Shape& shape, DType dtype);

// Throws OutOfMemory with the estimate where the tensors (and `extra_outputs` temporaries of the
// output's size) do not fit.
void check_memory(const Operation& operation, const Shape& shape, DType dtype, Device device,
                  int extra_outputs = 2);
Problem make_problem(const Operation& operation, const Shape& shape, DType dtype, Device device);

// The largest error that a right result may have: float32 arithmetic (TF32 in products on a GPU)
// and `roundings` to the dtype.
double tolerance_of(const Problem& problem, int roundings);

std::string shape_text(const Shape& shape);  // "8192x781"

}  // namespace tilewright::suite
