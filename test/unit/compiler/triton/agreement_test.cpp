// SPDX-License-Identifier: Apache-2.0
// unit/compiler/agreement_test.cpp — what counts as the same result, and generated arguments.
#include "compiler/triton/guess/agreement.h"

#include <limits>

#include <gtest/gtest.h>

#include "compiler/triton/guess/inputs.h"

namespace tilewright {
namespace {

const std::vector<std::vector<Tensor>> no_runs;

Tensor floats(const std::vector<float>& values) {
  return tensor(values, {static_cast<std::int64_t>(values.size())}, Device::cpu());
}

std::string compared(const std::vector<float>& expected, const std::vector<float>& got,
                     const std::vector<std::vector<float>>& rounded = {}) {
  const std::vector<Tensor> before = {floats(std::vector<float>(got.size(), 0.0f))};
  std::vector<std::vector<Tensor>> runs;
  for (const std::vector<float>& run : rounded) runs.push_back({floats(run)});
  const std::vector<std::string> names = {"x"};
  return difference({names, before, {floats(expected)}, {floats(got)}, runs});
}

TEST(Agreement, FloatsMayDifferByAFewUnitsInTheLastPlace) {
  EXPECT_EQ(compared({1000, 1, 0}, {1000.0001f, 1.0001f, 0.0001f}), "");
  EXPECT_EQ(compared({1, 1}, {1, 1.001f}), "x[1] is 1 in the interpreter and 1.001 on the device");
}

TEST(Agreement, RoundingForgivesAsFarAsItReaches) {
  EXPECT_EQ(compared({1, 1}, {1, 1.001f}, {{1, 1.0005f}, {1, 0.9995f}}), "");
  EXPECT_EQ(compared({1, 1}, {1, 1.01f}, {{1, 1.0005f}, {1, 0.9995f}}),
            "x[1] is 1 in the interpreter and 1.01 on the device");
  // An element that chance did not move is forgiven what its tensor shows.
  EXPECT_EQ(compared({1, 1}, {1.001f, 1}, {{1, 1.0005f}, {1, 0.9995f}}), "");
}

TEST(Agreement, WholeNumbersThatRoundingMovesMayBeOffByOne) {
  std::vector<float> expected(400, 127), got = expected, moved = expected;
  got[0] = 126;
  moved[399] = 126;
  EXPECT_EQ(compared(expected, got, {moved}), "");
  EXPECT_EQ(compared(expected, got), "x[0] is 127 in the interpreter and 126 on the device");
  expected[200] = got[200] = moved[200] = 0.5f;
  EXPECT_EQ(compared(expected, got, {moved}),
            "x[0] is 127 in the interpreter and 126 on the device");
}

TEST(Agreement, NumbersThatAreNoneMustBeTheSameOnes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compared({nan, inf}, {nan, inf}), "");
  EXPECT_EQ(compared({nan}, {1}), "x[0] is nan in the interpreter and 1 on the device");
  EXPECT_EQ(compared({inf}, {-inf}), "x[0] is inf in the interpreter and -inf on the device");
  EXPECT_EQ(compared({448}, {inf}, {{inf}}), "");  // rounding decides whether it overflows
}

TEST(Agreement, IntegersMustBeEqualWhereRoundingDoesNotMoveThem) {
  const auto numbers = [](std::int32_t last) {
    return std::vector<Tensor>{tensor(std::vector<std::int32_t>{7, last}, {2}, Device::cpu())};
  };
  const std::vector<std::string> names = {"n"};
  const std::vector<Tensor> before = numbers(0);
  const auto compare = [&](std::int32_t got, const std::vector<std::vector<Tensor>>& runs) {
    return difference({names, before, numbers(5), numbers(got), runs});
  };
  EXPECT_EQ(compare(5, no_runs), "");
  EXPECT_EQ(compare(6, no_runs), "n[1] is 5 in the interpreter and 6 on the device");
  EXPECT_NE(compare(6, {numbers(5)}), "");
  EXPECT_EQ(compare(6, {numbers(4)}), "");
  EXPECT_NE(compare(20, {numbers(4)}), "");
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
