// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/sums_test.cpp — long sums lose no more than a tree of additions would.
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/tile.h"
#include "ir/parse.h"
#include "run_both.h"

namespace tilewright::testing_cpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Numbers near 0.1, so that rounding errors of a running sum do not cancel.
Memory near_tenth(DType dtype, std::size_t count) {
  Memory memory{dtype, std::vector<std::byte>(count * size_of(dtype))};
  for (std::size_t i = 0; i < count; ++i) {
    ir::Element element;
    element.f = ir::round_to(dtype, 0.1 + 0.001 * static_cast<double>(i % 7));
    ir::write_element(dtype, element, memory.bytes.data() + i * size_of(dtype));
  }
  return memory;
}

double at(const Memory& memory, std::size_t index) {
  return ir::read_element(memory.dtype, memory.bytes.data() + index * size_of(memory.dtype)).f;
}

std::string run_cpu(const std::string& text, const std::vector<Memory*>& buffers) {
  const ir::Kernel kernel = ir::parse(text);
  std::vector<Argument> arguments;
  for (Memory* memory : buffers) arguments.emplace_back(memory->bytes.data());
  compile_cpu(kernel).launch({.grid = {1, 1, 1}}, arguments);
  return cpu_text(kernel);
}

// What may wrap is no row to g++ 13, which then reads the elements one by one.
// What is computed from a position has the 32 bits of the tile's.
TEST(CpuSums, PositionsHave64Bits) {
  const auto text_of = [](const char* term) {
    return cpu_text(ir::parse(fmt::format(R"(
kernel @sums(%in: *f32, %out: *f32) tile {{
  %one = constant {{value = 1}} : i64
  %p = affine %in, %one : *f32[512]
  %x = load %p : f32[512]
  %i = arange {{start = 0}} : i32[512]
  %n = cast %i : f32[512]
  %t = {} : f32[512]
  %s = reduce %t {{axis = 0}} : f32 (%a: f32, %b: f32) {{
    %c = add %a, %b : f32
    yield %c
  }}
  store %out, %s
}}
)",
                                          term)));
  };
  EXPECT_THAT(text_of("add %x, %x"), HasSubstr("tw::sum(0, 512, [&](i64 i) TW_ALWAYS {"));
  EXPECT_THAT(text_of("add %x, %n"), AllOf(HasSubstr("in[i]"), HasSubstr("f32(i32(i))")));
}

TEST(CpuSums, SmallFloatsAreRoundedOnce) {
  for (const DType dtype : {f16, bf16}) {
    const std::string type(ir::short_name_of(dtype));
    // Along the innermost loop to a scalar and to a tile, and across it.
    const std::string text = fmt::format(R"(
kernel @sums(%in: *{0}, %all: *{0}, %rows: *{0}, %columns: *{0}) tile {{
  %one = constant {{value = 1}} : i64
  %four = constant {{value = 4}} : i64
  %long = constant {{value = 1024}} : i64
  %p = affine %in, %one : *{0}[4096]
  %x = load %p : {0}[4096]
  %s = reduce %x {{axis = 0}} : {0} (%a: {0}, %b: {0}) {{
    %c = add %a, %b : {0}
    yield %c
  }}
  store %all, %s
  %pr = affine %in, %long, %one : *{0}[4, 1024]
  %xr = load %pr : {0}[4, 1024]
  %sr = reduce %xr {{axis = 1}} : {0}[4] (%ar: {0}, %br: {0}) {{
    %cr = add %ar, %br : {0}
    yield %cr
  }}
  %qr = affine %rows, %one : *{0}[4]
  store %qr, %sr
  %pc = affine %in, %four, %one : *{0}[1024, 4]
  %xc = load %pc : {0}[1024, 4]
  %sc = reduce %xc {{axis = 0}} : {0}[4] (%ac: {0}, %bc: {0}) {{
    %cc = add %ac, %bc : {0}
    yield %cc
  }}
  %qc = affine %columns, %one : *{0}[4]
  store %qc, %sc
}}
)",
                                         type);
    Memory in = near_tenth(dtype, 4096);
    Memory all{dtype, std::vector<std::byte>(2)};
    Memory rows{dtype, std::vector<std::byte>(8)}, columns = rows;
    const std::string written = run_cpu(text, {&in, &all, &rows, &columns});
    double row[4] = {}, column[4] = {};
    for (std::size_t i = 0; i < 4096; ++i) {
      row[i / 1024] += at(in, i);
      column[i % 4] += at(in, i);
    }
    // Half an ulp of what is stored, and what f32 may lose on the way.
    const double bound = (dtype == f16 ? 0x1p-11 : 0x1p-8) + 0x1p-15;
    const double total = row[0] + row[1] + row[2] + row[3];
    EXPECT_NEAR(at(all, 0), total, total * bound) << type << written;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(at(rows, i), row[i], row[i] * bound) << type << written;
      EXPECT_NEAR(at(columns, i), column[i], column[i] * bound) << type << written;
    }
  }
}

// g++ makes no vector code of loads at places that are loaded too, under a mask that is no range.
TEST(CpuSums, GatheredUnderAMask) {
  constexpr std::size_t count = 4096;
  const std::string text = R"(
kernel @gathered(%in: *f32, %places: *i64, %out: *f32) tile {
  %one = constant {value = 1} : i64
  %skipped = constant {value = 5} : i64
  %p = affine %places, %one : *i64[4096]
  %place = load %p : i64[4096]
  %none = splat %skipped : i64[4096]
  %mask = compare %place, %none {is = "ne"} : b1[4096]
  %base = splat %in : *f32[4096]
  %at = offset %base, %place : *f32[4096]
  %x = load %at, %mask : f32[4096]
  %s = reduce %x {axis = 0} : f32 (%a: f32, %b: f32) {
    %c = add %a, %b : f32
    yield %c
  }
  store %out, %s
}
)";
  Memory in = near_tenth(f32, count);
  std::vector<std::int64_t> places(count);
  double exact = 0;
  for (std::size_t i = 0; i < count; ++i) {
    places[i] = static_cast<std::int64_t>(i * 2731 % count);
    if (places[i] != 5) exact += at(in, static_cast<std::size_t>(places[i]));
  }
  Memory indices = Memory::of(i64, places);
  Memory out{f32, std::vector<std::byte>(4)};
  const std::string written = run_cpu(text, {&in, &indices, &out});
  EXPECT_NEAR(at(out, 0), exact, exact * 12 * 0x1p-24) << written;  // a tree has 12 levels
}

}  // namespace
}  // namespace tilewright::testing_cpu
