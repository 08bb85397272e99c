// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/across_test.cpp — reductions over each axis, scans, dot, and ops that move elements.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run_both.h"

namespace tilewright::testing_cpu {
namespace {

std::string name(DType dtype) { return std::string(ir::short_name_of(dtype)); }

// Loads %x of f32 or i32 [4, 8, 16] from a contiguous buffer and stores %r (of the shape given).
std::string tile_kernel(DType dtype, const std::string& body, const std::string& result_shape,
                        const std::string& strides, DType out) {
  return fmt::format(R"(
kernel @move(%in: *{0}, %out: *{4}) tile {{
  %one = constant {{value = 1}} : i64
  %two = constant {{value = 2}} : i64
  %four = constant {{value = 4}} : i64
  %eight = constant {{value = 8}} : i64
  %sixteen = constant {{value = 16}} : i64
  %thirtytwo = constant {{value = 32}} : i64
  %sixtyfour = constant {{value = 64}} : i64
  %plane = constant {{value = 128}} : i64
  %p = affine %in, %plane, %sixteen, %one : *{0}[4, 8, 16]
  %x = load %p : {0}[4, 8, 16]
{1}
  %q = affine %out, {3} : *{4}[{2}]
  store %q, %r
}}
)",
                     name(dtype), body, result_shape, strides, name(out));
}

void run(DType dtype, const std::string& body, const std::string& result_shape,
         const std::string& strides, std::size_t results, const Tolerance& tolerance = {},
         DType out = DType::Bool) {
  if (out == DType::Bool) out = dtype;
  run_both(tile_kernel(dtype, body, result_shape, strides, out),
           {Memory::random(dtype, 512, 9), Memory::random(out, results, 10)}, {1, 1, 1}, tolerance);
}

const std::pair<std::string, std::string> axis_results[] = {
    {"8, 16", "%sixteen, %one"}, {"4, 16", "%sixteen, %one"}, {"4, 8", "%eight, %one"}};

TEST(CpuAcross, ReductionsOverEachAxis) {
  for (int axis = 0; axis < 3; ++axis)
    for (const auto& [op, dtype] : {std::pair("add", f32), std::pair("max", f32),
                                    std::pair("min", i32), std::pair("mul", i32)}) {
      const auto& [shape, strides] = axis_results[axis];
      SCOPED_TRACE(fmt::format("{} over axis {} of {}", op, axis, name(dtype)));
      run(dtype,
          fmt::format("  %r = reduce %x {{axis = {0}}} : {1}[{2}] (%a: {1}, %b: {1}) {{\n    %c = "
                      "{3} %a, %b : {1}\n    yield %c\n  }}",
                      axis, name(dtype), shape, op),
          shape, strides, 128, {.ulps = 16, .absolute = 1e-5});
      if (HasFailure()) return;
    }
}

// The larger value and its place: two operands, a region with selections.
TEST(CpuAcross, AReductionOfPairs) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto& [shape, strides] = axis_results[axis];
    const std::string places = axis == 0 ? "4, 1, 1" : axis == 1 ? "1, 8, 1" : "1, 1, 16";
    const int size = axis == 0 ? 4 : axis == 1 ? 8 : 16;
    run(i32,
        fmt::format(R"(  %range = arange {{start = 0}} : i32[{4}]
  %column = reshape %range : i32[{3}]
  %places = broadcast %column : i32[4, 8, 16]
  %v, %r = reduce %x, %places {{axis = {0}}} : i32[{1}], i32[{1}] (%a: i32, %i: i32, %b: i32, %j: i32) {{
    %gt = compare %a, %b {{is = "gt"}} : b1
    %eq = compare %a, %b {{is = "eq"}} : b1
    %lower = compare %i, %j {{is = "lt"}} : b1
    %tie = and %eq, %lower : b1
    %first = or %gt, %tie : b1
    %best = select %first, %a, %b : i32
    %at = select %first, %i, %j : i32
    yield %best, %at
  }})",
                    axis, shape, 0, places, size),
        shape, strides, 128);
    if (HasFailure()) return;
  }
}

// The region's values have the names of the results, of the operand and of the loops.
TEST(CpuAcross, NamesInsideAReductionHideNothing) {
  run(i32,
      R"(  %n, %s = reduce %x, %x {axis = 2} : i32[4, 8], i32[4, 8] (%na: i32, %sa: i32, %nb: i32, %sb: i32) {
    %n_ = add %na, %nb : i32
    %x_ = sub %n_, %na : i32
    %i_ = add %x_, %na : i32
    %j_ = mul %sa, %sb : i32
    yield %i_, %j_
  }
  %r = add %n, %s : i32[4, 8])",
      "4, 8", "%eight, %one", 32);
}

TEST(CpuAcross, Scans) {
  for (int axis = 0; axis < 3; ++axis)
    for (const int reverse : {0, 1}) {
      run(i32,
          fmt::format(
              "  %r = scan %x {{axis = {}, reverse = {}}} : i32[4, 8, 16] (%a: i32, %b: i32) "
              "{{\n    %t = add %a, %a : i32\n    %c = add %t, %b : i32\n    yield %c\n  }}",
              axis, reverse),
          "4, 8, 16", "%plane, %sixteen, %one", 512);
      if (HasFailure()) return;
    }
}

// Sums along every axis, of as many elements as a vector has, more and fewer.
TEST(CpuAcross, RunningSums) {
  for (const DType dtype : {f32, i32, f64, i64}) {
    std::string body = "  %s0 = reshape %x : {0}[4, 8, 16]\n";
    int number = 0;
    for (const int reverse : {0, 1})
      for (const char* shape : {"4, 8, 16", "256, 2", "512"}) {
        const int axis = std::string_view(shape) == "512" ? 0 : number % 3 == 0 ? 2 : 1;
        body += fmt::format(
            "  %t{0} = reshape %s{0} : {{0}}[{1}]\n"
            "  %u{0} = scan %t{0} {{{{axis = {2}, reverse = {3}}}}} : {{0}}[{1}] (%a{0}: {{0}}, "
            "%b{0}: {{0}}) {{{{\n"
            "    %c{0} = add %a{0}, %b{0} : {{0}}\n    yield %c{0}\n  }}}}\n"
            "  %s{4} = reshape %u{0} : {{0}}[4, 8, 16]\n",
            number, shape, axis, reverse, number + 1);
        ++number;
      }
    body += fmt::format("  %r = reshape %s{} : {{0}}[512]", number);
    SCOPED_TRACE(name(dtype));
    run(dtype, fmt::format(fmt::runtime(body), name(dtype)), "512", "%one", 512,
        {.ulps = 64, .absolute = 4096.0 * (dtype == f64 ? 1e-8 : 1.0)});
    if (HasFailure()) return;
  }
}

TEST(CpuAcross, Movement) {
  run(i16, "  %r = permute %x {order = [2, 0, 1]} : i16[16, 4, 8]", "16, 4, 8",
      "%thirtytwo, %eight, %one", 512);
  run(i16, "  %r = reshape %x : i16[16, 32]", "16, 32", "%thirtytwo, %one", 512);
  run(i16, "  %t = permute %x {order = [1, 2, 0]} : i16[8, 16, 4]\n  %r = reshape %t : i16[512]",
      "512", "%one", 512);
  run(i16, "  %c = concatenate %x, %x {axis = 1} : i16[4, 16, 16]\n  %r = reshape %c : i16[1024]",
      "1024", "%one", 1024);
  run(i16,
      "  %y = neg %x : i16[4, 8, 16]\n  %j = join %x, %y : i16[4, 8, 16, 2]\n  %r = reshape %j : "
      "i16[1024]",
      "1024", "%one", 1024);
  run(i16,
      "  %h = reshape %x : i16[4, 64, 2]\n  %a, %b = split %h : i16[4, 64], i16[4, 64]\n  %r = sub "
      "%a, %b : i16[4, 64]",
      "4, 64", "%sixtyfour, %one", 256);
  run(i32,
      "  %m = constant {value = 7} : i32[4, 8, 16]\n  %i = and %x, %m : i32[4, 8, 16]\n  %r = "
      "gather "
      "%x, %i {axis = 1} : i32[4, 8, 16]",
      "4, 8, 16", "%plane, %sixteen, %one", 512);
  run(i32, "  %f = reshape %x : i32[512]\n  %r = histogram %f : i32[16]", "16", "%one", 16);
}

// What a sorting network does: a tile of many dimensions of size 2, reduced over one of them.
TEST(CpuAcross, ManyDimensions) {
  run(i32,
      "  %t = reshape %x : i32[2, 2, 2, 2, 2, 2, 2, 2, 2]\n"
      "  %s = reduce %t {axis = 4} : i32[2, 2, 2, 2, 2, 2, 2, 2] (%a: i32, %b: i32) {\n"
      "    %c = xor %a, %b : i32\n    yield %c\n  }\n"
      "  %e = reshape %s : i32[2, 2, 2, 2, 1, 2, 2, 2, 2]\n"
      "  %w = broadcast %e : i32[2, 2, 2, 2, 2, 2, 2, 2, 2]\n"
      "  %d = xor %w, %t : i32[2, 2, 2, 2, 2, 2, 2, 2, 2]\n"
      "  %r = reshape %d : i32[512]",
      "512", "%one", 512);
}

TEST(CpuAcross, Dot) {
  const auto dot = [](const char* in, const char* out) {
    return fmt::format(
        "  %h = reshape %x : {0}[16, 32]\n"
        "  %t = permute %h {{order = [1, 0]}} : {0}[32, 16]\n"
        "  %z = constant {{value = {2}}} : {1}[16, 16]\n"
        "  %r = dot %h, %t, %z : {1}[16, 16]",
        in, out, std::string_view(out) == "i32" ? "3" : "0.5");
  };
  run(f32, dot("f32", "f32"), "16, 16", "%sixteen, %one", 256, {.ulps = 64, .absolute = 1e-4});
  run(f16, dot("f16", "f32"), "16, 16", "%sixteen, %one", 256, {.ulps = 64, .absolute = 1e-4}, f32);
  run(i8, dot("i8", "i32"), "16, 16", "%sixteen, %one", 256, {}, i32);
  run(f32,
      "  %t = permute %x {order = [0, 2, 1]} : f32[4, 16, 8]\n  %z = constant {value = 0.0} : "
      "f32[4, "
      "8, 8]\n  %r = dot %x, %t, %z : f32[4, 8, 8]",
      "4, 8, 8", "%sixtyfour, %eight, %one", 256, {.ulps = 64, .absolute = 1e-4});
}

}  // namespace
}  // namespace tilewright::testing_cpu
