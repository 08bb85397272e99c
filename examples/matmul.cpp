// SPDX-License-Identifier: Apache-2.0
// examples/matmul.cpp — a matrix product of odd sizes: B as it lies, and B transposed by its
// strides alone.
#include "check.h"

// C[i, j] in float64; b is given as rows of k.
double error_of(const tw::Tensor& c, const tw::Tensor& a, const tw::Tensor& b) {
  const auto left = a.cpu().to(tw::f32).to_vector<float>();
  const auto right = b.cpu().to(tw::f32).to_vector<float>();
  const auto k = static_cast<std::size_t>(a.size(1)), n = static_cast<std::size_t>(b.size(1));
  return largest_error(c.to(tw::f32), [&](std::size_t i) {
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j) sum += double(left[i / n * k + j]) * right[j * n + i % n];
    return sum;
  });
}

int run(const std::string& file) {
  const auto matmul = tw::load_triton(file, "matmul_kernel");
  const std::int64_t m = 200, n = 150, k = 100;
  const auto product = [&](const tw::Tensor& a, const tw::Tensor& b, const tw::Tensor& c) {
    const auto grid = [&](const tw::Meta& meta) {
      return tw::cdiv(m, meta["BLOCK_M"]) * tw::cdiv(n, meta["BLOCK_N"]);
    };
    matmul[{.grid = grid, .num_warps = 4, .num_stages = 3}](
        a, b, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0),
        c.stride(1), tw::constant("BLOCK_M", 64), tw::constant("BLOCK_N", 64),
        tw::constant("BLOCK_K", 32), tw::constant("GROUP", 4));
    return error_of(c, a, b);
  };
  int wrong = 0;
  const auto c = tw::empty({m, n});
  wrong += report("matmul float32", c, product(tw::randn({m, k}), tw::randn({k, n}), c), 3e-5);
  wrong += report("matmul float32, B transposed", c,
                  product(tw::randn({m, k}), tw::randn({n, k}).transpose(0, 1), c), 3e-5);
  const auto half = tw::empty({m, n}, {tw::f16});
  wrong +=
      report("matmul float16", half,
             product(tw::randn({m, k}).to(tw::f16), tw::randn({k, n}).to(tw::f16), half), 1e-3);
  return wrong;
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "matmul.py")); });
}
