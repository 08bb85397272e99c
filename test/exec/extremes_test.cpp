// SPDX-License-Identifier: Apache-2.0
// exec/extremes_test.cpp — the largest and the smallest of rows with NaN and infinities: a number
// wins over NaN, or NaN is kept, on the CPU as in the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

constexpr const char* source = R"(
import triton
import triton.language as tl


@triton.jit
def kept(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def extremes(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=float("nan"))
    tl.store(out_ptr + row * 3, tl.max(x, axis=0))
    tl.store(out_ptr + row * 3 + 1, tl.min(x, axis=0))
    inside = tl.where(column < columns, x, -float("inf"))
    tl.store(out_ptr + row * 3 + 2, tl.reduce(inside, 0, kept))
)";

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

std::vector<float> extremes_of(const std::vector<float>& row, bool interpret) {
  const TritonKernel kernel = load_triton_source(source, "extremes");
  const auto columns = static_cast<std::int64_t>(row.size());
  Tensor out = zeros({3}, {DType::Float32, Device::cpu()});
  kernel[{.grid = 1, .interpret = interpret}](tensor(row, Device::cpu()), out, columns,
                                              constant("BLOCK", 64));
  return out.to_vector<float>();
}

TEST(Extremes, NumbersAndNan) {
  std::vector<float> mixed(37, nan);
  mixed[5] = -3;
  mixed[36] = 2;
  std::vector<float> low(37, -inf), plain(37, 1.0f);
  low[20] = nan;
  plain[30] = -7;
  const std::vector<std::vector<float>> rows = {std::vector<float>(37, nan), mixed, low, plain};
  const std::vector<std::vector<float>> expected = {
      {nan, nan, nan}, {2, -3, nan}, {-inf, -inf, nan}, {1, -7, 1}};
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (const bool interpret : {false, true}) {
      const std::vector<float> got = extremes_of(rows[k], interpret);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(got[i] == expected[k][i] || (std::isnan(got[i]) && std::isnan(expected[k][i])))
            << "row " << k << ", result " << i << " is " << got[i];
    }
}

}  // namespace
}  // namespace tilewright
