// SPDX-License-Identifier: Apache-2.0
// examples/vector_add.cpp — a Triton kernel launched from C++, with a grid that is a function of
// its block size.
#include "check.h"

int run(const std::string& file) {
  const auto add = tw::load_triton(file, "add_kernel");
  const std::int64_t n = 98432;  // no multiple of the block size: the mask matters
  const auto x = tw::randn({n});
  const auto y = tw::randn({n});
  const auto out = tw::empty_like(x);
  const auto grid = [&](const tw::Meta& meta) { return tw::cdiv(n, meta["BLOCK"]); };
  add[grid](x, y, out, n, tw::constant("BLOCK", 1024));

  const auto a = x.cpu().to_vector<float>();
  const auto b = y.cpu().to_vector<float>();
  const double error =
      largest_error(out, [&](std::size_t i) { return double{a[i]} + double{b[i]}; });
  return report("vector add", out, error, 1e-7);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "vector_add.py")); });
}
