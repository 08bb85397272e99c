// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/ops_test.cpp — every elementwise op and every conversion, over its types.
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/interpret/tile.h"
#include "ir/op.h"
#include "run_both.h"

namespace tilewright::testing_cpu {
namespace {

constexpr DType integers[] = {i8, i16, i32, i64, u8, u16, u32, u64};
constexpr DType floats[] = {f64, f32, f16, bf16, f8e4m3, f8e5m2};
constexpr DType every[] = {f64, f32, f16, bf16, f8e4m3, f8e5m2, i8, i16,
                           i32, i64, u8,  u16,  u32,    u64,    b1};

std::string name(DType dtype) { return std::string(ir::short_name_of(dtype)); }

// A kernel of `count` elements: each line of `ops` reads %a, %b, %c of type `in` and makes %r of
// its own type, which is stored in the output of that type.
class OpsKernel {
 public:
  OpsKernel(DType in, int count) : in_(in), count_(count) {}

  void add(const std::string& op, DType out) {
    const int k = static_cast<int>(outputs_.size());
    outputs_.push_back(out);
    body_ += fmt::format("  %r{} = {} : {}[{}]\n", k, op, name(out), count_);
    body_ += fmt::format("  %p{0} = affine %out{0}, %one : *{1}[{2}]\n", k, name(out), count_);
    body_ += fmt::format("  store %p{0}, %r{0}\n", k);
  }

  void run(const std::vector<Memory>& inputs, const Tolerance& tolerance) const {
    std::string head = "kernel @ops(", loads;
    std::vector<TestArgument> arguments;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const char letter = static_cast<char>('a' + i);
      head += fmt::format("{}%in{}: *{}", i ? ", " : "", letter, name(in_));
      loads +=
          fmt::format("  %q{0} = affine %in{0}, %one : *{1}[{2}]\n  %{0} = load %q{0} : {1}[{2}]\n",
                      letter, name(in_), count_);
      arguments.emplace_back(inputs[i]);
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      head += fmt::format(", %out{}: *{}", k, name(outputs_[k]));
      arguments.emplace_back(
          Memory{outputs_[k],
                 std::vector<std::byte>(static_cast<std::size_t>(count_) * size_of(outputs_[k]))});
    }
    run_both(head + ") tile {\n  %one = constant {value = 1} : i64\n" + loads + body_ + "}\n",
             arguments, {1, 1, 1}, tolerance);
  }

 private:
  DType in_;
  int count_;
  std::vector<DType> outputs_;
  std::string body_;
};

// Every pair of interesting values meets: `a` holds each 16 times, `b` cycles through them.
Memory special(DType dtype, int count, bool is_fast) {
  std::vector<double> numbers = {0,  -0.0, 1,  -1,  2,   -3,   7,   31,
                                 32, 63,   64, 100, 127, -128, 0.5, 3.75};
  const Memory bits = Memory::random(dtype, static_cast<std::size_t>(count), 77, 300);
  Memory out = bits;
  for (int i = 0; i < count; ++i) {
    const int pick = is_fast ? i % 17 : i / 17 % 17;
    ir::Element element;
    const double number = numbers[static_cast<std::size_t>(pick % 16)];
    if (is_floating(dtype)) {
      element.f = number;
      if (pick == 14) element.f = std::numeric_limits<double>::infinity();
      if (pick == 15) element.f = std::nan("");
      element.f = ir::round_to(dtype, element.f);
    } else {
      element.i = static_cast<std::int64_t>(number);
      if (pick == 14) element.i = std::int64_t{1} << (size_of(dtype) * 8 - 1);
      element.i = ir::wrap(dtype, element.i);
    }
    if (pick != 16 && i < 289)
      ir::write_element(dtype, element,
                        out.bytes.data() + static_cast<std::size_t>(i) * size_of(dtype));
  }
  return out;
}

TEST(CpuOps, IntegerArithmetic) {
  constexpr int count = 512;
  for (const DType dtype : integers) {
    OpsKernel kernel(dtype, count);
    for (const char* op : {"add", "sub", "mul", "mulhi", "div", "rem", "min", "max", "and", "or",
                           "xor", "shl", "shr"})
      kernel.add(fmt::format("{} %a, %b", op), dtype);
    for (const char* op : {"neg", "abs"}) kernel.add(fmt::format("{} %a", op), dtype);
    kernel.add("fma %a, %b, %a", dtype);
    for (const char* is : {"eq", "ne", "lt", "le", "gt", "ge"})
      kernel.add(fmt::format("compare %a, %b {{is = \"{}\"}}", is), b1);
    for (const char* function : {"popcount", "clz"})
      kernel.add(fmt::format("math %a {{function = \"{}\"}}", function), i32);
    SCOPED_TRACE(name(dtype));
    kernel.run({special(dtype, count, false), special(dtype, count, true)}, {});
    if (HasFailure()) return;
  }
}

TEST(CpuOps, FloatArithmetic) {
  constexpr int count = 512;
  for (const DType dtype : floats) {
    OpsKernel kernel(dtype, count);
    for (const char* op : {"add", "sub", "mul", "div", "rem", "min", "max"})
      kernel.add(fmt::format("{} %a, %b", op), dtype);
    for (const char* op : {"min", "max"})
      kernel.add(fmt::format("{} %a, %b {{nan = \"propagate\"}}", op), dtype);
    for (const char* op : {"neg", "abs"}) kernel.add(fmt::format("{} %a", op), dtype);
    kernel.add("fma %a, %b, %a", dtype);
    kernel.add("div %a, %b {exact = 1}", dtype);
    for (const char* is : {"eq", "ne", "lt", "le", "gt", "ge"})
      kernel.add(fmt::format("compare %a, %b {{is = \"{}\"}}", is), b1);
    for (const char* function : {"isnan", "isinf", "isfinite", "signbit"})
      kernel.add(fmt::format("math %a {{function = \"{}\"}}", function), i32);
    SCOPED_TRACE(name(dtype));
    kernel.run({special(dtype, count, false), special(dtype, count, true)}, {.ulps = 0});
    if (HasFailure()) return;
  }
}

// A product that lies in the middle of two numbers of the type, and a third one that is far smaller
// and decides.
TEST(CpuOps, ProductsAndSumsAreRoundedOnce) {
  constexpr int count = 16384;
  for (const DType dtype : floats) {
    std::vector<Memory> inputs;
    for (int input = 0; input < 3; ++input) {
      Memory memory = Memory::random(dtype, count, 5, 300);
      for (int i = 0; i < count; ++i) {
        ir::Element element;
        if (input < 2) element.f = 1 + (input == 0 ? i % 128 : i / 128);
        else element.f = std::ldexp(i % 3 == 0 ? -1.0 : 1.0, -(i % 131));
        element.f = ir::round_to(dtype, element.f);
        ir::write_element(dtype, element,
                          memory.bytes.data() + static_cast<std::size_t>(i) * size_of(dtype));
      }
      inputs.push_back(std::move(memory));
    }
    OpsKernel kernel(dtype, count);
    kernel.add("fma %a, %b, %c", dtype);
    SCOPED_TRACE(name(dtype));
    kernel.run(inputs, {.ulps = 0});
  }
}

// By one number for all, and by a number of its own that a product is made with: the smallest
// numbers, on either side, and the largest.
TEST(CpuOps, DivisionsOfTheSmallestAndTheLargest) {
  std::vector<float> dividends,
      divisors = {0x1.8p-65f, 0x1p-64f, 0x1.3p-66f, 0x1.2p-100f, 0x1p-126f,   0x1.8p-129f,
                  0x1p-149f,  3.0f,     0x1.8p70f,  0x1p127f,    -0x1.8p-65f, -0x1p-140f};
  for (int i = 0; i < 512; ++i)
    dividends.push_back(static_cast<float>(std::ldexp(i % 7 + 1, i % 278 - 149)));
  for (const float divisor : divisors) {
    SCOPED_TRACE(divisor);
    run_both(R"(
kernel @divisions(%x: *f32, %y: *f32, %by_one: *f32, %by_own: *f32) tile {
  %one = constant {value = 1} : i64
  %d = load %y : f32
  %p = affine %x, %one : *f32[512]
  %v = load %p : f32[512]
  %ds = splat %d : f32[512]
  %r = div %v, %ds : f32[512]
  %to = affine %by_one, %one : *f32[512]
  store %to, %r
  %number = constant {value = 1.0} : f32
  %ones = splat %number : f32[512]
  %inverse = div %ones, %v : f32[512]
  %product = mul %ds, %inverse : f32[512]
  %into = affine %by_own, %one : *f32[512]
  store %into, %product
}
)",
             {Memory::of(f32, dividends), Memory::of(f32, std::vector<float>{divisor}),
              Memory::random(f32, 512, 1), Memory::random(f32, 512, 2)},
             {1, 1, 1}, {.ulps = 2});
  }
}

// x * (1 / y) is one division only where no inverse is infinite.
TEST(CpuOps, AnInverseIsInfiniteBeforeItIsMultiplied) {
  std::vector<float> x, y;
  for (const float a : {0.0F, 1e-30F, -1e-38F, 3.0F, 1e38F, HUGE_VALF, -HUGE_VALF, NAN})
    for (const float b : {1e-40F, -1e-39F, 0.0F, -0.0F, 2e-38F, 1.0F, 3e38F, HUGE_VALF}) {
      x.push_back(a);
      y.push_back(b);
    }
  run_both(R"(kernel @inverse(%x: *f32, %y: *f32, %out: *f32) tile {
  %one = constant {value = 1} : i64
  %xs = affine %x, %one : *f32[64]
  %ys = affine %y, %one : *f32[64]
  %to = affine %out, %one : *f32[64]
  %a = load %xs : f32[64]
  %b = load %ys : f32[64]
  %c = constant {value = 1.0} : f32[64]
  %q = div %c, %b : f32[64]
  %r = mul %a, %q : f32[64]
  store %to, %r
}
)",
           {Memory::of(f32, x), Memory::of(f32, y), Memory::of(f32, std::vector<float>(64))},
           {1, 1, 1}, {.ulps = 4});
}

// All patterns of the type where there are at most 65536, else many at random.
Memory patterns(DType dtype) {
  const std::size_t count = 65536;
  if (size_of(dtype) <= 2 && dtype != b1) {
    Memory all{dtype, std::vector<std::byte>(count * size_of(dtype))};
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(all.bytes.data() + i * size_of(dtype), &i, size_of(dtype));
    return all;
  }
  Memory out = Memory::random(dtype, count, 5, 100000);
  if (dtype == b1) return out;
  // Patterns at random reach every exponent; halfway cases of f16 and bf16 are made on purpose.
  for (std::size_t i = 0; i < count / 2; ++i) {
    if (dtype == f32) {
      std::uint32_t bits = static_cast<std::uint32_t>(i * 2654435761u);
      if (i % 4 == 0) bits = (bits & 0xffffe000u) | 0x1000u;
      if (i % 4 == 1) bits = (bits & 0xffff0000u) | 0x8000u;
      // The interpreter has no signalling NaN.
      if ((bits & 0x7f800000u) == 0x7f800000u) bits |= 0x00400000u;
      std::memcpy(out.bytes.data() + i * 4, &bits, 4);
    }
    if (dtype == f64 && i % 2) {
      const double value = std::ldexp(1.0 + static_cast<double>(i % 4096) / 4096 + 0x1p-40,
                                      static_cast<int>(i % 60) - 30);
      std::memcpy(out.bytes.data() + i * 8, &value, 8);
    }
  }
  return out;
}

TEST(CpuOps, EveryCast) {
  for (const DType from : every) {
    OpsKernel kernel(from, 65536);
    for (const DType to : every) kernel.add("cast %a", to);
    if (is_floating(from))
      for (const DType to : {f16, bf16, f8e4m3, f8e5m2})
        if (size_of(to) < size_of(from)) kernel.add("cast %a {rounding = \"rtz\"}", to);
    if (is_floating(from) && size_of(from) > 1)
      for (const DType to : {f8e4m3, f8e5m2}) kernel.add("cast %a {rounding = \"saturate\"}", to);
    if (from == f64) kernel.add("cast %a {rounding = \"rtz\"}", f32);
    // The interpreter has one NaN per small float, so their patterns are not compared.
    const bool has_bits = from != b1 && !(is_floating(from) && size_of(from) <= 2);
    for (const DType to : every)
      if (size_of(to) == size_of(from) && to != b1 && has_bits) kernel.add("bitcast %a", to);
    SCOPED_TRACE(name(from));
    kernel.run({patterns(from)}, {.ulps = 0});
    if (HasFailure()) return;
  }
}

TEST(CpuOps, EveryMathFunction) {
  constexpr int count = 4096;
  for (const DType dtype : {f32, f64, f16, bf16}) {
    OpsKernel kernel(dtype, count);
    for (const ir::MathFacts& function : ir::all_math_functions()) {
      if (function.name == "popcount" || function.name == "clz" ||
          function.name.starts_with("is") || function.name == "signbit" ||
          function.name == "nextafter")
        continue;
      kernel.add(fmt::format("math %a{} {{function = \"{}\"}}",
                             function.operands == 2 ? ", %b" : "", function.name),
                 dtype);
    }
    SCOPED_TRACE(name(dtype));
    kernel.run(
        {Memory::random(dtype, count, 1, 8), special(dtype, count, false)},
        {.ulps = dtype == f32 || dtype == f64 ? 3.0 : 1.0, .absolute = dtype == f32 ? 1e-10 : 0});
    kernel.run(
        {special(dtype, count, true), special(dtype, count, false)},
        {.ulps = dtype == f32 || dtype == f64 ? 3.0 : 1.0, .absolute = dtype == f32 ? 1e-10 : 0});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tilewright::testing_cpu
