// SPDX-License-Identifier: Apache-2.0
// examples/softmax.cpp — one row per program; the kernel's heuristic chooses the block size.
#include "check.h"

int run(const std::string& file) {
  const auto softmax = tw::load_triton(file, "softmax_kernel");
  const std::int64_t rows = 200, columns = 781;
  const auto x = tw::randn({rows, columns});
  const auto out = tw::empty_like(x);
  softmax[{.grid = rows, .num_warps = 8}](x, out, x.stride(0), columns);

  const auto values = x.cpu().to_vector<float>();
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> sums(static_cast<std::size_t>(rows), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i / width] += std::exp(double{values[i]});
  const double error = largest_error(
      out, [&](std::size_t i) { return std::exp(double{values[i]}) / sums[i / width]; });
  return report("softmax", out, error, 1e-7);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "softmax.py")); });
}
