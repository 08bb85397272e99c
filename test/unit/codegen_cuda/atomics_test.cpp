// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/atomics_test.cpp — sums onto neighbours go in vectors, and one fence keeps the order
// of all elements of a tile.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/compile.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string rows_source(const std::string& statements) {
  return R"(
@triton.jit
def add_rows(x_ptr, out_ptr, other_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
)" + statements;
}

TileProgram add_program(const std::string& type, const std::string& statements,
                        const std::string& n = "i32:16", const std::string& target = "sm_90a") {
  return TileProgram(rows_source(statements), "add_rows",
                     "*" + type + ":16, *" + type + ":16, *" + type + ":16, " + n + ", 512", 4,
                     target);
}

TEST(CudaAtomics, SumsOntoNeighboursGoInVectors) {
  const std::pair<std::string, DType> types[] = {
      {"fp32", DType::Float32}, {"fp16", DType::Float16}, {"bf16", DType::BFloat16}};
  for (const auto& [type, dtype] : types)
    for (const char* n : {"i32:16", "i32"}) {
      const TileProgram program =
          add_program(type, "    tl.atomic_add(out_ptr + i, x, mask=i < n)\n", n);
      EXPECT_THAT(program.text(), HasSubstr("tw::add_vector")) << program.text();
      Memory x = numbers(dtype, 512, 3);
      Memory out = zeros(dtype, 512);
      Memory other = zeros(dtype, 512);
      const std::int64_t count = std::string(n) == "i32" ? 301 : 304;
      program.expect_same({.arguments = {&x, &out, &other, count}});
    }
}

TEST(CudaAtomics, OldValuesAndOtherMachinesGoElementByElement) {
  EXPECT_THAT(
      add_program("fp32", "    tl.store(other_ptr + i, tl.atomic_add(out_ptr + i, x))\n").text(),
      Not(HasSubstr("add_vector")));
  EXPECT_THAT(add_program("fp32", "    tl.atomic_add(out_ptr + i, x)\n", "i32", "sm_80").text(),
              Not(HasSubstr("add_vector")));
  EXPECT_THAT(add_program("fp64", "    tl.atomic_add(out_ptr + i, x)\n").text(),
              Not(HasSubstr("add_vector")));
}

TEST(CudaAtomics, OneFenceIsForAllElements) {
  const auto text = [](const char* statements) { return add_program("fp32", statements).text(); };
  const std::string fence = "tw::fence<tw::Scope::Device>();";
  const std::string plain = text("    tl.atomic_add(out_ptr + i, x)\n");
  EXPECT_EQ(count_of(plain, fence), 1) << plain;
  EXPECT_LT(plain.find("tw::load"), plain.find(fence)) << plain;
  EXPECT_THAT(plain, Not(HasSubstr("Order::Ordered")));
  EXPECT_EQ(count_of(text("    tl.atomic_add(out_ptr + i, x, sem='relaxed')\n"), fence), 0);
  // Who asks for the old value may read afterwards what came before it.
  EXPECT_EQ(count_of(text("    tl.store(other_ptr + i, tl.atomic_add(out_ptr + i, x))\n"), fence), 2);
  // The second one comes after the first one, element by element.
  EXPECT_THAT(text("    tl.atomic_add(out_ptr + i, x)\n    tl.atomic_add(other_ptr + i, x)\n"),
              HasSubstr("Order::Ordered"));
  // What is stored first must be there before.
  EXPECT_THAT(text("    tl.store(other_ptr + i, x)\n    tl.atomic_add(out_ptr + i, x)\n"),
              HasSubstr("Order::Ordered"));
}

// Totals of rows, each of which a whole warp holds: a thread has those of neighbouring rows.
TEST(CudaAtomics, TotalsOfRowsGoInVectors) {
  const char* const source = R"(
@triton.jit
def add_totals(x_ptr, w_ptr, out_ptr, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    for first in range(0, k, COLUMNS):
        w = tl.load(w_ptr + first + column, mask=first + column < k, other=0.0)
        x = tl.load(x_ptr + row[:, None] * k + first + column[None, :],
                    mask=(row[:, None] < n) & (first + column[None, :] < k), other=0.0)
        total += tl.sum(x.to(tl.float32) * w, 1)
    tl.atomic_add(out_ptr + row, total, mask=row < n)
)";
  struct Case {
    const char* type;
    DType dtype;
    int rows, columns;
    const char* call;  // "": element by element
  };
  for (const Case& c :
       {Case{"fp16", DType::Float16, 16, 256, "4, 4>("},
        Case{"fp16", DType::Float16, 64, 256, "8, 8>("},
        Case{"bf16", DType::BFloat16, 32, 128, "4, 4>("},
        Case{"fp32", DType::Float32, 32, 128, "4, 4>("}, Case{"fp32", DType::Float32, 4, 128, ""}})
    for (const char* n : {"i32:16", "i32"}) {
      const TileProgram program(source, "add_totals",
                                fmt::format("*{0}:16, *{0}:16, *{0}:16, {1}, i32:16, {2}, {3}",
                                            c.type, n, c.rows, c.columns));
      if (*c.call != 0) EXPECT_THAT(program.text(), HasSubstr(c.call)) << program.text();
      else EXPECT_THAT(program.text(), Not(HasSubstr("add_vector"))) << program.text();
      const std::int64_t count = std::string(n) == "i32" ? c.rows - 3 : c.rows, k = 304;
      Memory x = numbers(c.dtype, static_cast<std::size_t>(c.rows * k), 1);
      Memory w = numbers(c.dtype, static_cast<std::size_t>(k), 2);
      Memory out = numbers(c.dtype, static_cast<std::size_t>(c.rows), 3);
      program.expect_same({.arguments = {&x, &w, &out, count, k}, .tolerance = 1e-2});
    }
}

TEST(CudaAtomics, TextsCompile) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  for (const std::string type : {"fp32", "fp16", "bf16"})
    for (const char* target : {"sm_80", "sm_90a"}) {
      const TileProgram program =
          add_program(type,
                      "    tl.atomic_add(out_ptr + i, x, mask=i < n)\n"
                      "    tl.atomic_add(out_ptr + 0 * i, x, sem='relaxed')\n"
                      "    old = tl.atomic_add(other_ptr + i, x)\n"
                      "    tl.store(x_ptr + i, old)\n",
                      "i32", target);
      EXPECT_NO_THROW(compile(program.source(), Target::parse(target), nullptr)) << program.text();
    }
}

}  // namespace
}  // namespace tilewright
