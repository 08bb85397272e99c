// SPDX-License-Identifier: Apache-2.0
// examples/grouped_matmul.cpp — groups of different heights, one of them empty, one weight each.
#include "check.h"

int run(const std::string& file) {
  const auto matmul = tw::load_triton(file, "grouped_matmul_kernel");
  const std::vector<std::int32_t> starts = {0, 37, 37, 100, 101, 180};
  const auto groups = static_cast<std::int64_t>(starts.size()) - 1;
  const std::int64_t rows = starts.back(), n = 48, k = 40;
  const auto a = tw::randn({rows, k});
  const auto weight = tw::randn({groups, k, n});
  const auto c = tw::empty({rows, n});
  matmul[6](a, weight, c, tw::tensor(starts), groups, n, k, tw::constant("BLOCK_M", 32),
            tw::constant("BLOCK_N", 32), tw::constant("BLOCK_K", 16));

  const auto left = a.cpu().to_vector<float>();
  const auto right = weight.cpu().to_vector<float>();
  const double error = largest_error(c, [&](std::size_t i) {
    const auto width = static_cast<std::size_t>(n), inner = static_cast<std::size_t>(k);
    const std::size_t row = i / width;
    std::size_t group = 0;
    while (static_cast<std::size_t>(starts[group + 1]) <= row) ++group;
    double sum = 0;
    for (std::size_t j = 0; j < inner; ++j)
      sum += double(left[row * inner + j]) * right[(group * inner + j) * width + i % width];
    return sum;
  });
  return report("grouped matmul", c, error, 3e-5);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "grouped_matmul.py")); });
}
