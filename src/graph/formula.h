// SPDX-License-Identifier: Apache-2.0
// graph/formula.h — what one kernel computes, apart from sizes and memory: a list of steps over
// tensors ("leaves") and numbers. Eager operations and fused groups are both written so.
//
//   softmax      leaves x: f32
//                0 x   1 max_number(0)   2 sub(0, 1)   3 exp(2)   4 sum(3)   5 quotient(3, 4)
//                outputs 5
//
// Values are numbered: leaves, then numbers, then steps. Without a reduction every element stands
// alone; with one, elements form rows, and what is computed from reductions alone exists once a
// row.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/op.h"

namespace tilewright::graph {

struct Leaf {
  DType dtype = DType::Float32;
  bool is_per_row = false;  // one element a row
  bool is_place = false;    // an element is its own place, an i64: there is no memory
};

struct Step {
  Op op = Op::Add;
  DType operand_dtype = DType::Float32;  // operands are converted to what it is computed in
  DType dtype = DType::Float32;          // of the result
  std::array<std::int16_t, 3> operands = {-1, -1, -1};
  friend bool operator==(const Step&, const Step&) = default;
};

struct Output {
  int value = 0;
  DType dtype = DType::Float32;
  bool is_per_row = false;
};

struct GroupKernel;  // compiled for one class of layouts (launch.h)

struct Formula {
  std::string name;
  std::vector<Leaf> leaves;
  std::vector<DType> numbers;  // arguments of the kernel
  std::vector<Step> steps;
  std::vector<Output> outputs;

  Formula() = default;
  Formula(const Formula&) = delete;  // kernels point to it
  Formula& operator=(const Formula&) = delete;
  ~Formula();

  int first_number() const { return static_cast<int>(leaves.size()); }
  int first_step() const { return first_number() + static_cast<int>(numbers.size()); }
  DType dtype(int value) const;
  bool has_reductions() const;

  // Adding to it, in this order: leaves, numbers, steps, outputs. `step` derives dtypes by the
  // table.
  int leaf(DType leaf_dtype, bool is_per_row = false);
  int place_leaf();
  int number(DType number_dtype);
  int step(Op op, std::initializer_list<int> operands);
  int step(Op op, const std::vector<int>& operands, DType common);
  int cast(int value, DType to);
  void output(int value, DType output_dtype, bool is_per_row = false);

  std::string to_string() const;
  // Equal for formulas that compute the same, as bytes; the name does not count.
  std::string key() const;

  // Kernels that were made for it: a list that only grows, read without a lock.
  mutable std::atomic<GroupKernel*> kernels{nullptr};
};

// What a number is passed to a kernel as, where it is computed with in `compute`.
DType number_dtype(DType compute);

}  // namespace tilewright::graph
