// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/atomics_test.cpp — sums onto neighbours go in vectors, and one fence keeps the order
// of all elements of a tile.
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
