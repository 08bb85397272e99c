// SPDX-License-Identifier: Apache-2.0
// examples/batched_matmul.cpp — a batch of products through block pointers with boundary checks.
#include "check.h"

int run(const std::string& file) {
  const auto matmul = tw::load_triton(file, "batched_matmul_kernel");
  const std::int64_t batch = 5, m = 70, n = 40, k = 50;
  const auto a = tw::randn({batch, m, k});
  const auto b = tw::randn({batch, k, n});
  const auto c = tw::empty({batch, m, n});
  const auto grid = [&](const tw::Meta& meta) {
    return tw::Dim3(tw::cdiv(n, meta["BLOCK_N"]), tw::cdiv(m, meta["BLOCK_M"]),
                    tw::cdiv(batch, meta["BATCH"]));
  };
  matmul[grid](a, b, c, batch, m, n, k, tw::constant("BATCH", 2), tw::constant("BLOCK_M", 32),
               tw::constant("BLOCK_N", 32), tw::constant("BLOCK_K", 16));

  const auto left = a.cpu().to_vector<float>();
  const auto right = b.cpu().to_vector<float>();
  const double error = largest_error(c, [&](std::size_t i) {
    const auto width = static_cast<std::size_t>(n), inner = static_cast<std::size_t>(k);
    const std::size_t entry = i / (width * static_cast<std::size_t>(m));
    double sum = 0;
    for (std::size_t j = 0; j < inner; ++j)
      sum += double(left[i / width * inner + j]) * right[(entry * inner + j) * width + i % width];
    return sum;
  });
  return report("batched matmul", c, error, 3e-5);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "batched_matmul.py")); });
}
