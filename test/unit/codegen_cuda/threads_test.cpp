// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/threads_test.cpp — kernels at stage Final as the program of one thread: their text
// comes from it alone, and the interpreter runs its threads in any order.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tile_program.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

const char* const scaled = R"(
@triton.jit
def scaled(x_ptr, out_ptr, n, rounds, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    a = 0
    b = 1
    for k in range(rounds):
        total += tl.load(x_ptr + i, mask=i < n, other=3.0) * b
        a, b = b, a + b
    tl.store(out_ptr + i, total, mask=i < n)
)";

ir::Kernel laid_of(const TileProgram& program, const CudaEmitOptions& options) {
  return laid_for_cuda(program.kernel(), options);
}

const CudaEmitOptions options{.target = Target::parse("sm_90a"), .num_warps = 2};

TEST(CudaThreads, TheTextComesFromStageFinal) {
  const TileProgram program(scaled, "scaled", "*fp32:16, *fp32:16, i32, i32, 256", 2);
  const ir::Kernel laid = laid_of(program, options);
  const std::optional<ir::Kernel> thread = final_for_cuda(laid, options);
  ASSERT_TRUE(thread);
  ir::verify(*thread);
  const std::string text = ir::print(*thread);
  EXPECT_THAT(text, HasSubstr("%thread = thread {count = 64} : i32"));
  EXPECT_THAT(text, HasSubstr("load_to"));
  EXPECT_THAT(text, HasSubstr("store_from"));
  const ir::Kernel read = ir::parse(text);
  ir::verify(read);
  EXPECT_EQ(ir::print(read), text);
  EXPECT_EQ(emit_cuda(read, options).text, emit_cuda(laid, options).text);
}

TEST(CudaThreads, RunInAnyOrder) {
  const TileProgram program(scaled, "scaled", "*fp32:16, *fp32:16, i32, i32, 256", 2);
  const std::optional<ir::Kernel> thread = final_for_cuda(laid_of(program, options), options);
  ASSERT_TRUE(thread);
  constexpr std::size_t count = 300;
  std::vector<float> x(count);
  std::iota(x.begin(), x.end(), 1.0f);
  for (const unsigned seed : {0u, 1u, 5u}) {
    std::vector<float> out(count, -1.0f);
    const ir::InterpretBuffer buffers[] = {
        {.name = "x", .data = x.data(), .bytes = count * sizeof(float)},
        {.name = "out", .data = out.data(), .bytes = count * sizeof(float)}};
    const ir::InterpretArgument arguments[] = {ir::InterpretPointer{.buffer = 0},
                                               ir::InterpretPointer{.buffer = 1},
                                               std::int64_t{count}, std::int64_t{4}};
    ir::InterpretOptions how{.grid = {2, 1, 1}};
    how.role_seed = seed;
    ir::interpret(*thread, buffers, arguments, how);
    // 1 + 1 + 2 + 3
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], 7 * x[i]) << i << ", seed " << seed;
  }
}

// Another thread reads what was stored: they have to meet, and the emitter writes the kernel.
TEST(CudaThreads, ThatHaveToMeetAreNotLoweredYet) {
  const TileProgram program(R"(
@triton.jit
def turned(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, i)
    x = tl.load(x_ptr + (BLOCK - 1 - i))
    tl.store(x_ptr + BLOCK + i, x)
)",
                            "turned", "*i32:16, 256", 2);
  EXPECT_FALSE(final_for_cuda(laid_of(program, options), options));
  EXPECT_THAT(program.text(), HasSubstr("__syncthreads();"));
}

}  // namespace
}  // namespace tilewright
