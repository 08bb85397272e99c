// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/kernels_test.cpp — whole kernels over sizes 1, odd, prime, with and without a tail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "run_both.h"

namespace tilewright::testing_cpu {
namespace {

const std::string vector_add = R"(
kernel @vector_add(%x: *f32, %y: *f32, %out: *f32, %n: i32) tile {
  %pid = program_id {axis = 0} : i32
  %size = constant {value = 256} : i32
  %start = mul %pid, %size : i32
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %left = sub %n, %start : i32
  %limit = cast %left : i64
  %xs = offset %x, %start : *f32
  %ys = offset %y, %start : *f32
  %os = offset %out, %start : *f32
  %p = affine %xs, %one : *f32[256]
  %q = affine %ys, %one : *f32[256]
  %r = affine %os, %one : *f32[256]
  %mask = bounds %zero, %limit : b1[256]
  %a = load %p, %mask : f32[256]
  %b = load %q, %mask : f32[256]
  %sum = add %a, %b : f32[256]
  store %r, %sum, %mask
}
)";

TEST(CpuKernels, VectorAdd) {
  for (const std::int64_t n : {1, 7, 255, 256, 257, 1009, 4096}) {
    const auto count = static_cast<std::size_t>(n);
    run_both(vector_add,
             {Memory::random(f32, count, 1), Memory::random(f32, count, 2),
              Memory::random(f32, count, 3), n},
             {(n + 255) / 256, 1, 1}, {.ulps = 0});
  }
}

// Offsets and masks as a front end makes them, without access forms: gathers.
const std::string gelu = R"(
kernel @gelu(%x: *f32, %out: *f32, %n: i32) tile {
  %pid = program_id {axis = 0} : i32
  %size = constant {value = 512} : i32
  %start = mul %pid, %size : i32
  %range = arange {start = 0} : i32[512]
  %starts = splat %start : i32[512]
  %offsets = add %starts, %range : i32[512]
  %ns = splat %n : i32[512]
  %mask = compare %offsets, %ns {is = "lt"} : b1[512]
  %xs = splat %x : *f32[512]
  %p = offset %xs, %offsets : *f32[512]
  %a = load %p, %mask : f32[512]
  %half = constant {value = 0.5} : f32[512]
  %root = constant {value = 0.7071067811865476} : f32[512]
  %one = constant {value = 1.0} : f32[512]
  %t = mul %a, %root : f32[512]
  %e = math %t {function = "erf"} : f32[512]
  %f = add %e, %one : f32[512]
  %g = mul %a, %half : f32[512]
  %h = mul %g, %f : f32[512]
  %os = splat %out : *f32[512]
  %q = offset %os, %offsets : *f32[512]
  store %q, %h, %mask
}
)";

TEST(CpuKernels, Gelu) {
  for (const std::int64_t n : {1, 511, 512, 1031}) {
    const auto count = static_cast<std::size_t>(n);
    run_both(gelu, {Memory::random(f32, count, 1), Memory::random(f32, count, 2), n},
             {(n + 511) / 512, 1, 1}, {.ulps = 4, .absolute = 1e-7});
  }
}

const std::string softmax = R"(
kernel @softmax(%out: *f32, %in: *f32, %n: i64) tile {
  %row = program_id {axis = 0} : i32
  %wide = cast %row : i64
  %start = mul %wide, %n : i64
  %from = offset %in, %start : *f32
  %to = offset %out, %start : *f32
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %p = affine %from, %one : *f32[1024]
  %q = affine %to, %one : *f32[1024]
  %mask = bounds %zero, %n : b1[1024]
  %low = constant {value = -inf} : f32[1024]
  %x = load %p, %mask, %low : f32[1024]
  %m = reduce %x {axis = 0} : f32 (%a: f32, %b: f32) {
    %c = max %a, %b : f32
    yield %c
  }
  %ms = splat %m : f32[1024]
  %d = sub %x, %ms : f32[1024]
  %e = math %d {function = "exp"} : f32[1024]
  %s = reduce %e {axis = 0} : f32 (%f: f32, %g: f32) {
    %h = add %f, %g : f32
    yield %h
  }
  %ss = splat %s : f32[1024]
  %y = div %e, %ss : f32[1024]
  store %q, %y, %mask
}
)";

TEST(CpuKernels, Softmax) {
  // Under the sanitizers the loops stay scalar and add up to 1024 terms one after another.
  for (const std::int64_t n : {1, 3, 781, 1023, 1024}) {
    const auto count = static_cast<std::size_t>(n) * 5;
    run_both(softmax, {Memory::random(f32, count, 1), Memory::random(f32, count, 2), n}, {5, 1, 1},
             {.ulps = 16});
  }
}

// Columns that wrap around, or do not: the same kernel reads neighbours, or gathers.
TEST(CpuKernels, WrappedIndices) {
  const ir::Kernel kernel = ir::parse(R"(
kernel @wrapped(%in: *f32, %out: *f32, %first: i32, %n: i32, %row: i32) tile {
  %i = arange {start = 0} : i32[64]
  %firsts = splat %first : i32[64]
  %from = add %i, %firsts : i32[64]
  %ns = splat %n : i32[64]
  %wrapped = rem %from, %ns : i32[64]
  %line = reshape %wrapped : i32[1, 64]
  %across = broadcast %line : i32[8, 64]
  %r = arange {start = 0} : i32[8]
  %column = reshape %r : i32[8, 1]
  %rows = splat %row : i32[8, 1]
  %down = mul %column, %rows : i32[8, 1]
  %deep = broadcast %down : i32[8, 64]
  %places = add %deep, %across : i32[8, 64]
  %base = splat %in : *f32[8, 64]
  %p = offset %base, %places : *f32[8, 64]
  %x = load %p : f32[8, 64]
  %one = constant {value = 1} : i64
  %width = constant {value = 64} : i64
  %q = affine %out, %width, %one : *f32[8, 64]
  store %q, %x
}
)");
  EXPECT_THAT(cpu_text(kernel), testing::HasSubstr("tw::is_run(wrapped_tile, 64)"));
  for (const auto& [first, n] : {std::pair(0, 200), std::pair(100, 200), std::pair(30, 50)})
    run_both(kernel, {Memory::random(f32, 8 * 200, 3), Memory::random(f32, 512, 4),
                      std::int64_t{first}, std::int64_t{n}, std::int64_t{200}});
}

}  // namespace
}  // namespace tilewright::testing_cpu
