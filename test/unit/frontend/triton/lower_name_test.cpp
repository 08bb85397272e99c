// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_name_test.cpp — names, calls and constants, by what kernels compute.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/print.h"
#include "run_kernel.h"

namespace tilewright::triton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerName, ModuleConstants) {
  const std::string before = R"(import math
SIZE = tl.constexpr(4)
WIDTH: tl.constexpr = 2 * 8
TABLE = (3, 5)
LOG = tl.constexpr(math.log2(8.0))
KIND = tl.int32
)";
  const std::string text = kernel_text(
      "x = tl.sum(tl.arange(0, SIZE)) + WIDTH + TABLE[1]\n"
      "if LOG == 3.0:\n    x += 100\ntl.store(out, x.to(KIND))",
      before);
  EXPECT_EQ(run_kernel(text).front(), 6 + 16 + 5 + 100);
  const LoweredKernel made = lower_text(text, "k out=*i32 n=i32 m=i32");
  ASSERT_EQ(made.notes.size(), 1u);
  EXPECT_THAT(made.notes[0], HasSubstr("kernel.py:11: the global 'WIDTH' is read as a constant; "
                                       "Triton wants it wrapped in tl.constexpr(...)"));
}

TEST(LowerName, ConstantsOfOtherPackagesThatCanBeTold) {
  const std::string text = kernel_text(
      "x = n\n"
      "if tl.constexpr(torch.version.hip is not None):\n    x += 1000\n"
      "top: tl.constexpr = torch.finfo(torch.float16).max\n"
      "tl.store(out, x + (top + torch.iinfo(torch.int8).min).to(tl.int32))",
      "import torch\n");
  EXPECT_EQ(run_kernel(text, 5).front(), 5 + 65504 - 128);
  // A name of the kernel hides one of the module.
  const std::string hidden = kernel_text(
      "T: tl.constexpr = tl.float32\ntl.store(out, torch.finfo(T).max.to(tl.int32))",
      "import torch\nT = torch.float16\n");
  EXPECT_THROW(run_kernel(hidden), SyntaxOrTypeError);
}

TEST(LowerName, AttributesOfElementTypes) {
  const std::string text = kernel_text(
      "x = tl.float16.primitive_bitwidth + 100 * tl.int64.itemsize\n"
      "if tl.bfloat16.is_floating() and not tl.int8.is_fp8():\n"
      "    x += tl.float32.fp_mantissa_width\n"
      "tl.store(out, x + (tl.uint8.int_bitwidth + n) * 1000)");
  EXPECT_EQ(run_kernel(text, 5, 0, 1).front(), 16 + 800 + 23 + 13000);
}

TEST(LowerName, EverythingOfThePackage) {
  const std::string text = R"(import triton
from triton.language import *
@triton.jit
def k(out, n, m):
    i = arange(0, 4)
    store(out + i, max(i, 0) + where(i > 1, 10, 0))
)";
  const std::vector<std::int32_t> result = run_kernel(text, 5, 7, 4);
  EXPECT_THAT(result, ElementsAre(3, 3, 13, 13));
}

TEST(LowerName, FunctionsAsValues) {
  const std::string before = R"(@triton.jit
def double(x):
    return x * 2
@triton.jit
def apply(f: tl.constexpr, x, *rest):
    for i in tl.static_range(len(rest)):
        x += rest[i]
    return f(x)
alias = double
)";
  EXPECT_EQ(run_kernel(kernel_text("tl.store(out, apply(alias, n, 1, m))", before), 5, 7).front(),
            26);
}

TEST(LowerName, PlainFunctionsRunOnConstants) {
  const std::string before = R"(def log2(n):
    bits = 0
    while n > 1:
        n //= 2
        bits += 1
    return bits
def width(dtype):
    if dtype == tl.float16:
        return 2
    return 4
@triton.constexpr_function
def biggest(*values):
    return max(values)
)";
  EXPECT_EQ(run_kernel(kernel_text("w: tl.constexpr = width(tl.float16)\n"
                                   "tl.store(out, tl.sum(tl.arange(0, log2(16))) * 100 + w * 10 + "
                                   "biggest(1, C, 2))",
                                   before))
                .front(),
            623);
}

TEST(LowerName, ConstantsOfTheFunctionAround) {
  const std::string text = header + R"(def make(scale=10):
    import triton.language as lang
    size = 2
    twice = size * 2
    @triton.jit
    def helper(x):
        return x + twice
    @triton.jit
    def k(out, n, m):
        lang.store(out, lang.sum(lang.arange(0, twice)) * scale + helper(n))
    return k
)";
  EXPECT_EQ(run_kernel(text, 5).front(), 69);
}

TEST(LowerName, ImportsInsideFunctions) {
  EXPECT_EQ(run_body("import triton.language as lang\nlang.store(out, lang.maximum(n, m))"), 7);
}

TEST(LowerCall, ArgumentsByPositionNameAndDefault) {
  const std::string before = R"(@triton.jit
def f(a, b=2, *, c: tl.constexpr = 3):
    return a * 100 + b * 10 + c
)";
  EXPECT_EQ(
      run_kernel(kernel_text("p = (n, m)\ntl.store(out, f(1) + f(*p, c=4) + f(b=1, a=2))", before))
          .front(),
      123 + 574 + 213);
}

TEST(LowerCall, RecursionOverConstantsEnds) {
  const std::string before = R"(@triton.jit
def power(x, N: tl.constexpr):
    if N == 0:
        return 1
    return x * power(x, N - 1)
)";
  EXPECT_EQ(run_kernel(kernel_text("tl.store(out, power(n, 3))", before), 5).front(), 125);
}

TEST(LowerStatement, Assignments) {
  EXPECT_EQ(run_body(R"(a, (b, c) = n, (m, 1)
a, b = b, a
d = e = a + b
d <<= 1
s: tl.constexpr
s = C - 1
f: int = tl.sum(tl.arange(0, s))
tl.store(out, ((x := d) + e) * 10 + f + c + x * 0))"),
            362);
}

TEST(LowerStatement, ListComprehensionAndFormattedText) {
  EXPECT_EQ(run_body(R"(a, b = [x * 2 for x in (n, m)]
tl.static_assert(C == 3, f"C is {C} and {a}")
tl.store(out, a + b))"),
            24);
}

TEST(LowerCall, ClassesOfFields) {
  const std::string before = R"(from typing import NamedTuple
class Pair(NamedTuple):
    first: object
    size: object = 4
@triton.jit
def total(pair):
    return pair.first + tl.sum(tl.arange(0, pair.size))
)";
  EXPECT_EQ(run_kernel(kernel_text("p = Pair(n)\ntl.store(out, total(p) + total(Pair(m, size=2)))",
                                   before))
                .front(),
            5 + 6 + 7 + 1);
  EXPECT_THAT(body_error("p = Pair()", before),
              HasSubstr("'Pair' needs a value for its field 'first'"));
}

TEST(LowerKernel, DescriptorsOfTheHost) {
  const std::string text = header + R"(@triton.jit
def k(x, out):
    block = x.load([0, 4])
    tl.store(out, tl.sum(block) + x.shape[1])
)";
  python::ModuleLoader loader;
  const auto functions = python::jit_functions(loader, loader.load_text("kernel.py", text));
  ParameterType x;
  x.kind = ParameterType::Kind::Descriptor;
  x.type = ir::Type::pointer(i32);
  x.block_shape = {2, 4};
  const LoweredKernel made =
      lower(loader, functions[0], {{"x", x}, {"out", parse_parameter("*i64")}}, {});
  EXPECT_THAT(made.argument_names,
              ElementsAre("x", "x.shape.0", "x.shape.1", "x.strides.0", "out"));
  std::vector<std::int32_t> data(18);
  std::iota(data.begin(), data.end(), 0);
  std::int64_t out = 0;
  const ir::InterpretBuffer buffers[] = {{.name = "x", .data = data.data(), .bytes = 72},
                                         {.name = "out", .data = &out, .bytes = 8}};
  const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0}, std::int64_t{3},
                                             std::int64_t{6}, std::int64_t{6},
                                             ir::InterpretPointer{1}};
  ir::interpret(made.kernel, buffers, arguments, {});
  EXPECT_EQ(out, 4 + 5 + 10 + 11 + 6);  // the last two columns are outside
}

TEST(LowerKernel, ArgumentsAndPlaces) {
  const LoweredKernel made = lower_text(header + R"(@triton.jit
def k(pointers, scale, n, FLAG: tl.constexpr):
    x = tl.load(pointers[0] + n)
    tl.store(pointers[1], x * scale)
)",
                                        "k pointers=(*f32:16;*f32) scale=f32 n=i32:16 FLAG=true");
  EXPECT_THAT(made.argument_names, ElementsAre("pointers.0", "pointers.1", "scale", "n"));
  EXPECT_EQ(
      ir::print(made.kernel),
      R"(kernel @k(%pointers_0: *f32 {divisible = 16}, %pointers_1: *f32, %scale: f32, %n: i32 {divisible = 16}) source "kernel.py" {
  %0 = offset %pointers_0, %n : *f32 @5:17
  %x = load %0 : f32 @5:9
  %1 = mul %x, %scale : f32 @6:27
  store %pointers_1, %1 @6:5
}
)");
}

}  // namespace
}  // namespace tilewright::triton
