// SPDX-License-Identifier: Apache-2.0
// unit/compiler/launch_key_test.cpp — two launches have the same key exactly when their arguments
// say the same of the code.
#include "compiler/launch_key.h"

#include <gtest/gtest.h>

#include "compiler/resolve.h"

namespace tilewright {
namespace {

constexpr const char* source = R"(
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({})], key=['n'])
@triton.jit(do_not_specialize=['m'])
def k(x, y, n, m, C: tl.constexpr, D: tl.constexpr = 1):
    tl.store(x, n)

@triton.jit
def plain(x, y, n, m, C: tl.constexpr, D: tl.constexpr = 1):
    tl.store(x, n)
)";

class LaunchKey : public ::testing::Test {
 protected:
  struct Described {
    Hash128 key;
    std::string signature;
  };
  Described describe(const TritonKernel& kernel, const std::vector<TritonArgument>& arguments,
                     const TritonLaunch& launch = {}) {
    std::vector<const TritonArgument*> slots(6);
    for (std::size_t i = 0; i < arguments.size(); ++i) slots[i] = &arguments[i];
    TritonKernel::State& state = *kernel.state();
    const LaunchPlace place{Device::cpu()};
    return {launch_key(state, slots.data(), launch, place),
            signature_text(state.parameters, request_of(state, slots.data(), launch, place).given)};
  }
};

TEST_F(LaunchKey, IsThatOfTheSignature) {
  const TritonKernel kernel = load_triton_source(source, "plain");
  const Tensor f = zeros({64}, {f32, Device::cpu()});
  const Tensor h = zeros({64}, {f16, Device::cpu()});
  const Tensor odd = f.slice(0, 1, 9);
  const std::int64_t large = std::int64_t{1} << 40;
  const std::vector<std::vector<TritonArgument>> launches = {
      {f, f, 7, 7, 4},          {f, f, 7, 7, 5},
      {f, f, 9, 7, 4},          {f, f, 16, 7, 4},
      {f, f, 32, 7, 4},         {f, f, 1, 7, 4},
      {f, f, 7, 1, 4},          {f, f, large, 7, 4},
      {f, f, large + 16, 7, 4}, {f, f, std::int64_t{7}, 7, 4},
      {f, f, 7.0, 7, 4},        {f, f, 7.0f, 7, 4},
      {f, f, true, 7, 4},       {f, h, 7, 7, 4},
      {h, f, 7, 7, 4},          {f, odd, 7, 7, 4},
      {odd, f, 7, 7, 4},        {f, none, 7, 7, 4},
      {f, f, 7, 7, 4.0},        {f, f, 7, 7, true},
      {f, f, 7, 7, "four"},     {f, f, 7, 7, f32},
      {f, f, 7, 7, none},       {f, f, 7, 7, 4, 1},
      {f, f, 7, 7, 4, 2},       {f, f, 7, 7, std::int64_t{4}},
      {f, f, 7, 7, large}};
  for (const auto& a : launches)
    for (const auto& b : launches) {
      const Described left = describe(kernel, a), right = describe(kernel, b);
      EXPECT_EQ(left.key == right.key, left.signature == right.signature)
          << left.signature << " and " << right.signature;
    }
}

// Rare types may have keys of their own, but never one of other code.
TEST_F(LaunchKey, RareIntegers) {
  const TritonKernel kernel = load_triton_source(source, "plain");
  const Tensor x = zeros({64}, {f32, Device::cpu()});
  const Hash128 key = describe(kernel, {x, x, 7, 7, 4}).key;
  EXPECT_NE(key, describe(kernel, {x, x, std::uint8_t{16}, 7, 4}).key);
  EXPECT_NE(key, describe(kernel, {x, x, std::uint64_t{1} << 63, 7, 4}).key);
  EXPECT_NE(describe(kernel, {x, x, std::uint64_t{1} << 63, 7, 4}).key,
            describe(kernel, {x, x, std::uint8_t{16}, 7, 4}).key);
}

TEST_F(LaunchKey, HoldsTheValuesOfTheAutotunersKey) {
  const TritonKernel kernel = load_triton_source(source, "k");
  const Tensor x = zeros({64}, {f32, Device::cpu()});
  EXPECT_NE(describe(kernel, {x, x, 7, 7, 4}).key, describe(kernel, {x, x, 9, 7, 4}).key);
  EXPECT_EQ(describe(kernel, {x, x, 7, 7, 4}).key, describe(kernel, {x, x, 7, 9, 4}).key);
}

TEST_F(LaunchKey, HoldsTheOptions) {
  const TritonKernel kernel = load_triton_source(source, "plain");
  const Tensor x = zeros({64}, {f32, Device::cpu()});
  const Hash128 key = describe(kernel, {x, x, 7, 7, 4}).key;
  EXPECT_NE(key, describe(kernel, {x, x, 7, 7, 4}, {.num_warps = 8}).key);
  EXPECT_NE(key, describe(kernel, {x, x, 7, 7, 4}, {.num_stages = 8}).key);
  EXPECT_NE(key, describe(kernel, {x, x, 7, 7, 4}, {.fp_fusion = false}).key);
  EXPECT_NE(key, describe(kernel, {x, x, 7, 7, 4}, {.bare = true}).key);
}

}  // namespace
}  // namespace tilewright
