// SPDX-License-Identifier: Apache-2.0
// compiler/tune/results.h — do the configs of a kernel compute the same?
//
// Each config runs once on the same memory. What it leaves in the arguments that the kernel writes
// is compared with what the others left: a config with a grid that is too small is fast and wrong.
#pragma once

#include <string>
#include <vector>

#include "compiler/tune/saved_memory.h"
#include "tilewright/tensor.h"

namespace tilewright {

struct ResultProblem {
  std::size_t config = 0;
  std::size_t like = 0;   // a config whose result most of them share
  std::size_t count = 0;  // how many share it
  std::string what;       // "'y' is off by 1.0e+00 of its largest value, 1.0e-04 is allowed"
};

class ResultComparison {
 public:
  // Of the arguments those that are tensors are compared; `has_dot` allows for products that round
  // their operands (TF32). Throws OutOfMemory while results are taken.
  ResultComparison(const std::vector<NamedArgument>& arguments, bool has_dot, const Stream& stream);

  // Takes the results of a config's run, which has ended.
  void take(std::size_t config);

  // Configs that differ from the largest set of configs with the same result, of equally large ones
  // from the one with the first config.
  std::vector<ResultProblem> problems() const;
  // Arguments in which no two of three configs or more agree hold no result but scratch memory that
  // each config uses in its own way: they are not judged.
  std::vector<std::string> scratch() const;

 private:
  struct Group {
    Buffer copy;
    std::vector<std::size_t> configs;
  };
  struct Part {
    std::string name;
    Buffer buffer;
    DType dtype = DType::Float32;
    double tolerance = 0;
    std::vector<Group> groups;
    bool is_scratch() const;
    const Group& largest() const;
  };
  void add(const NamedArgument& argument, bool has_dot);
  void take(Part& part, std::size_t config) const;

  Stream stream_;
  std::vector<Part> parts_;
};

}  // namespace tilewright
