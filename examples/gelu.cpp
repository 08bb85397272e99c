// SPDX-License-Identifier: Apache-2.0
// examples/gelu.cpp — GELU in Triton, with a helper function, against float64.
#include "check.h"

int run(const std::string& file) {
  const auto gelu = tw::load_triton(file, "gelu_kernel");
  const auto x = tw::randn({512, 781});
  const auto out = tw::empty_like(x);
  gelu[{tw::cdiv(x.numel(), 1024)}](x, out, x.numel(), tw::constant("BLOCK", 1024));

  const auto values = x.cpu().to_vector<float>();
  const double error = largest_error(out, [&](std::size_t i) {
    const double v = values[i];
    return 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
  });
  return report("gelu", out, error, 2e-6);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "gelu.py")); });
}
