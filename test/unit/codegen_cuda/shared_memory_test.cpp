// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/shared_memory_test.cpp — arrays in shared memory where the table of buffers has
// them, barriers between those of one place, and what happens when there is not enough.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/cuda/emit.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/signature.h"
#include "ir/parse.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CudaSharedMemory, LoopsAfterEachOther) {
  const TileProgram program(R"(
@triton.jit
def two(a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
        acc = tl.dot(a, tl.trans(a), acc)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        b = tl.load(b_ptr + rows[:, None] * K + ks[None, :])
        acc = tl.dot(b, tl.trans(b), acc)
    tl.store(c_ptr + rows[:, None] * BM + rows[None, :], acc)
)",
                            "two", "*fp16:16, *fp16:16, *fp32:16, i32:16, 16, 32");
  EXPECT_THAT(program.text(),
              HasSubstr("f16* const a_buffer = reinterpret_cast<f16*>(shared + 0)"));
  EXPECT_THAT(program.text(),
              HasSubstr("f16* const b_buffer = reinterpret_cast<f16*>(shared + 0)"));
  const Loaded loaded = load_emulated(program.source());
  for (const std::int64_t k : {32, 160}) {
    Memory a = numbers(DType::Float16, static_cast<std::size_t>(16 * k), 1);
    Memory b = numbers(DType::Float16, static_cast<std::size_t>(16 * k), 2);
    Memory c = zeros(DType::Float32, 16 * 16);
    program.expect_same({.arguments = {&a, &b, &c, k}, .tolerance = 1e-5}, loaded);
  }
}

// Tiles too big for registers that change places in every round.
TEST(CudaSharedMemory, BigTilesChangePlaces) {
  const TileProgram program = TileProgram::from_ir(R"(
kernel @swap(%x: *f32 {divisible = 16}, %y: *f32 {divisible = 16}, %n: i32) tile {
  %zero = constant {value = 0} : i32
  %one = constant {value = 1} : i32
  %s1 = constant {value = 1} : i64
  %s64 = constant {value = 64} : i64
  %px = affine %x, %s64, %s1 : *f32[64, 64]
  %py = affine %y, %s64, %s1 : *f32[64, 64]
  %a = load %px : f32[64, 64]
  %b = load %py : f32[64, 64]
  %p, %q = for %zero, %n, %one, %a, %b : f32[64, 64], f32[64, 64] (%i: i32, %u: f32[64, 64], %v: f32[64, 64]) {
    yield %v, %u
  }
  %t = permute %q {order = [1, 0]} : f32[64, 64]
  store %px, %p
  store %py, %t
})",
                                                   1);
  const Loaded loaded = load_emulated(program.source());
  for (const std::int64_t n : {0, 1, 2, 3}) {
    Memory x = numbers(DType::Float32, 64 * 64, 1);
    Memory y = numbers(DType::Float32, 64 * 64, 2);
    program.expect_same({.arguments = {&x, &y, n}}, loaded);
  }
}

TEST(CudaSharedMemory, TooMuchIsAnError) {
  try {
    TileProgram(R"(
@triton.jit
def big(a_ptr, c_ptr, B: tl.constexpr):
    rows = tl.arange(0, B)
    a = tl.load(a_ptr + rows[:, None] * B + rows[None, :])
    tl.store(c_ptr + rows[:, None] * B + rows[None, :], tl.dot(a, tl.trans(a)))
)",
                "big", "*fp32:16, *fp32:16, 256");
    FAIL() << "no error";
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel 'big' needs 524288 bytes of shared memory for its tiles with 1 stage (the "
                 "largest: a 262144, tile 262144), but a block of sm_90a has at most "
                 "232448: use smaller blocks or more warps");
  }
}

// Offsets of a kernel that is given at stage Laid may be anything.
TEST(CudaSharedMemory, OffsetsBehindTheEndAreAnError) {
  const CudaEmitOptions options{.target = Target::parse("sm_90a")};
  ir::Kernel laid = laid_for_cuda(ir::parse(R"(
kernel @turn(%x: *f32 {divisible = 16}) tile {
  %s1 = constant {value = 1} : i64
  %s64 = constant {value = 64} : i64
  %p = affine %x, %s64, %s1 : *f32[64, 64]
  %a = load %p : f32[64, 64]
  %t = permute %a {order = [1, 0]} : f32[64, 64]
  store %p, %t
})"),
                                  options);
  ASSERT_EQ(laid.buffers.size(), 1u);
  EXPECT_NO_THROW(emit_cuda(laid, options));
  laid.buffers[0].offset = 232448 - 16384 + 16;
  try {
    emit_cuda(laid, options);
    FAIL() << "no error";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel 'turn' needs 232464 bytes of shared memory"));
  }
}

// The sums of two warps are too many for registers: with them, only two stages of 48 KiB fit.
TEST(CudaSharedMemory, FewerStagesWhenOtherTilesNeedThePlace) {
  const std::string text = R"(
import triton
import triton.language as tl

@triton.jit
def wide(a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
        b = tl.load(b_ptr + ks[:, None] * BN + columns[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + rows[:, None] * BN + columns[None, :], sums)
)";
  python::ModuleLoader loader;
  python::Evaluator evaluator{loader};
  const python::LoadedModule& module = loader.load_text("wide.py", text);
  const python::DecoratedFunction function = find_kernel(loader, module, "wide");
  const auto parameters = read_parameters(loader, evaluator, function);
  const TileKernel kernel = lower_to_tiles(
      loader, function,
      parse_signature("wide", parameters, "*fp16:16, *fp16:16, *fp32:16, i32:16, 256, 128, 64"),
      Target::parse("sm_90a"), {.num_warps = 2, .num_stages = 4});
  ASSERT_EQ(kernel.lowered.kernel.buffers.size(), 2u);
  EXPECT_EQ(kernel.lowered.kernel.buffers[0].slots, 2);
  EXPECT_THAT(kernel.passes.notes, ElementsAre("the product at line 14 is not made by warpgroups: num_warps is 2, and a "
                                        "warpgroup has 4",
                                        "loops have at most 2 stages: more do not fit into the "
                                        "232448 bytes of shared memory that a block has"));
}

}  // namespace
}  // namespace tilewright
