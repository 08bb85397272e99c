// SPDX-License-Identifier: Apache-2.0
// examples/block_sparse_matmul.cpp — a block-sparse matrix times a dense one; one row of blocks is
// empty, one is full.
#include "check.h"

int run(const std::string& file) {
  const auto matmul = tw::load_triton(file, "block_sparse_matmul_kernel");
  constexpr std::size_t block = 16;
  const std::int64_t n = 50;
  const std::vector<std::int32_t> starts = {0, 2, 2, 6, 7};
  const std::vector<std::int32_t> columns = {1, 3, 0, 1, 2, 3, 2};
  const auto block_rows = static_cast<std::int64_t>(starts.size()) - 1;
  const auto blocks = tw::randn({std::int64_t(columns.size()), block, block});
  const auto b = tw::randn({block_rows * std::int64_t(block), n});
  const auto c = tw::empty({block_rows * std::int64_t(block), n});
  matmul[{block_rows, tw::cdiv(n, 32)}](blocks, tw::tensor(starts), tw::tensor(columns), b, c, n,
                                        tw::constant("BLOCK", std::int64_t(block)),
                                        tw::constant("BLOCK_N", 32));

  const auto left = blocks.cpu().to_vector<float>();
  const auto right = b.cpu().to_vector<float>();
  const double error = largest_error(c, [&](std::size_t i) {
    const auto width = static_cast<std::size_t>(n);
    const std::size_t row = i / width;
    double sum = 0;
    for (auto e = static_cast<std::size_t>(starts[row / block]);
         e < static_cast<std::size_t>(starts[row / block + 1]); ++e)
      for (std::size_t j = 0; j < block; ++j) {
        const std::size_t from = static_cast<std::size_t>(columns[e]) * block + j;
        sum +=
            double(left[(e * block + row % block) * block + j]) * right[from * width + i % width];
      }
    return sum;
  });
  return report("block-sparse matmul", c, error, 3e-5);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "block_sparse_matmul.py")); });
}
