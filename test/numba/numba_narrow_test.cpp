// SPDX-License-Identifier: Apache-2.0
// numba/numba_narrow_test.cpp — launches that need no more than 32 bits have a text with ints, and
// it computes what Numba's int64 would. Emulated: a GPU has the same text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/numba/numba_state.h"
#include "tilewright/tilewright.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

NumbaKernel kernel_of(const std::string& body) {
  return load_numba_source("from numba import cuda, float32\n\n@cuda.jit\n" + body, "k");
}

std::string text_of(const std::string& body, NumbaPromises promises) {
  const NumbaKernel kernel = kernel_of(body);
  const numba::Type array = numba::Type::array(DType::Float32, 1, true);
  return numba_source(*kernel.state(), {array, array}, NumbaPlace::Gpu, promises)->text.text;
}

const std::string square =
    "def k(x, y):\n    i = cuda.grid(1)\n    if i < x.shape[0]:\n        y[i] = x[i] * x[i]\n";

TEST(NumbaNarrow, IndicesAreIntsWhereTheLaunchAllows) {
  const std::string narrow = text_of(square, {.is_narrow = true, .are_apart = true});
  EXPECT_THAT(narrow, HasSubstr("k(float* __restrict__ x, int x_shape0, float* y)"));
  EXPECT_THAT(narrow, HasSubstr("const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);"));
  const std::string wide = text_of(square, {});
  EXPECT_THAT(wide, HasSubstr("k(float* x, long long x_shape0, float* y)"));
  EXPECT_THAT(wide, HasSubstr("const long long i = (long long)blockIdx.x"));
}

TEST(NumbaNarrow, TheSumOfBlockAndThreadIsAnIntToo) {
  const std::string text = text_of(
      "def k(x, y):\n    tx = cuda.threadIdx.x\n    ty = cuda.blockIdx.x\n    bw = "
      "cuda.blockDim.x\n"
      "    pos = tx + ty * bw\n    if pos < x.size:\n        y[pos] = x[pos]\n",
      {.is_narrow = true});
  EXPECT_THAT(text, HasSubstr("const int pos = tx + (ty * bw);"));
}

TEST(NumbaNarrow, AnArrayThatIsWrittenIsNotRestricted) {
  const std::string text = text_of(
      "def k(x, y):\n    i = cuda.grid(1)\n    y[i] = x[i]\n    cuda.syncthreads()\n"
      "    x[i] = y[i] + 1\n",
      {.is_narrow = true, .are_apart = true});
  EXPECT_THAT(text, Not(HasSubstr("__restrict__")));
}

// Products, sums and powers of sizes, indices and numbers leave 32 bits as int64 does.
TEST(NumbaNarrow, ResultsBeyond32BitsAreThoseOfInt64) {
  const NumbaKernel kernel = kernel_of(R"(def k(x, n, out):
    i = cuda.grid(1)
    s = x.shape[0]
    if i < s:
        out[0, i] = s * n * n
        out[1, i] = i * 3000000000
        out[2, i] = (n - i) * (n + i)
        out[3, i] = -n * n - i
        out[4, i] = (i + 2000000000) + (i + 2000000000)
        big = n
        for j in range(6):
            big *= 7
        out[5, i] = big * (1 if i == 0 else -1)
        total = 0
        for j in range(i, n, n // 4):
            total += j * n
        out[6, i] = total
        out[7, i] = n << 12
        out[8, i] = (i - n) * n // 3 + (i - n) % 7
        out[9, i] = x[i - s] + x.strides[0] * n * 1000
)");
  constexpr std::int64_t count = 5, n = 1 << 20;
  const Tensor x = arange(count, {i64, Device::cpu()});
  const Tensor out = zeros({10, count}, {i64, Device::cpu()});
  kernel[{.grid = 1, .block = 8, .emulate = true}](x, n, out);
  const std::vector<std::int64_t> got = out.to_vector<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = [&](std::int64_t row) {
      return got[static_cast<std::size_t>(row * count + i)];
    };
    EXPECT_EQ(at(0), count * n * n);
    EXPECT_EQ(at(1), i * 3000000000);
    EXPECT_EQ(at(2), (n - i) * (n + i));
    EXPECT_EQ(at(3), -n * n - i);
    EXPECT_EQ(at(4), 2 * (i + 2000000000));
    EXPECT_EQ(at(5), n * 117649 * (i == 0 ? 1 : -1));
    std::int64_t total = 0;
    for (std::int64_t j = i; j < n; j += n / 4) total += j * n;
    EXPECT_EQ(at(6), total);
    EXPECT_EQ(at(7), n << 12);
    const std::int64_t product = (i - n) * n, rest = (i - n) % 7;
    EXPECT_EQ(at(8), (product - (product % 3 != 0 ? 3 + product % 3 : 0)) / 3 +
                         (rest < 0 ? rest + 7 : rest));
    EXPECT_EQ(at(9), i + 8 * n * 1000);
  }
}

TEST(NumbaNarrow, LargeNumbersAndSharedMemoryOfArraysHaveATextOfTheirOwn) {
  const NumbaKernel kernel = kernel_of(
      "def k(x, y, n):\n    i = cuda.grid(1)\n    if i < x.size:\n        y[i] = x[i] + n\n");
  const Tensor x = zeros({4}, {i64, Device::cpu()}), y = zeros({4}, {i64, Device::cpu()});
  const auto result = [&](const Tensor& from, const Tensor& to, std::int64_t n) {
    kernel[{.grid = 1, .block = 4, .emulate = true}](from, to, n);
    return to.to_vector<std::int64_t>()[3];
  };
  EXPECT_EQ(result(x, y, 7), 7);
  EXPECT_EQ(kernel.specializations(), 1u);
  EXPECT_EQ(result(x, y, std::int64_t{1} << 40), std::int64_t{1} << 40);
  EXPECT_EQ(result(x, y, -3), -3);
  EXPECT_EQ(kernel.specializations(), 2u);
  EXPECT_EQ(result(y, y, 5), 2);
  EXPECT_EQ(kernel.specializations(), 3u);
}

}  // namespace
}  // namespace tilewright
