// SPDX-License-Identifier: Apache-2.0
// exec/large_results_test.cpp — CPU kernels whose results go around the caches: they are the same
// as those of small launches, whatever lines begin and end where, and nothing else is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

constexpr const char* source = R"(
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i % 1024, mask=i < n)
    tl.store(out_ptr + i, x * 2 + (i % 5).to(tl.float32), mask=i < n)


@triton.jit
def rows_kernel(out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * 4 + tl.arange(0, 4)
    column = tl.arange(0, BLOCK)
    value = (row[:, None] * 7 + column[None, :]) % 1000
    tl.store(out_ptr + row[:, None] * columns + column[None, :], value, mask=column[None, :] < columns)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + start + column, mask=inside, other=-float("inf"))
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + start + column, power / tl.sum(power, axis=0), mask=inside)
)";

// The number of the first element that is not as it should be; `count`: none.
template <class Test>
std::int64_t first_bad(std::int64_t count, const Test& is_good) {
  std::int64_t i = 0;
  while (i < count && is_good(i)) ++i;
  return i;
}

template <class T>
void doubles(DType dtype, std::int64_t n, std::int64_t offset, std::int64_t block) {
  const TritonKernel kernel = load_triton_source(source, "double_kernel");
  const Tensor x = arange(1024, {dtype, Device::cpu()});
  Tensor memory = full({n + offset + 64}, -1.0, {dtype, Device::cpu()});
  Tensor out = memory.slice(0, offset, offset + n);
  kernel[{cdiv(n, block)}](x, out, n, constant("BLOCK", block));
  const T* const got = memory.data<T>();
  const auto expected = [&](std::int64_t i) {
    return static_cast<float>(T(2 * float(T(i % 1024)) + float(i % 5)));
  };
  EXPECT_EQ(first_bad(n, [&](std::int64_t i) { return float(got[offset + i]) == expected(i); }), n);
  const auto is_untouched = [](T value) { return static_cast<float>(value) == -1; };
  EXPECT_TRUE(std::all_of(got, got + offset, is_untouched));
  EXPECT_TRUE(std::all_of(got + offset + n, got + n + offset + 64, is_untouched));
}

TEST(LargeResults, LinesBeginAnywhere) {
  doubles<float>(DType::Float32, (8 << 20) + 7, 0, 1024);
  doubles<float>(DType::Float32, (8 << 20) + 7, 3, 4096);
}

TEST(LargeResults, SmallTypesToo) { doubles<BFloat16>(DType::BFloat16, (16 << 20) + 33, 5, 2048); }

TEST(LargeResults, RowsOfTiles) {
  const TritonKernel kernel = load_triton_source(source, "rows_kernel");
  constexpr std::int64_t rows = 8192, columns = 1021;
  Tensor out = full({rows * columns + 16}, -1, {DType::Int32, Device::cpu()});
  kernel[{rows / 4}](out, columns, constant("BLOCK", 1024));
  const std::int32_t* const got = out.data<std::int32_t>();
  const auto is_good = [&](std::int64_t i) {
    return got[i] == (i / columns * 7 + i % columns) % 1000;
  };
  EXPECT_EQ(first_bad(rows * columns, is_good), rows * columns);
  EXPECT_EQ(got[rows * columns], -1);
}

// Each row asks for the next one, the last of all for memory beyond the tensor.
TEST(LargeResults, RowsThatAskForTheNext) {
  const TritonKernel kernel = load_triton_source(source, "softmax_kernel");
  for (const std::int64_t columns : {4000, 781}) {
    const std::int64_t rows = (9 << 20) / columns, few = 3;
    const Tensor x = arange(rows * columns, {DType::Float32, Device::cpu()}).view({rows, columns});
    Tensor all = full({rows, columns}, -1.0, {DType::Float32, Device::cpu()});
    Tensor some = full({few, columns}, -1.0, {DType::Float32, Device::cpu()});
    kernel[{rows}](x, all, columns, constant("BLOCK", 4096));
    const std::int64_t last = rows - few;
    kernel[{few}](x.slice(0, last, rows), some, columns, constant("BLOCK", 4096));
    EXPECT_EQ(std::memcmp(all.slice(0, last, rows).data<float>(), some.data<float>(),
                          static_cast<std::size_t>(few * columns) * sizeof(float)),
              0);
    const float* const got = all.data<float>();
    EXPECT_TRUE(std::all_of(got, got + rows * columns, [](float y) { return y >= 0 && y <= 1; }));
  }
}

}  // namespace
}  // namespace tilewright
