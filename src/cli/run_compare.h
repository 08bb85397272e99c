// SPDX-License-Identifier: Apache-2.0
// cli/run_compare.h — what a run's tensors are compared with: files (--expect) and other runs
// (--compare).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/differences.h"
#include "cli/kernel_arguments.h"

namespace tilewright::cli {

struct Expected {
  std::string name;  // of the argument
  std::string text;  // ref.npy
  Tensor tensor;
};

// "out=ref.npy" and everything else that can be an argument. Throws UsageError for names that are
// no tensors, ArgumentError for other shapes.
std::vector<Expected> read_expected(const std::vector<std::string>& texts,
                                    const std::vector<NamedValue>& values);

struct ComparedTensor {
  std::string with;  // ref.npy, interpret
  std::string name;
  TensorDifference difference;
};

std::vector<ComparedTensor> compare_with_expected(const std::vector<Expected>& expected,
                                                  const std::vector<NamedValue>& values,
                                                  std::optional<double> tolerance);

// Both lists are of the same arguments after runs at two places. Tensors that were written, and
// those that differ.
std::vector<ComparedTensor> compare_runs(const std::string& with,
                                         const std::vector<NamedValue>& values,
                                         const std::vector<NamedValue>& others,
                                         std::optional<double> tolerance);

// The same arguments at another place, as they were before the run: also what `empty:` left there.
void restore(const std::vector<NamedValue>& from, const std::vector<NamedValue>& to);

void print_compared(const std::vector<ComparedTensor>& all);
Json compared_json(const std::vector<ComparedTensor>& all);
bool has_difference(const std::vector<ComparedTensor>& all);

// Of `run` when something differs.
inline constexpr int difference_code = 4;

}  // namespace tilewright::cli
