// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/dot_test.cpp — products of tiles: shapes, types, operands as they lie in memory, and
// the text for processors that this machine may not have.
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cpu/emit.h"
#include "ir/parse.h"
#include "run_both.h"
#include "runtime/compile.h"

namespace tilewright::testing_cpu {
namespace {

struct Product {
  DType in = f32;
  DType out = f32;
  int m = 16, n = 16, k = 16;
  bool is_a_transposed = false, is_b_transposed = false;
};

std::string operand(const char* name, DType dtype, int rows, int columns, bool is_transposed) {
  const std::string_view type = ir::short_name_of(dtype);
  const int first = is_transposed ? columns : rows, second = is_transposed ? rows : columns;
  std::string text = fmt::format(
      "  %{0}_row = constant {{value = {3}}} : i64\n"
      "  %{0}_at = affine %{0}_in, %{0}_row, %one : *{1}[{2}, {3}]\n"
      "  %{0}_tile = load %{0}_at : {1}[{2}, {3}]\n",
      name, type, first, second);
  return text +
         (is_transposed
              ? fmt::format("  %{0} = permute %{0}_tile {{order = [1, 0]}} : {1}[{2}, {3}]\n", name,
                            type, rows, columns)
              : fmt::format("  %{0} = reshape %{0}_tile : {1}[{2}, {3}]\n", name, type, rows,
                            columns));
}

// c += a * b, with c in memory before and after.
std::string text_of(const Product& p) {
  const std::string_view in = ir::short_name_of(p.in), out = ir::short_name_of(p.out);
  return fmt::format(
      "kernel @product(%a_in: *{0}, %b_in: *{0}, %c_in: *{1}) tile {{\n"
      "  %one = constant {{value = 1}} : i64\n{2}{3}"
      "  %c_row = constant {{value = {5}}} : i64\n"
      "  %c_at = affine %c_in, %c_row, %one : *{1}[{4}, {5}]\n"
      "  %c = load %c_at : {1}[{4}, {5}]\n"
      "  %r = dot %a, %b, %c : {1}[{4}, {5}]\n"
      "  store %c_at, %r\n}}\n",
      in, out, operand("a", p.in, p.m, p.k, p.is_a_transposed),
      operand("b", p.in, p.k, p.n, p.is_b_transposed), p.m, p.n);
}

void run(const Product& p) {
  SCOPED_TRACE(fmt::format("{}x{}x{} of {} to {}, transposed {} {}", p.m, p.n, p.k, name_of(p.in),
                           name_of(p.out), p.is_a_transposed, p.is_b_transposed));
  const auto count = [](int rows, int columns) { return static_cast<std::size_t>(rows * columns); };
  // Sums of products of numbers up to 1: off by what the order of k additions does.
  const double unit = p.out == f64 ? 1e-15 : p.out == f32 ? 4e-7 : p.out == bf16 ? 8e-3 : 1e-3;
  run_both(
      text_of(p),
      {Memory::random(p.in, count(p.m, p.k), 1, 1.0), Memory::random(p.in, count(p.k, p.n), 2, 1.0),
       Memory::random(p.out, count(p.m, p.n), 3, 1.0)},
      {1, 1, 1}, {.ulps = 2, .absolute = unit * p.k});
}

TEST(CpuDot, Shapes) {
  for (const auto& [m, n, k] : {std::array{16, 16, 16},
                                {64, 32, 16},
                                {16, 128, 64},
                                {1, 8, 4},
                                {2, 1, 16},
                                {8, 4, 1},
                                {128, 16, 256},
                                {32, 2, 32}})
    run({.m = m, .n = n, .k = k});
}

TEST(CpuDot, TransposedOperands) {
  for (const Product& p : {Product{f32, f32, 16, 32, 64, true, false},
                           {f32, f32, 16, 32, 64, false, true},
                           {f16, f32, 16, 32, 64, true, true},
                           {i8, i32, 16, 32, 64, false, true},
                           {f64, f64, 8, 16, 32, true, true},
                           {bf16, f32, 8, 4, 2, true, true},
                           {bf16, f32, 32, 64, 64, true, true}})
    run(p);
}

TEST(CpuDot, Types) {
  for (const auto& [in, out] :
       {std::pair(f16, f32), std::pair(bf16, f32), std::pair(f16, f16), std::pair(f64, f64),
        std::pair(i8, i32), std::pair(u8, i32), std::pair(i32, i32),
        std::pair(DType::Float8E4M3, f32), std::pair(DType::Float8E5M2, f16)})
    run({in, out, 16, 32, 32});
}

// Fewer columns than any vector has, pairs of bytes and of bf16 among them.
TEST(CpuDot, FewColumns) {
  for (const auto& [in, out] : {std::pair(bf16, f32), std::pair(i8, i32), std::pair(u8, i32),
                                std::pair(f16, f32), std::pair(f64, f64)})
    for (const int n : {1, 2, 4}) run({in, out, 16, n, 32});
}

// Bytes of either sign at their limits: pairs of products must not saturate.
TEST(CpuDot, LargestBytes) {
  const Product p{i8, i32, 16, 16, 32};
  const std::vector<std::int8_t> low(16 * 32, -128);
  const std::vector<std::int32_t> zero(16 * 16, 0);
  run_both(text_of(p), {Memory::of(i8, low), Memory::of(i8, low), Memory::of(i32, zero)});
}

TEST(CpuDot, Batches) {
  run_both(R"(
kernel @batches(%in: *f32, %out: *f32) tile {
  %one = constant {value = 1} : i64
  %eight = constant {value = 8} : i64
  %sixteen = constant {value = 16} : i64
  %plane = constant {value = 128} : i64
  %square = constant {value = 64} : i64
  %p = affine %in, %plane, %sixteen, %one : *f32[4, 8, 16]
  %x = load %p : f32[4, 8, 16]
  %t = permute %x {order = [0, 2, 1]} : f32[4, 16, 8]
  %z = constant {value = 0.5} : f32[4, 8, 8]
  %r = dot %x, %t, %z : f32[4, 8, 8]
  %q = affine %out, %square, %eight, %one : *f32[4, 8, 8]
  store %q, %r
})",
           {Memory::random(f32, 512, 4), Memory::random(f32, 256, 5)}, {1, 1, 1},
           {.ulps = 64, .absolute = 1e-4});
}

// Operands that are in no array: constants, computed values, views that no strides describe.
TEST(CpuDot, OperandsWithoutAnArray) {
  run_both(R"(
kernel @computed(%in: *f32, %out: *f32) tile {
  %one = constant {value = 1} : i64
  %row = constant {value = 16} : i64
  %p = affine %in, %row, %one : *f32[16, 16]
  %x = load %p : f32[16, 16]
  %ones = constant {value = 1.5} : f32[16, 16]
  %twice = add %x, %x : f32[16, 16]
  %wide = reshape %x : f32[2, 8, 16]
  %odd = permute %wide {order = [1, 0, 2]} : f32[8, 2, 16]
  %mixed = reshape %odd : f32[16, 16]
  %zero = constant {value = 0.0} : f32[16, 16]
  %r = dot %twice, %ones, %zero : f32[16, 16]
  %s = dot %mixed, %x, %r : f32[16, 16]
  %q = affine %out, %row, %one : *f32[16, 16]
  store %q, %s
})",
           {Memory::random(f32, 256, 4), Memory::random(f32, 256, 5)}, {1, 1, 1},
           {.ulps = 64, .absolute = 1e-3});
}

// The text is right C++ for every kind of processor, also for those that are not here.
TEST(CpuDot, CompilesForOtherProcessors) {
  Target with_bf16 = Target::parse("avx512");
  with_bf16.compiler_flags.emplace_back("-mavx512bf16");
  Target with_amx = with_bf16;
  with_amx.compiler_flags.insert(with_amx.compiler_flags.end(), {"-mamx-tile", "-mamx-bf16"});
  Target plain = Target::parse("avx2");
  plain.compiler_flags.clear();
  for (const Target& target : {Target::parse("avx512"), with_bf16, with_amx, plain})
    for (const auto& [in, out] : {std::pair(bf16, f32), std::pair(i8, i32)}) {
      const ir::Kernel kernel = ir::parse(text_of({in, out, 32, 32, 32, false, true}));
      EXPECT_NO_THROW(compile(emit_cpu(kernel, {.target = target}), target));
    }
}

}  // namespace
}  // namespace tilewright::testing_cpu
