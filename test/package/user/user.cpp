// SPDX-License-Identifier: Apache-2.0
// package/user/user.cpp — a program of a user: only public headers, found and linked through the
// CMake package.
#include <cstdio>

#include <tilewright/tilewright.h>

namespace tw = tilewright;

int main() {
  const auto module = tw::load_inline({.cpp_sources = {R"(
    void scale(const float* x, float* y, long n) {
      for (long i = tw::program_id(0); i < n; i += tw::num_programs(0)) y[i] = 2 * x[i];
    })"},
                                       .device = tw::Device::cpu()});
  const tw::Tensor x = tw::arange(0, 100, 1, {tw::f32, tw::Device::cpu()});
  const tw::Tensor y = tw::empty_like(x);
  module.kernel("scale")[{.grid = 4}](x, y, x.numel());
  const bool right = y[99].item<float>() == 198.0f;
  std::printf("tilewright %s: %s\n", tw::version(), right ? "right" : "wrong");
  return right ? 0 : 1;
}
