// SPDX-License-Identifier: Apache-2.0
// unit/compiler/agreement_test.cpp — what counts as the same result, and generated arguments.
#include "compiler/guess/agreement.h"

#include <limits>

#include <gtest/gtest.h>

#include "compiler/guess/inputs.h"

namespace tilewright {
namespace {

std::string compared(const std::vector<float>& expected, const std::vector<float>& got) {
  const auto count = static_cast<std::int64_t>(got.size());
  const Tensor before = zeros({count}, {DType::Float32, Device::cpu()});
  return difference({"x"}, {before}, {tensor(expected, {count}, Device::cpu())},
                    {tensor(got, {count}, Device::cpu())});
}

TEST(Agreement, FloatsMayDifferAsRoundingDoes) {
  EXPECT_EQ(compared({1000, 1, 0}, {1000.5f, 1.5f, 0.5f}), "");
  EXPECT_EQ(compared({1, 1}, {1, 1.1f}), "x[1] is 1 in the interpreter and 1.1 on the device");
}

TEST(Agreement, NumbersThatAreNoneMustBeTheSameOnes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compared({nan, inf}, {nan, inf}), "");
  EXPECT_EQ(compared({nan}, {1}), "x[0] is nan in the interpreter and 1 on the device");
  EXPECT_EQ(compared({inf}, {-inf}), "x[0] is inf in the interpreter and -inf on the device");
}

TEST(Agreement, IntegersMustBeEqual) {
  const auto numbers = [](std::int32_t last) {
    return tensor(std::vector<std::int32_t>{7, last}, {2}, Device::cpu());
  };
  EXPECT_EQ(difference({"n"}, {numbers(0)}, {numbers(5)}, {numbers(5)}), "");
  EXPECT_EQ(difference({"n"}, {numbers(0)}, {numbers(5)}, {numbers(6)}),
            "n[1] is 5 in the interpreter and 6 on the device");
  const std::vector<Tensor> same = {numbers(5)};
  const std::vector<Tensor> rounded = {numbers(4)};
  EXPECT_NE(difference({"n"}, {numbers(0)}, {numbers(5)}, {numbers(6)}, &same), "");
  EXPECT_EQ(difference({"n"}, {numbers(0)}, {numbers(5)}, {numbers(6)}, &rounded), "");
  EXPECT_NE(difference({"n"}, {numbers(0)}, {numbers(5)}, {numbers(8)}, &rounded), "");
}

TEST(Agreement, AnExactResultForgivesWhatBothGetWrong) {
  const auto of = [](double value) {
    return tensor(std::vector<double>{value}, {1}, Device::cpu());
  };
  const std::vector<Tensor> exact = {of(3)};
  const std::vector<Tensor> before = {of(0)};
  EXPECT_NE(difference({"x"}, before, {of(1)}, {of(5)}), "");
  EXPECT_EQ(difference({"x"}, before, {of(1)}, {of(5)}, &exact), "");
  EXPECT_NE(difference({"x"}, before, {of(1)}, {of(50)}, &exact), "");
}

TEST(Inputs, StridesOfOneTensorFitTogether) {
  std::vector<TritonParameter> parameters;
  TritonSignature signature;
  for (const char* name : {"stride_am", "stride_ak", "stride_b", "x_stride_b", "x_stride_h",
                           "x_stride_d", "s_k_h", "s_k_t", "v_s_t", "v_s_c", "n", "heads"}) {
    parameters.push_back({.name = name});
    signature[name] = scalar_parameter(DType::Int32);
  }
  const auto values =
      generate_integers(parameters, signature, {.extent = 80, .pitch = 128, .numel = 1 << 20});
  const std::map<std::string, std::int64_t> wanted = {
      {"stride_am", 128},  {"stride_ak", 1},  {"stride_b", 128}, {"x_stride_b", 128 * 128},
      {"x_stride_h", 128}, {"x_stride_d", 1}, {"s_k_h", 128},    {"s_k_t", 1},
      {"v_s_t", 128},      {"v_s_c", 1},      {"n", 80},         {"heads", 2}};
  EXPECT_EQ(values, wanted);
}

}  // namespace
}  // namespace tilewright
