// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/barriers_test.cpp — where threads of a block must meet, and where they need not:
// locks, barriers after barriers, reductions in loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

int barriers_of(const TileProgram& program) { return count_of(program.text(), "__syncthreads();"); }

TEST(CudaBarriers, OneThreadSpins) {
  const TileProgram program(R"(
@triton.jit
def locked(lock_ptr, sum_ptr, x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    if tl.load(lock_ptr + 1) == 0:
        tl.atomic_xchg(lock_ptr + 1, 1)
    else:
        x += tl.load(sum_ptr + i)
    tl.store(sum_ptr + i, x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)
)",
                            "locked", "*i32:16, *i32:16, *i32:16, 256", 8);
  show(program);
  EXPECT_THAT(program.text(), HasSubstr(R"(  if (thread == 0) {
    tw::fence<tw::Scope::Device>();
    #pragma unroll 1
    while (true) {
)"));
  EXPECT_THAT(program.text(), HasSubstr("tw::atomic_cas<tw::Order::Acquire, tw::Scope::Device>"));
  EXPECT_THAT(program.text(), Not(HasSubstr("__shared__")));
  // Around the spinning, before the flag that all have read is written, and before the end of it:
  // not between the load and the store of a thread's own elements, nor after the user's barrier.
  EXPECT_EQ(barriers_of(program), 4);
  const TileProgram small = program.with({.target = Target::parse("sm_90a"), .num_warps = 4});
  EXPECT_THAT(small.text(), HasSubstr("= tw::atomic_cas<tw::Order::Ordered, tw::Scope::Device>"));
  EXPECT_THAT(small.text(), Not(HasSubstr("tw::fence")));
  EXPECT_EQ(barriers_of(small), 4);
  Memory lock = zeros(i32, 2), sum = zeros(i32, 256), x = numbers(i32, 3 * 256, 1);
  program.expect_same({.grid = {3, 1, 1}, .arguments = {&lock, &sum, &x}});
}

TEST(CudaBarriers, AnExchangeSpinsInOrder) {
  const TileProgram program(R"(
@triton.jit
def locked(lock_ptr, sum_ptr):
    while tl.atomic_xchg(lock_ptr, 1) != 0:
        pass
    tl.store(sum_ptr, tl.load(sum_ptr) + 1)
    tl.atomic_xchg(lock_ptr, 0)
)",
                            "locked", "*i32:16, *i32:16");
  EXPECT_THAT(program.text(),
              HasSubstr("= tw::atomic_xchg<tw::Order::Ordered, tw::Scope::Device>"));
  EXPECT_THAT(program.text(), Not(HasSubstr("tw::fence")));
  Memory lock = zeros(i32, 1), sum = zeros(i32, 1);
  program.expect_same({.grid = {3, 1, 1}, .arguments = {&lock, &sum}});
}

// The result is used after the loop, or the body does something: all threads take part.
TEST(CudaBarriers, LoopsThatWorkAreNoLocks) {
  const TileProgram program(R"(
@triton.jit
def counted(lock_ptr, out_ptr):
    tries = 0
    while tl.atomic_cas(lock_ptr, 3, 9) != 3:
        tl.atomic_add(lock_ptr, 1)
        tries += 1
    tl.store(out_ptr, tries)
)",
                            "counted", "*i32:16, *i32:16", 8);
  EXPECT_THAT(program.text(), Not(HasSubstr("tw::fence")));
  Memory lock = zeros(i32, 1), out = zeros(i32, 1);
  program.expect_same({.arguments = {&lock, &out}});
  EXPECT_EQ(out.at(0), 3);
}

TEST(CudaBarriers, ReductionsOfALoopKeepEachOthersSlots) {
  const std::string text = R"(
@triton.jit
def rows(x_ptr, out_ptr, n, N: tl.constexpr, TWICE: tl.constexpr):
    i = tl.arange(0, N)
    for row in tl.range(tl.program_id(0), n, tl.num_programs(0)):
        x = tl.load(x_ptr + row * N + i)
        x = x - tl.max(x, axis=0)
        if TWICE:
            x = x / tl.sum(x * x, axis=0)
        tl.store(out_ptr + row * N + i, x)
)";
  for (const bool is_twice : {true, false}) {
    const TileProgram program(
        text, "rows",
        is_twice ? "*fp32:16, *fp32:16, i32, 256, 1" : "*fp32:16, *fp32:16, i32, 256, 0");
    show(program);
    // The barrier inside the second keeps the slots of the first; the only one has none such.
    EXPECT_EQ(barriers_of(program), is_twice ? 0 : 1);
    EXPECT_THAT(program.text(), HasSubstr("row < n; row += "));
    Memory x = numbers(f32, 5 * 256, 1), out = zeros(f32, 5 * 256);
    program.expect_same(
        {.grid = {2, 1, 1}, .arguments = {&x, &out, std::int64_t{5}}, .tolerance = 1e-5});
  }
}

}  // namespace
}  // namespace tilewright
