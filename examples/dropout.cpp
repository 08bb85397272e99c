// SPDX-License-Identifier: Apache-2.0
// examples/dropout.cpp — random numbers that depend on the seed alone: the same on every device.
#include "check.h"

int run(const std::string& file) {
  const auto dropout = tw::load_triton(file, "dropout_kernel");
  const std::int64_t n = 100'000;
  const double p = 0.25;
  const auto x = tw::rand({n});
  const auto out = tw::empty_like(x);
  const auto again = tw::empty_like(x);
  const auto grid = tw::cdiv(n, 1024);
  dropout[grid](x, out, n, p, 123, tw::constant("BLOCK", 1024));
  dropout[grid](x, again, n, p, 123, tw::constant("BLOCK", 1024));
  if (tw::max_abs_error(out, again) != 0) {
    std::puts("dropout: the same seed gave different results");
    return 1;
  }
  const auto values = x.cpu().to_vector<float>();
  const auto results = out.cpu().to_vector<float>();
  std::int64_t kept = 0;
  // What is kept must be scaled; what is not must be zero.
  const double error = largest_error(out, [&](std::size_t i) {
    kept += results[i] != 0;
    return results[i] == 0 ? 0.0 : values[i] / (1 - p);
  });
  const double share = static_cast<double>(kept) / static_cast<double>(n);
  if (std::abs(share - (1 - p)) > 0.01) {
    std::printf("dropout: %.4f of the elements are kept, not %.4f\n", share, 1 - p);
    return 1;
  }
  return report("dropout", out, error, 1e-6);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "dropout.py")); });
}
