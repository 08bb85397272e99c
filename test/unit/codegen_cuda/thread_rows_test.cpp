// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/thread_rows_test.cpp — long rows at stage Final: rows that begin anywhere, rows in
// the threads' own parts of shared memory, and programs of several blocks.
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
using testing::Not;

constexpr std::int64_t row_count = 3;

// A row of the largest and the sum, then the row itself with indices.
const char* const weighed_rows = R"(
@triton.jit
def weighed(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + i, mask=i < n, other=-1.0).to(tl.float32)
    largest = tl.max(x, 0)
    total = tl.sum(tl.where(x > largest - 4, x, 0.0), 0)
    tl.store(out_ptr + row * stride + i, x + total + i % 3, mask=i < n)
)";

struct RowCase {
  const char* name;
  const char* signature;
  DType dtype;
  CudaEmitOptions options;
  std::int64_t stride, n;
  std::vector<const char*> has;
};

const Target rows_target = Target::parse("sm_90a");

const RowCase row_cases[] = {
    {"turned", "*bf16:16, *bf16:16, i32, i32, 512", DType::BFloat16,
     {.target = rows_target, .num_warps = 1}, 503, 499, {"rotates = 512", "\"rotated\""}},
    {"turned_by_pointer", "*bf16, *bf16, i32:16, i32, 512", DType::BFloat16,
     {.target = rows_target, .num_warps = 1}, 512, 499, {"rotates = 512"}},
    {"own", "*fp32:16, *fp32:16, i32:16, i32, 1024", DType::Float32,
     {.target = rows_target, .num_warps = 2, .stows_row = true}, 1024, 1001,
     {"\"own_row\", numbers = [16, 4, 64]", "copies = 1", "\"finish_copies\""}},
    {"own_not_aligned", "*fp32, *fp32, i32, i32, 1024", DType::Float32,
     {.target = rows_target, .num_warps = 2, .stows_row = true}, 1003, 1001, {"\"own_row\""}},
    {"cluster", "*fp32:16, *fp32:16, i32:16, i32, 2048", DType::Float32,
     {.target = rows_target, .num_warps = 2, .num_ctas = 2}, 2048, 2001,
     {"\"reduce_cluster\"", "\"cluster_wait\"", "thread {count = 128"}},
    {"own_in_cluster", "*bf16:16, *bf16:16, i32, i32, 2048", DType::BFloat16,
     {.target = rows_target, .num_warps = 2, .num_ctas = 2, .stows_row = true}, 2045, 1999,
     {"\"own_row\"", "\"reduce_cluster\"", "rotates = 2048"}},
};

class CudaRows : public testing::TestWithParam<RowCase> {
 protected:
  static TileProgram tiles(const RowCase& of) {
    return TileProgram(weighed_rows, "weighed", of.signature, of.options.num_warps);
  }
  static ir::Kernel program(const RowCase& of) {
    return final_for_cuda(laid_for_cuda(tiles(of).kernel(), of.options), of.options);
  }
  // Memory behind the launch; the pointers begin two bytes or more into the buffers.
  static Memory run(const RowCase& of, const ir::Kernel& kernel, unsigned seed) {
    const auto count = static_cast<std::size_t>(row_count * of.stride + 16);
    Memory x = numbers(of.dtype, count, 3), out = zeros(of.dtype, count);
    const bool is_aligned = std::string_view(of.signature).find(":16") < 8;
    const std::int64_t offset = is_aligned ? 0 : 5 * static_cast<std::int64_t>(size_of(of.dtype));
    const ir::InterpretBuffer buffers[] = {
        {.name = "x", .data = x.bytes.data(), .bytes = x.bytes.size()},
        {.name = "out", .data = out.bytes.data(), .bytes = out.bytes.size()}};
    const ir::InterpretArgument arguments[] = {
        ir::InterpretPointer{.buffer = 0, .byte_offset = offset},
        ir::InterpretPointer{.buffer = 1, .byte_offset = offset}, of.stride, of.n};
    ir::InterpretOptions how{.grid = {row_count, 1, 1}};
    how.role_seed = seed;
    ir::interpret(kernel, buffers, arguments, how);
    return out;
  }
  // Whether the verifier or one of the orders of threads notices what is wrong.
  static bool is_noticed(const RowCase& of, const std::string& text) {
    try {
      const ir::Kernel kernel = ir::parse(text);
      ir::verify(kernel);
      for (const unsigned seed : {0u, 1u}) run(of, kernel, seed);
    } catch (const Error&) {
      return true;
    }
    return false;
  }
};

TEST_P(CudaRows, ThreadsDoAsTilesDo) {
  const RowCase& of = GetParam();
  const ir::Kernel kernel = program(of);
  ir::verify(kernel);
  const std::string text = ir::print(kernel);
  for (const char* part : of.has) EXPECT_THAT(text, HasSubstr(part));
  const ir::Kernel read = ir::parse(text);
  EXPECT_EQ(ir::print(read), text);
  const TileProgram whole = tiles(of);
  EXPECT_EQ(emit_cuda(read, of.options).text,
            emit_cuda(laid_for_cuda(whole.kernel(), of.options), of.options).text);
  const Memory expected = run(of, whole.kernel(), 0);
  for (const unsigned seed : {0u, 1u, 5u}) {
    const Memory got = run(of, read, seed);
    for (std::size_t i = 0; i < got.count(); ++i)
      ASSERT_NEAR(got.at(i), expected.at(i), 2e-2 * (1 + std::abs(expected.at(i))))
          << i << ", seed " << seed;
  }
}

std::string without_line(const std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  const std::size_t first = text.rfind('\n', at), last = text.find('\n', at);
  return std::string(text).erase(first, last - first);
}

TEST_P(CudaRows, WhatTheyNeedIsMissed) {
  const RowCase& of = GetParam();
  const std::string text = ir::print(program(of));
  EXPECT_FALSE(is_noticed(of, text));
  for (const char* part : {"\"finish_copies\"", "\"cluster_wait\""})
    if (text.find(part) != std::string::npos) {
      EXPECT_TRUE(is_noticed(of, without_line(text, part))) << part;
    }
  const auto replaced = [&](std::string_view what, std::string_view by) {
    const std::size_t at = text.find(what);
    return at == std::string::npos ? std::string() : std::string(text).replace(at, what.size(), by);
  };
  // Own vectors that lie as if a block had other threads, and rows turned round by too little.
  for (const std::string& wrong :
       {replaced("numbers = [16, 4, 64]", "numbers = [16, 4, 32]"),
        replaced("constant {value = 7}", "constant {value = 3}"), replaced("of = 8", "of = 4")})
    if (!wrong.empty()) {
      EXPECT_TRUE(is_noticed(of, wrong)) << wrong;
    }
}

INSTANTIATE_TEST_SUITE_P(All, CudaRows, testing::ValuesIn(row_cases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tilewright
