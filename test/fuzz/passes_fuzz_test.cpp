// SPDX-License-Identifier: Apache-2.0
// fuzz/passes_fuzz_test.cpp — random kernels compute the same before and after every pass, and
// print and parse back.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/passes.h"
#include "random_kernel.h"

namespace tilewright {
namespace {

using fuzz::Generator;
using fuzz::outputs;
using fuzz::tile_size;
using ir::Kernel;

// The memory after a run, as bytes; NaN patterns are made one.
std::vector<std::uint32_t> result_of(const Kernel& kernel) {
  std::vector<std::int32_t> ints(outputs * tile_size, 3);
  std::vector<float> floats(outputs * tile_size, 0.25f);
  const ir::InterpretBuffer buffers[] = {
      {.name = "ints", .data = ints.data(), .bytes = ints.size() * 4},
      {.name = "floats", .data = floats.data(), .bytes = floats.size() * 4}};
  const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0}, ir::InterpretPointer{1},
                                             std::int64_t{5}};
  ir::interpret(kernel, buffers, arguments, {.grid = {2, 1, 1}});
  std::vector<std::uint32_t> bits(ints.begin(), ints.end());
  for (const float value : floats) {
    std::uint32_t pattern = 0x7fc00000;
    if (value == value) std::memcpy(&pattern, &value, 4);
    bits.push_back(pattern);
  }
  return bits;
}

TEST(PassesFuzz, EveryPassKeepsTheMeaning) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    Kernel kernel = Generator(seed).make();
    ASSERT_NO_THROW(ir::verify(kernel)) << ir::print(kernel);
    const std::string text = ir::print(kernel);
    ASSERT_EQ(ir::print(ir::parse(text)), text) << "seed " << seed;
    const std::vector<std::uint32_t> expected = result_of(kernel);
    for (int round = 0; round < 2; ++round)
      for (const PassEntry& pass : all_passes()) {
        const std::string before = ir::print(kernel);
        pass.run(kernel, Target::host());
        ASSERT_NO_THROW(ir::verify(kernel)) << "seed " << seed << ", " << pass.name << "\n"
                                            << before;
        ASSERT_EQ(result_of(kernel), expected) << "seed " << seed << ", " << pass.name << "\n"
                                               << before << "\n=>\n"
                                               << ir::print(kernel);
      }
  }
}

}  // namespace
}  // namespace tilewright
