// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/copies_ahead_test.cpp — loops whose copies run ahead at stage Final: threads in any
// order do as tiles do, and no wait, commit or barrier can be left out unnoticed.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

struct CopiedLoop {
  const char* name;
  const char* source;
  const char* shows;  // a part of the Final kernel
};

// x holds the left operands of all rounds and behind them the right ones; n rounds.
const CopiedLoop copied_loops[] = {
    {"patches_ahead", R"(
@triton.jit
def patches_ahead(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    a_ptrs = x_ptr + at
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=3):
        a = tl.load(a_ptrs)
        b = tl.load(a_ptrs + 4 * BLOCK * BLOCK)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_ptrs += BLOCK * BLOCK
    tl.store(out_ptr + at, total)
)",
     "over = \"columns\""},
    {"words_ahead", R"(
@triton.jit
def words_ahead(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    a_ptrs = x_ptr + at
    b_ptrs = x_ptr + 4 * BLOCK * BLOCK + at
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=3):
        a = tl.load(a_ptrs)
        b = tl.load(b_ptrs)
        total = tl.dot(a, tl.trans(b), total)
        a_ptrs += BLOCK * BLOCK
        b_ptrs += BLOCK * BLOCK
    tl.store(out_ptr + at, total)
)",
     "%next_slot = select"},
    {"two_slots", R"(
@triton.jit
def two_slots(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=2):
        a = tl.load(x_ptr + k * BLOCK * BLOCK + at)
        b = tl.load(x_ptr + (k + 4) * BLOCK * BLOCK + at)
        total = tl.dot(a, tl.trans(b), total)
    tl.store(out_ptr + at, total)
)",
     "%next_slot = select"},
    {"two_products", R"(
@triton.jit
def two_products(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    a_ptrs = x_ptr + at
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    other = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=4):
        a = tl.load(a_ptrs)
        b = tl.load(a_ptrs + 4 * BLOCK * BLOCK)
        total = tl.dot(a, tl.trans(b), total)
        other = tl.dot(b * 2, tl.trans(a), other)
        a_ptrs += BLOCK * BLOCK
    tl.store(out_ptr + at, total - other)
)",
     "%is_ahead"},
};

constexpr std::int64_t block = 32;
constexpr int warps = 2;

const CudaEmitOptions copy_options{.target = Target::parse("sm_80"), .num_warps = warps};

std::vector<float> run_rounds(const ir::Kernel& kernel, std::int64_t rounds, unsigned seed) {
  std::vector<float> x(8 * block * block), out(block * block, -1.0f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 13) - 6;
  const ir::InterpretBuffer buffers[] = {
      {.name = "x", .data = x.data(), .bytes = x.size() * sizeof(float)},
      {.name = "out", .data = out.data(), .bytes = out.size() * sizeof(float)}};
  const ir::InterpretArgument arguments[] = {ir::InterpretPointer{.buffer = 0},
                                             ir::InterpretPointer{.buffer = 1}, rounds};
  ir::InterpretOptions how;
  how.role_seed = seed;
  ir::interpret(kernel, buffers, arguments, how);
  return out;
}

class CudaCopiesAhead : public testing::TestWithParam<CopiedLoop> {
 protected:
  static TileProgram tiles(const CopiedLoop& of) {
    return {of.source, of.name, "*fp32:16, *fp32:16, i32, 32", warps, "sm_80"};
  }
  static ir::Kernel program(const CopiedLoop& of) {
    return final_for_cuda(laid_for_cuda(tiles(of).kernel(), copy_options), copy_options);
  }
};

TEST_P(CudaCopiesAhead, ThreadsInAnyOrderDoAsTilesDo) {
  const CopiedLoop& of = GetParam();
  const TileProgram source = tiles(of);
  const ir::Kernel kernel = program(of);
  ir::verify(kernel);
  const std::string text = ir::print(kernel);
  EXPECT_THAT(text, HasSubstr("copy_to"));
  EXPECT_THAT(text, HasSubstr(of.shows));
  const ir::Kernel read = ir::parse(text);
  ir::verify(read);
  EXPECT_EQ(ir::print(read), text);
  EXPECT_EQ(emit_cuda(read, copy_options).text,
            emit_cuda(laid_for_cuda(source.kernel(), copy_options), copy_options).text);
  for (const std::int64_t rounds : {0, 1, 4}) {
    const std::vector<float> expected = run_rounds(source.kernel(), rounds, 0);
    for (unsigned seed = 0; seed < 2; ++seed) EXPECT_EQ(run_rounds(read, rounds, seed), expected);
  }
}

std::vector<ir::Op*> waits_of(ir::Kernel& kernel) {
  std::vector<ir::Op*> out;
  ir::walk(kernel.body, [&](ir::Op& op) {
    if (op.facts().is(ir::Family::Sync)) out.push_back(&op);
  });
  return out;
}

void take_out(ir::Region& region, const ir::Op* wanted) {
  std::erase(region.ops, wanted);
  for (ir::Op* op : region.ops)
    for (ir::Region& inner : op->regions) take_out(inner, wanted);
}

bool is_reported(const ir::Kernel& kernel) {
  try {
    for (unsigned seed = 0; seed < 8; ++seed) run_rounds(kernel, 4, seed);
  } catch (const Error&) {
    return true;
  }
  return false;
}

bool is_refused(const ir::Kernel& kernel) {
  try {
    ir::verify(kernel);
  } catch (const Error&) {
    return true;
  }
  return false;
}

// By the interpreter, and by the verifier too.
TEST_P(CudaCopiesAhead, EveryWaitCommitAndBarrierIsMissed) {
  ir::Kernel whole = program(GetParam());
  const std::string text = ir::print(whole);
  const std::size_t count = waits_of(whole).size();
  EXPECT_GE(count, 5u) << text;
  for (std::size_t k = 0; k < count; ++k) {
    ir::Kernel mutant = ir::parse(text);
    const ir::Op* op = waits_of(mutant)[k];
    take_out(mutant.body, op);
    EXPECT_TRUE(is_reported(mutant)) << op->facts().name << ", number " << k << " of\n" << text;
    EXPECT_TRUE(is_refused(mutant)) << op->facts().name << ", number " << k << " of\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaCopiesAhead, testing::ValuesIn(copied_loops),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tilewright
