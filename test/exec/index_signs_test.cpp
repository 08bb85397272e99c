// SPDX-License-Identifier: Apache-2.0
// exec/index_signs_test.cpp — indices that are negative, and loops that go down, where the common
// form of the same source goes up: no vector and no test of a loop may take the sign for granted.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tilewright/error.h"
#include "tilewright/target.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

constexpr const char* signs_source = R"(
import triton
import triton.language as tl


@triton.jit
def falls(out_ptr, first, last):
    rounds = 0
    step = tl.num_programs(0).to(tl.int8)
    for k in range(first.to(tl.int8), last.to(tl.int8), step):
        rounds += 1
    tl.store(out_ptr + tl.program_id(0), rounds)


@triton.jit
def wraps(x_ptr, out_ptr, groups, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    at = (pid // groups * BLOCK + i) % n
    tl.store(out_ptr + pid * BLOCK + i, tl.load(x_ptr + n + at))


@triton.jit
def wraps_ahead(x_ptr, out_ptr, tiles, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = i * 0
    for tile in tl.range(0, tiles, num_stages=3):
        group = (tile + 4) // min(tiles - tile, 2)
        total = total * 3 + tl.load(x_ptr + n + (group * BLOCK + i) % n)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + i, total)


@triton.jit
def wraps_assumed(x_ptr, out_ptr, groups, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    group = pid // groups
    tl.assume(group >= 0)
    at = (group * BLOCK + i) % n
    tl.store(out_ptr + pid * BLOCK + i, tl.load(x_ptr + n + at))


@triton.jit
def wraps_below(x_ptr, out_ptr, rounds, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    first = (pid - 12) * 16
    for k in range(rounds):
        tl.assume(first >= 0)
    at = (first + i) % n
    tl.store(out_ptr + pid * BLOCK + i, tl.load(x_ptr + n + at))


@triton.jit
def drops(x_ptr, out_ptr, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(x_ptr + i % n, mask=i * 1664525 + seed > 0, other=-1)
    tl.store(out_ptr + i, kept, mask=tl.arange(0, BLOCK) * 8388608 + seed > 0)
)";

const Target& sm_90a() {
  static const Target target = Target::parse("sm_90a");
  return target;
}

TEST(IndexSigns, AStepOfFewBitsMayBeNegative) {
  const TritonKernel kernel = load_triton_source(signs_source, "falls");
  const int programs = 200;  // -56 of 8 bits
  std::vector<std::vector<std::int32_t>> results;
  for (const TritonLaunch& launch :
       {TritonLaunch{.grid = programs, .interpret = true}, TritonLaunch{.grid = programs},
        TritonLaunch{.grid = programs, .emulate = &sm_90a()}}) {
    const Tensor out = zeros({programs}, {DType::Int32, Device::cpu()});
    kernel[launch](out, 100, -100);
    results.push_back(out.to_vector<std::int32_t>());
    EXPECT_EQ(results.back(), std::vector<std::int32_t>(programs, 4));
  }
}

std::vector<std::int32_t> wrapped(const std::string& name, const TritonLaunch& launch, int groups) {
  constexpr int block = 256, n = 768, programs = 12;
  const Tensor x = arange(2 * n, {DType::Int32, Device::cpu()});
  const Tensor out = zeros({programs * block}, {DType::Int32, Device::cpu()});
  TritonLaunch one = launch;
  one.grid = programs;
  one.num_warps = 1;
  load_triton_source(signs_source, name)[one](x, out, groups, n, constant("BLOCK", block));
  return out.to_vector<std::int32_t>();
}

TEST(IndexSigns, RunsOfQuotientsByCounts) {
  for (const char* name : {"wraps", "wraps_assumed"}) {
    const auto expected = wrapped(name, {.interpret = true}, 3);
    EXPECT_EQ(wrapped(name, {}, 3), expected) << name;
    EXPECT_EQ(wrapped(name, {.emulate = &sm_90a()}, 3), expected) << name;
  }
}

// A promise in a loop without rounds says nothing of what was made before it.
TEST(IndexSigns, APromiseThatIsNotMadeIsNone) {
  const auto expected = wrapped("wraps_below", {.interpret = true}, 0);
  EXPECT_EQ(wrapped("wraps_below", {.emulate = &sm_90a()}, 0), expected);
}

// A random number made of an index wraps; a mask of it is no bound.
TEST(IndexSigns, MasksOfNumbersThatWrap) {
  constexpr int block = 256, n = 768, programs = 12, seed = 1013904223;
  const auto is_kept = [&](std::uint32_t number) { return static_cast<std::int32_t>(number) > 0; };
  std::vector<std::int32_t> expected(programs * block, 0);
  for (std::uint32_t i = 0; i < programs * block; ++i)
    if (is_kept(i % block * 8388608u + seed))
      expected[i] = is_kept(i * 1664525u + seed) ? static_cast<std::int32_t>(i % n) : -1;
  for (const TritonLaunch& launch : {TritonLaunch{.interpret = true}, TritonLaunch{},
                                     TritonLaunch{.emulate = &sm_90a()}})
    EXPECT_EQ(wrapped("drops", launch, seed), expected);
}

// What is loaded ahead for rounds that never come has divisors that mean nothing.
TEST(IndexSigns, ADivisorOfARoundThatNeverComesIsNoError) {
  for (const int tiles : {5, 1, 0}) {
    const auto expected = wrapped("wraps_ahead", {.interpret = true}, tiles);
    EXPECT_EQ(wrapped("wraps_ahead", {.emulate = &sm_90a()}, tiles), expected) << tiles;
  }
}

// Every third program of those that would read 768 instead of 1 ends with an error.
TEST(IndexSigns, ANegativeDivisorIsNoSilence) {
  EXPECT_EQ(wrapped("wraps", {}, -3), wrapped("wraps", {.interpret = true}, -3));
  try {
    wrapped("wraps", {.emulate = &sm_90a()}, -3);
    ADD_FAILURE() << "a divisor that is not above 0 is no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a divisor that must be above 0 is not"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tilewright
