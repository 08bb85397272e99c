// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/dtypes_test.cpp — every element type and conversion, every arithmetic op and
// function, against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace tilewright {
namespace {

constexpr const char* all_types[] = {"fp32", "fp64", "fp16", "bf16", "fp8e4nv", "fp8e5", "i8",
                                     "i16",  "i32",  "i64",  "u8",   "u16",     "u32",   "u64"};

DType dtype_of_name(const std::string& name) {
  if (name == "fp8e4nv") return f8e4m3;
  if (name == "fp8e5") return f8e5m2;
  if (name.starts_with("fp")) return parse_dtype("float" + name.substr(2));
  return name == "bf16" ? bf16 : parse_dtype(name);
}

class CudaCasts : public ::testing::TestWithParam<const char*> {};

// One type to all others.
TEST_P(CudaCasts, ToEveryType) {
  const std::string from = GetParam();
  std::string parameters = "x_ptr";
  std::string stores;
  std::string signature = "*" + from + ":16";
  std::vector<Memory> outs;
  Memory x = numbers(dtype_of_name(from), 512, 1);
  if (is_floating(x.dtype)) {
    x.set(3, 1e30);
    x.set(4, -1e30);
    x.set(5, 100.5);
    x.set(6, 0.0);
  }
  for (const char* to : all_types) {
    const std::string name = fmt::format("{}_ptr", to);
    parameters += ", " + name;
    signature += fmt::format(", *{}:16", to);
    // Triton has no conversion between eight-bit floats and integers.
    const bool is_detour = (size_of(x.dtype) == 1 && is_floating(x.dtype)) ||
                           (is_floating(dtype_of_name(to)) && size_of(dtype_of_name(to)) == 1);
    stores += fmt::format("    tl.store({0} + i, x{1}.to({0}.dtype.element_ty), mask=i < 500)\n",
                          name, is_detour ? ".to(tl.float32)" : "");
    outs.push_back(zeros(dtype_of_name(to), 512));
  }
  const TileProgram program(fmt::format(R"(
@triton.jit
def cast_kernel({}):
    i = tl.arange(0, 512)
    x = tl.load(x_ptr + i, mask=i < 500)
{})",
                                        parameters, stores),
                            "cast_kernel", signature, 2);
  std::vector<RunArgument> arguments = {&x};
  for (Memory& out : outs) arguments.emplace_back(&out);
  program.expect_same({.arguments = arguments});
}

INSTANTIATE_TEST_SUITE_P(From, CudaCasts,
                         ::testing::Values("fp32", "fp64", "bf16", "fp8e4nv", "i8", "u32", "i64"));

class CudaArithmetic : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaArithmetic, AllOps) {
  const std::string name = GetParam();
  const DType dtype = dtype_of_name(name);
  std::vector<std::string> values = {"x + y",
                                     "x - y",
                                     "x * y",
                                     "-x",
                                     "tl.maximum(x, y)",
                                     "tl.minimum(x, y)",
                                     "tl.abs(x)",
                                     "tl.where(x < y, x, y)"};
  if (is_floating(dtype)) {
    for (const char* text : {"x / y", "tl.fma(x, y, x)"}) values.emplace_back(text);
  } else {
    for (const char* text :
         {"x // y", "x % y", "x & y", "x | y", "x ^ y", "~x", "x << (y & 7)", "x >> (y & 7)"})
      values.emplace_back(text);
  }
  std::string body;
  for (std::size_t k = 0; k < values.size(); ++k)
    body += fmt::format("    tl.store(out_ptr + {} + i, ({}).to(out_ptr.dtype.element_ty))\n",
                        256 * k, values[k]);
  const TileProgram program(fmt::format(R"(
@triton.jit
def ops_kernel(x_ptr, y_ptr, out_ptr):
    i = tl.arange(0, 256)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
{})",
                                        body),
                            "ops_kernel", fmt::format("*{0}:16, *{0}:16, *{0}:16", name), 2);
  Memory x = numbers(dtype, 256, 1);
  Memory y = numbers(dtype, 256, 2);
  for (std::size_t i = 0; i < 256; ++i)
    if (y.at(i) == 0) y.set(i, 3);
  Memory out = zeros(dtype, 256 * values.size());
  program.expect_same({.arguments = {&x, &y, &out},
                       .tolerance = dtype == f32   ? 1e-6
                                    : dtype == f64 ? 1e-12
                                                   : 0});
}

INSTANTIATE_TEST_SUITE_P(Types, CudaArithmetic,
                         ::testing::Values("fp32", "fp64", "fp16", "bf16", "i8", "i32", "u16",
                                           "u64"));

TEST(CudaMath, FunctionsOfFloats) {
  std::string ops;
  int count = 0;
  for (const char* function :
       {"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf", "floor", "ceil"}) {
    ops += fmt::format(R"(  %r{0} = math %x {{function = "{1}"}} : f32[256]
  %o{0} = constant {{value = {2}}} : i64
  %b{0} = offset %out, %o{0} : *f32
  %p{0} = affine %b{0}, %one : *f32[256]
  store %p{0}, %r{0}
)",
                       count, function, 256 * count);
    ++count;
  }
  for (const char* function : {"tanh", "expm1", "log1p", "atan", "erfc", "cbrt", "trunc", "round",
                               "rint", "erfinv", "log10", "tan", "sinh", "asinh"}) {
    ops += fmt::format(R"(  %r{0} = math %x {{function = "{1}"}} : f32[256]
  %o{0} = constant {{value = {2}}} : i64
  %b{0} = offset %out, %o{0} : *f32
  %p{0} = affine %b{0}, %one : *f32[256]
  store %p{0}, %r{0}
)",
                       count, function, 256 * count);
    ++count;
  }
  const TileProgram program = TileProgram::from_ir(fmt::format(R"(
kernel @functions(%in: *f32, %out: *f32) tile {{
  %one = constant {{value = 1}} : i64
  %pin = affine %in, %one : *f32[256]
  %x = load %pin : f32[256]
{}}}
)",
                                                               ops));
  Memory x = numbers(f32, 256, 1);
  for (std::size_t i = 0; i < 256; ++i)
    x.set(i, (static_cast<double>(i) + 0.5) / (i < 200 ? 200.0 : 20.0));
  Memory out = zeros(f32, static_cast<std::size_t>(256 * count));
  program.expect_same({.arguments = {&x, &out}, .tolerance = 2e-6});
}

}  // namespace
}  // namespace tilewright
