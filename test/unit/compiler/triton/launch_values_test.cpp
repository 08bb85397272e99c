// SPDX-License-Identifier: Apache-2.0
// unit/compiler/launch_values_test.cpp — arguments from host code around a launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/triton/launch_values.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A kernel k(x, y, n, scale, BLOCK) and host code.
TritonKernel kernel_with(const std::string& host) {
  return load_triton_source(R"(import torch
import triton
import triton.language as tl

@triton.jit
def k(x, y, n, scale, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * scale, mask=i < n)

)" + host,
                            "k");
}

LaunchValues launch_of(const std::string& host, Shape shape = {6, 10}) {
  const TritonKernel kernel = kernel_with(host);
  const Tensor x = zeros(shape, {DType::Float16, Device::cpu()});
  const auto values = values_of_launch(kernel, {{"x", described(x)}});
  if (!values) throw ArgumentError("the text has no launch");
  return *values;
}

TEST(LaunchValues, OfTensorsSizesAndDefaults) {
  const LaunchValues values = launch_of(R"(
def f(a, scale=0.5):
    rows, columns = a.shape
    out: torch.Tensor = torch.zeros((rows, columns), device=a.device, dtype=torch.float32)
    n = a.numel()
    n += 4
    k[(1,)](a, out, n, scale, BLOCK=triton.next_power_of_2(n), num_warps=2 if n > 1 else 4)
)");
  EXPECT_THAT(values.texts, ElementsAre("y=zeros:float32[6,10]", "n=64", "scale=0.5", "BLOCK=64"));
  EXPECT_TRUE(values.problems.empty());
  EXPECT_EQ(values.num_warps, 2);
  EXPECT_EQ(values.num_stages, std::nullopt);
}

TEST(LaunchValues, ViewsOfTheGivenTensorAreThatTensor) {
  const LaunchValues values = launch_of(R"(
def f(a):
    flat = a.contiguous().view(-1)
    k[(1,)](flat, flat, a.shape[-1], 2.0, BLOCK=a.stride(0))
)");
  EXPECT_THAT(values.texts, ElementsAre("y=@x", "n=10", "scale=2.0", "BLOCK=10"));
}

TEST(LaunchValues, MakersAndStrides) {
  EXPECT_EQ(launch_of("def f(a):\n    k[(1,)](a, torch.full((2, 3), 1.5), 1, 1, 8)\n").texts[0],
            "y=full:float32[2,3]=1.5");
  EXPECT_EQ(launch_of("def f(a):\n    b = torch.empty_like(a).t()\n    k[(1,)](a, b, 1, 1, 8)\n")
                .texts[0],
            "y=empty:float16[10,6]@strides(1,10)");
  EXPECT_EQ(launch_of("def f(a):\n    k[(1,)](a, a.new_ones(4).float(), 1, 1, 8)\n").texts[0],
            "y=ones:float32[4]");
  EXPECT_EQ(launch_of("def f(a):\n    b = torch.empty_like(a).view(3, -1)\n"
                      "    k[(1,)](a, b, 1, 1, 8)\n")
                .texts[0],
            "y=empty:float16[3,20]");
}

TEST(LaunchValues, BranchesThatAreKnownAreTakenAndOthersForgotten) {
  const LaunchValues values = launch_of(R"(
def f(a, flag):
    n = 1
    m = 2
    if a.shape[0] > 5:
        n = 7
    if flag:
        m = 3
    with torch.cuda.device(a.device.index):
        for block in (16, 32):
            k[(1,)](a, torch.empty_like(a), n, m, block)
)");
  EXPECT_THAT(values.texts, ElementsAre("y=empty:float16[6,10]", "n=7", "BLOCK=16"));
  ASSERT_EQ(values.problems.size(), 1u);
  EXPECT_THAT(values.problems.at("scale"), HasSubstr("'m'"));
}

TEST(LaunchValues, OfSeveralLaunchesTheOneThatSaysMost) {
  const LaunchValues values = launch_of(R"(
def f(a, unknown):
    k[(1,)](a, unknown, 1, 2, 3)

def g(a):
    k[(1,)](a, torch.empty_like(a), 4, 5, 6)
)");
  EXPECT_THAT(values.texts, ElementsAre("y=empty:float16[6,10]", "n=4", "scale=5", "BLOCK=6"));
}

TEST(LaunchValues, WhatIsGivenIsNotReplaced) {
  const TritonKernel kernel = kernel_with(R"(
def f(a):
    n = a.numel()
    k[(1,)](a, torch.empty_like(a), n, 1.0, BLOCK=n)
)");
  const Tensor x = zeros({8}, {DType::Float32, Device::cpu()});
  const auto values = values_of_launch(kernel, {{"x", described(x)}, {"n", 4}});
  ASSERT_TRUE(values);
  EXPECT_THAT(values->texts, ElementsAre("y=empty:float32[8]", "scale=1.0", "BLOCK=4"));
}

TEST(LaunchValues, SizesThatNoMemoryHoldsAreNotMade) {
  const LaunchValues values = launch_of(R"(
def f(a):
    b = torch.empty((2**40, 2**40))
    k[(1,)](a, b, 1, 1, a.view(-1, 2**62).shape[0])
)");
  EXPECT_THAT(values.texts, ElementsAre("n=1", "scale=1"));
}

TEST(LaunchValues, EndlessHostCodeEnds) {
  const LaunchValues values = launch_of(R"(
def f(a):
    n = 1
    while True:
        n = n + 1
    k[(1,)](a, a, n, 1, 8)
)");
  EXPECT_THAT(values.texts, ElementsAre("y=@x", "scale=1", "BLOCK=8"));
}

TEST(LaunchValues, NoLaunch) {
  const TritonKernel kernel = kernel_with("def f(a):\n    return a\n");
  EXPECT_FALSE(values_of_launch(kernel, {}));
}

}  // namespace
}  // namespace tilewright
