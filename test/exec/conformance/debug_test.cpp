// SPDX-License-Identifier: Apache-2.0
// conformance/debug_test.cpp — asserts and prints of kernels, in the interpreter, on the CPU and on
// a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run.h"
#include "tilewright/error.h"
#include "tilewright/triton.h"

namespace tilewright::conformance {
namespace {

using ::testing::HasSubstr;

const char* const source = R"(import triton
import triton.language as tl

@triton.jit
def checked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK <= 64)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.device_assert(x < 10, "x is too large", mask=i < n)
    tl.store(out_ptr + i, x + 1, mask=i < n)

@triton.jit
def printed(x_ptr, n):
    tl.device_print("value", tl.load(x_ptr + tl.program_id(0)))
    print("n is", n)
)";

class Debug : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
  }
  Device device() const { return GetParam() == Place::Cuda ? Device::cuda() : Device::cpu(); }
  TritonLaunch launch(bool debug) const {
    return {.grid = 1, .debug = debug, .interpret = GetParam() == Place::Interpreter};
  }
};

TEST_P(Debug, AssertsAreNothingWithoutDebug) {
  const auto checked = load_triton_source(source, "checked");
  const Tensor x = full({8}, 50, {i32, device()});
  const Tensor out = zeros({8}, {i32, device()});
  checked[launch(false)](x, out, 7, constant("BLOCK", 16));
  EXPECT_EQ(out.to_vector<int>(), (std::vector<int>{51, 51, 51, 51, 51, 51, 51, 0}));
}

TEST_P(Debug, AssertsThatHoldChangeNothing) {
  const auto checked = load_triton_source(source, "checked");
  const Tensor x = arange(16, {i32, device()});
  const Tensor out = zeros({16}, {i32, device()});
  checked[launch(true)](x, out, 10, constant("BLOCK", 16));  // what is masked off may be larger
  EXPECT_EQ(out[9].item<int>(), 10);
  EXPECT_EQ(out[10].item<int>(), 0);
}

TEST_P(Debug, AssertsFireWithTheirMessage) {
  if (GetParam() == Place::Cuda) GTEST_SKIP() << "a failed assert ends the context of the GPU";
  const auto checked = load_triton_source(source, "checked");
  const Tensor x = arange(16, {i32, device()});
  const Tensor out = zeros({16}, {i32, device()});
  try {
    checked[launch(true)](x, out, 11, constant("BLOCK", 16));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("x is too large"));
  }
}

TEST_P(Debug, StaticAssertsFailAtTheirLine) {
  const auto checked = load_triton_source(source, "checked");
  const Tensor x = zeros({128}, {i32, device()});
  try {
    checked[launch(false)](x, x, 1, constant("BLOCK", 128));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("<source>:6:"));
  }
}

TEST_P(Debug, Prints) {
  const auto printed = load_triton_source(source, "printed");
  const Tensor x = arange(4, {i32, device()});
  TritonLaunch two = launch(false);
  two.grid = 2;
  testing::internal::CaptureStdout();
  printed[two](x, 33);
  current_stream(device()).synchronize();
  std::fflush(stdout);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("value"));
  EXPECT_THAT(text, HasSubstr("n is"));
  EXPECT_THAT(text, HasSubstr("33"));
}

INSTANTIATE_TEST_SUITE_P(Places, Debug,
                         testing::Values(Place::Interpreter, Place::Cpu, Place::Cuda),
                         [](const auto& test) { return place_name(test.param); });

}  // namespace
}  // namespace tilewright::conformance
