// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/rotation_test.cpp — tiles that are turned round: where that is done, and that words
// which only begin or end in a row are taken apart rightly.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_sources.h"
#include "tile_program.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* rows_source = R"(
@triton.jit
def rows_kernel(x_ptr, w_ptr, out_ptr, n, low, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    c = tl.arange(0, BLOCK)
    inside = (c >= low) & (c < n)
    x = tl.load(x_ptr + start + c, mask=inside, other=3).to(tl.float32)
    w = tl.load(w_ptr + c, mask=inside, other=5).to(tl.float32)
    y = x * 2 + w + tl.max(x, axis=0) + tl.where(inside, c & 7, 1)
    tl.store(out_ptr + start + c, y, mask=inside)
)";

// Emulated text reads no byte that a kernel does not ask for; here it does as a GPU would.
Loaded with_whole_words(const TileProgram& program) {
  KernelSource source = program.source();
  const std::string_view flag = "ptx::reads_whole_words";
  int flags = 0;
  for (NamedFile& header : source.headers)
    for (std::size_t at = 0; (at = header.text.find(flag, at)) != std::string::npos; ++flags)
      header.text.replace(at, flag.size(), "true");
  EXPECT_GT(flags, 0);
  return load_emulated(source);
}

struct RowTypes {
  DType row;
  DType weight;
  const char* signature;  // of the pointers
  int vector;             // elements
};

class CudaRotation : public testing::TestWithParam<RowTypes> {};

TEST_P(CudaRotation, WordsAreReadWhole) {
  const auto& [row, weight, pointers, vector] = GetParam();
  const TileProgram program(rows_source, "rows_kernel", fmt::format("{}, i32, i32, 512", pointers),
                            1);
  show(program);
  EXPECT_THAT(program.text(), HasSubstr(fmt::format("tw::load_rotated<512, {}", vector)));
  EXPECT_THAT(program.text(), HasSubstr(fmt::format("tw::load_apart<512, {}", vector)));
  EXPECT_THAT(program.text(), HasSubstr(fmt::format("tw::store_rotated<512, {}", vector)));
  const Loaded emulated = with_whole_words(program);
  constexpr std::int64_t around = 32;  // elements that words at the end may touch
  for (const std::int64_t n : {0, 1, 9, 300, 505, 511, 512})
    for (const std::int64_t low : {-1, 3, 250}) {
      const auto count = static_cast<std::size_t>(7 * n + around);
      Memory x = numbers(row, count, 1);
      Memory w = numbers(weight, static_cast<std::size_t>(n + around), 2);
      Memory out = zeros(row, count);
      program.expect_same(
          {.grid = {7, 1, 1}, .arguments = {&x, &w, &out, n, low}, .tolerance = 1e-2}, emulated);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Types, CudaRotation,
    testing::Values(RowTypes{DType::BFloat16, DType::BFloat16, "*bf16:16, *bf16:16, *bf16:16", 8},
                    RowTypes{DType::Float16, DType::Float32, "*fp16:16, *fp32:16, *fp16:16", 4},
                    RowTypes{DType::Int8, DType::Int8, "*i8:16, *i8:16, *i8:16", 16},
                    RowTypes{DType::UInt8, DType::Float16, "*u8:16, *fp16, *u8:16", 8}),
    [](const auto& row) {
      return fmt::format("{}_by_{}", name_of(row.param.row), name_of(row.param.weight));
    });

std::string text_of(const char* source, const char* kernel, const std::string& signature,
                    int warps = 1) {
  return TileProgram(source, kernel, signature, warps).text();
}

TEST(CudaRotations, IsNotForWhatIsAlignedOrWide) {
  const auto softmax = [](const char* signature, int warps = 1) {
    return text_of(softmax_source, "softmax_kernel", signature, warps);
  };
  EXPECT_THAT(softmax("*bf16:16, *bf16:16, i32, i32, 512"), HasSubstr("i32 shift"));
  EXPECT_THAT(softmax("*bf16:16, *bf16:16, i32:16, i32, 512"), Not(HasSubstr("shift")));
  EXPECT_THAT(softmax("*fp32:16, *fp32:16, i32, i32, 512"), Not(HasSubstr("shift")));
  // Threads without a whole vector.
  EXPECT_THAT(softmax("*bf16:16, *bf16:16, i32, i32, 512", 4), Not(HasSubstr("shift")));
  // Where the pointers begin is known at run time only.
  EXPECT_THAT(softmax("*bf16, *bf16:16, i32, i32, 512"), HasSubstr("(u64)("));
}

// Over a cluster, and in shared memory, where each thread keeps its part of the row.
TEST(CudaRotations, LongRows) {
  const TileProgram program(softmax_source, "softmax_kernel", "*bf16:16, *bf16:16, i32, i32, 2048");
  const Target target = Target::parse("sm_90a");
  for (const bool stows : {false, true}) {
    const TileProgram spread =
        program.with({.target = target, .num_warps = 2, .num_ctas = 2, .stows_row = stows});
    show(spread);
    EXPECT_THAT(spread.text(), HasSubstr("tw::load_rotated<2048, 8"));
    EXPECT_THAT(spread.text(), HasSubstr("cluster_thread<2>"));
    EXPECT_EQ(spread.text().find("shared_row") != std::string::npos, stows);
    for (const std::int64_t n : {3, 1999, 2045}) {
      const auto count = static_cast<std::size_t>(5 * n + 8);
      Memory x = numbers(DType::BFloat16, count, 1);
      Memory out = zeros(DType::BFloat16, count);
      const tilewright::Run run{
          .grid = {5, 1, 1}, .arguments = {&out, &x, n, n}, .tolerance = 1e-2};
      spread.expect_same(run, with_whole_words(spread));
      out = zeros(DType::BFloat16, count);
      spread.expect_same(run);
    }
  }
}

TEST(CudaRotations, IsNotForWhatHasAnOrder) {
  constexpr const char* source = R"(
@triton.jit
def in_order(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + start + c, mask=c < n, other=0)
    tl.store(out_ptr + start + c, tl.cumsum(x, 0), mask=c < n)

@triton.jit
def gathered(x_ptr, at_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.load(at_ptr + c, mask=c < n), mask=c < n)
    tl.store(out_ptr + start + c, x, mask=c < n)

@triton.jit
def two_starts(x_ptr, out_ptr, y_ptr, n, m, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=c < n)
    tl.store(out_ptr + row * n + c, x, mask=c < n)
    tl.store(y_ptr + row * m + c, x, mask=c < n)
)";
  EXPECT_THAT(text_of(source, "in_order", "*bf16:16, *bf16:16, i32, 512"), Not(HasSubstr("shift")));
  EXPECT_THAT(text_of(source, "gathered", "*bf16:16, *i32:16, *bf16:16, i32, 512"),
              Not(HasSubstr("shift")));
  EXPECT_THAT(text_of(source, "two_starts", "*bf16:16, *bf16:16, *bf16:16, i32, i32, 512"),
              Not(HasSubstr("shift")));
}

}  // namespace
}  // namespace tilewright
