// SPDX-License-Identifier: Apache-2.0
// tensor/print_test.cpp — the exact text of printed tensors.
#include <cmath>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

TEST(Print, ColumnsAreAligned) {
  EXPECT_EQ(tensor(std::vector<float>{1, -0.5f, 22.25f, 3}, {2, 2}, cpu).to_string(),
            "tensor([[ 1.0000, -0.5000],\n"
            "        [22.2500,  3.0000]], dtype=float32, device=cpu)");
  EXPECT_EQ(arange(8, {DType::Int16, cpu}).view({2, 2, 2}).to_string(),
            "tensor([[[0, 1],\n"
            "         [2, 3]],\n"
            "\n"
            "        [[4, 5],\n"
            "         [6, 7]]], dtype=int16, device=cpu)");
}

TEST(Print, OneFormForAllElements) {
  EXPECT_EQ(tensor({1.0f, 20.0f}, cpu).to_string(),
            "tensor([ 1., 20.], dtype=float32, device=cpu)");
  EXPECT_EQ(tensor({1e-6, 1.0}, cpu).to_string(),
            "tensor([1.0000e-06, 1.0000e+00], dtype=float64, device=cpu)");
  EXPECT_EQ(tensor({0.5f, INFINITY, -INFINITY, NAN}, cpu).to_string(),
            "tensor([0.5000,    inf,   -inf,    nan], dtype=float32, device=cpu)");
  EXPECT_EQ(tensor({std::numeric_limits<std::uint64_t>::max(), std::uint64_t{0}}, cpu).to_string(),
            "tensor([18446744073709551615,                    0], dtype=uint64, device=cpu)");
  EXPECT_EQ(tensor(std::vector<bool>{true, false}, cpu).to_string(),
            "tensor([ True, False], dtype=bool, device=cpu)");
  EXPECT_EQ(full({2}, 1.5, {DType::Float8E5M2, cpu}).to_string(),
            "tensor([1.5000, 1.5000], dtype=float8_e5m2, device=cpu)");
}

TEST(Print, FewOrNoElements) {
  EXPECT_EQ(full({}, 3, {DType::Int32, cpu}).to_string(), "tensor(3, dtype=int32, device=cpu)");
  EXPECT_EQ(zeros({0}, cpu).to_string(), "tensor([], dtype=float32, device=cpu)");
  EXPECT_EQ(zeros({2, 0}, cpu).to_string(), "tensor([], shape=[2, 0], dtype=float32, device=cpu)");
}

TEST(Print, LongOnesAreShortened) {
  EXPECT_EQ(
      arange(1001, {DType::Int64, cpu}).to_string(),
      "tensor([   0,    1,    2, ...,  998,  999, 1000], shape=[1001], dtype=int64, device=cpu)");
  const Tensor t = arange(2100, {DType::Int64, cpu}).view({300, 7});
  EXPECT_EQ(t.t().to_string(),
            "tensor([[   0,    7,   14, ..., 2079, 2086, 2093],\n"
            "        [   1,    8,   15, ..., 2080, 2087, 2094],\n"
            "        [   2,    9,   16, ..., 2081, 2088, 2095],\n"
            "        ...,\n"
            "        [   4,   11,   18, ..., 2083, 2090, 2097],\n"
            "        [   5,   12,   19, ..., 2084, 2091, 2098],\n"
            "        [   6,   13,   20, ..., 2085, 2092, 2099]], shape=[7, 300], dtype=int64, "
            "device=cpu)");
}

TEST(Print, LongRowsAreBroken) {
  std::ostringstream out;
  out << arange(30, {DType::Int64, cpu});
  EXPECT_EQ(
      out.str(),
      "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,\n"
      "        20, 21, 22, 23, 24, 25, 26, 27, 28, 29], dtype=int64, device=cpu)");
}

}  // namespace
}  // namespace tilewright
