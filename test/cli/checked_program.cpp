// SPDX-License-Identifier: Apache-2.0
// cli/checked_program.cpp — a user's program with a wrong launch, for `tilewright check -- PROGRAM`.
//
//   checked_program KERNELS.py CODE: launches `forgotten` twice, and ends with that exit code.
#include <cstdio>
#include <cstdlib>

#include "tilewright/tilewright.h"

int main(int, char** arguments) {
  const auto kernel = tilewright::load_triton(arguments[1], "forgotten");
  for (const int n : {64, 100}) {
    const auto x = tilewright::randn({n});
    const auto out = tilewright::empty_like(x);
    kernel[{.grid = (n + 31) / 32}](x, out, n, 32);
  }
  std::puts("the program's own words");
  return std::atoi(arguments[2]);
}
