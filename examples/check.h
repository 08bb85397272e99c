// SPDX-License-Identifier: Apache-2.0
// examples/check.h — what every example does around its kernel: finds its .py file and compares.
#pragma once

#include <tilewright/tilewright.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tw = tilewright;

// The Python file of an example lies beside its program, or is named on the command line.
inline std::string python_file(int count, char** arguments, const char* name) {
  if (count > 1) return arguments[1];
  return (std::filesystem::path(arguments[0]).parent_path() / name).string();
}

// The largest error of `got` against a reference in float64, relative to values above 1.
inline double largest_error(const tw::Tensor& got, const std::function<double(std::size_t)>& want) {
  const std::vector<float> values = got.cpu().to_vector<float>();
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double reference = want(i);
    const double error = std::abs(values[i] - reference) / std::max(1.0, std::abs(reference));
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

// Prints the outcome; the exit code of the program.
inline int report(const char* what, const tw::Tensor& on, double error, double limit) {
  std::printf("%s on %s: largest error %.2g (limit %.2g): %s\n", what, on.device().name().c_str(),
              error, limit, error <= limit ? "ok" : "WRONG");
  return error <= limit ? 0 : 1;
}

// Runs an example; what it throws is printed as one sentence.
inline int guarded(const std::function<int()>& example) {
  try {
    return example();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
