// SPDX-License-Identifier: Apache-2.0
// passes/axis_info_test.cpp — facts of small kernels, by table.
#include "passes/axis_info.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Value;

Kernel parsed(const std::string& ops) {
  Kernel kernel = ir::parse(
      "kernel @k(%p: *f16 {divisible = 16}, %q: *f16, %n: i32 {divisible = 16}, %m: i32, "
      "%s: i64 {divisible = 16}, %c: b1) tile {\n" +
      ops + "\n}");
  ir::verify(kernel);
  return kernel;
}

Value named(const Kernel& kernel, const std::string& name) {
  for (std::uint32_t id = 0; id < kernel.value_count(); ++id)
    if (kernel.name_of(Value{id}) == name) return Value{id};
  ADD_FAILURE() << "no value %" << name;
  return {};
}

// "contiguous/divisible/constant" of each dimension of %r; most is written 0.
std::string facts_of_r(const std::string& ops) {
  const Kernel kernel = parsed(ops);
  const AxisAnalysis analysis(kernel);
  std::string text;
  for (const AxisFacts& facts : analysis.of(named(kernel, "r")).dimensions)
    text += fmt::format("{}{}/{}/{}", text.empty() ? "" : " ", facts.contiguous,
                        facts.divisible == AxisInfo::most ? 0 : facts.divisible, facts.constant);
  return text;
}

struct Case {
  const char* ops;
  const char* facts;
};

class AxisFactsOf : public testing::TestWithParam<Case> {};

TEST_P(AxisFactsOf, Ops) {
  EXPECT_EQ(facts_of_r(GetParam().ops), GetParam().facts) << GetParam().ops;
}

#define RANGE "%range = arange {start = 0} : i32[64]\n"
#define BLOCK                              \
  RANGE                                    \
  "%pid = program_id {axis = 0} : i32\n"   \
  "%size = constant {value = 64} : i32\n"  \
  "%first = mul %pid, %size : i32\n"       \
  "%first_tile = splat %first : i32[64]\n" \
  "%block = add %first_tile, %range : i32[64]\n"

#define QUOTIENT(divisor, attributes) \
  "%p0 = program_id {axis = 0} : i32\n%share = div %p0, " divisor attributes " : i32\n"
#define BLOCK_OF_QUOTIENT                                                                       \
  RANGE                                                                                         \
  "%size = constant {value = 64} : i32\n"                                                       \
  "%first = mul %share, %size : i32\n"                                                          \
  "%first_tile = splat %first : i32[64]\n"                                                      \
  "%block = add %first_tile, %range : i32[64]\n%t = splat %n : i32[64]\n%r = rem %block, %t : " \
  "i32[64]"

INSTANTIATE_TEST_SUITE_P(
    AxisInfo, AxisFactsOf,
    testing::Values(
        Case{"%r = constant {value = 24} : i32[8]", "1/8/8"},
        Case{"%r = constant {value = 0} : i32", "1/0/1"},
        Case{"%r = arange {start = 0} : i32[64]", "64/0/1"},
        Case{"%r = arange {start = 4} : i32[64]", "64/4/1"},
        Case{"%r = program_id {axis = 0} : i32", "1/1/1"}, Case{"%r = splat %n : i32[8]", "1/16/8"},
        Case{BLOCK "%r = hint %first : i32", "1/64/1"},
        Case{BLOCK "%r = hint %block : i32[64]", "64/64/1"},
        // The sum starts where both start; a small group starts at multiples of its size.
        Case{RANGE "%t = splat %n : i32[64]\n%r = add %range, %t : i32[64]", "64/16/1"},
        Case{RANGE "%t = splat %m : i32[64]\n%r = add %range, %t : i32[64]", "64/1/1"},
        Case{RANGE "%t = splat %n : i32[64]\n%r = sub %range, %t : i32[64]", "64/16/1"},
        Case{RANGE "%t = splat %n : i32[64]\n%r = sub %t, %range : i32[64]", "1/1/1"},
        Case{RANGE "%t = splat %n : i32[64]\n%r = mul %range, %t : i32[64]", "1/16/1"},
        Case{RANGE "%t = constant {value = 1} : i32[64]\n%r = mul %range, %t : i32[64]", "64/0/1"},
        Case{RANGE "%t = constant {value = 3} : i32[64]\n%r = shl %range, %t : i32[64]", "1/8/1"},
        Case{BLOCK "%t = constant {value = 8} : i32[64]\n%r = div %block, %t : i32[64]", "1/1/8"},
        Case{BLOCK "%t = splat %n : i32[64]\n%r = rem %block, %t : i32[64]", "16/16/1"},
        Case{BLOCK "%t = splat %m : i32[64]\n%r = rem %block, %t : i32[64]", "1/1/1"},
        // By a negative divisor or 0 it is negative: the remainders of -96, -95, .. by 48 are no
        // run.
        Case{QUOTIENT("%m", "") BLOCK_OF_QUOTIENT, "1/1/1"},
        Case{QUOTIENT("%n", "") BLOCK_OF_QUOTIENT, "1/1/1"},
        Case{QUOTIENT("%m", " {divisor_from = 1.0}") BLOCK_OF_QUOTIENT, "16/16/1"},
        Case{"%many = num_programs {axis = 0} : i32\n" QUOTIENT("%many", "") BLOCK_OF_QUOTIENT,
             "16/16/1"},
        Case{"%many = num_programs {axis = 0} : i32\n%few = cast %many : i8\n"
             "%some = cast %few : i32\n" QUOTIENT("%some", "") BLOCK_OF_QUOTIENT,
             "1/1/1"},
        Case{QUOTIENT("%m", "") "%zero = constant {value = 0} : i32\n"
                                "%ok = compare %share, %zero {is = \"ge\"} : b1\nassume "
                                "%ok\n" BLOCK_OF_QUOTIENT,
             "16/16/1"},
        Case{
            QUOTIENT("%m", "") "%zero = constant {value = 0} : i32\n"
                               "%ok = compare %share, %zero {is = \"ge\"} : b1\n"
                               "if %c {\nassume %ok\nyield\n} then {\nyield\n}\n" BLOCK_OF_QUOTIENT,
            "1/1/1"},
        // A loop may have no rounds.
        Case{QUOTIENT("%m", "") "%zero = constant {value = 0} : i32\n"
                                "%one = constant {value = 1} : i32\n"
                                "%ok = compare %share, %zero {is = \"ge\"} : b1\n"
                                "for %zero, %m, %one (%k: i32) {\nassume %ok\n"
                                "yield\n}\n" BLOCK_OF_QUOTIENT,
             "1/1/1"},
        // An argument may be negative.
        Case{RANGE "%t = splat %n : i32[64]\n%u = add %range, %t : i32[64]\n"
                   "%r = rem %u, %t : i32[64]",
             "1/1/1"},
        Case{RANGE "%t = splat %n : i32[64]\n%r = compare %range, %t {is = \"lt\"} : b1[64]",
             "1/1/16"},
        Case{RANGE "%t = splat %n : i32[64]\n%r = compare %t, %range {is = \"gt\"} : b1[64]",
             "1/1/16"},
        Case{RANGE "%t = splat %n : i32[64]\n%r = compare %range, %t {is = \"le\"} : b1[64]",
             "1/1/1"},
        Case{RANGE "%t = splat %c : b1[64]\n%u = constant {value = 32} : i32[64]\n"
                   "%v = add %range, %u : i32[64]\n%r = select %t, %v, %range : i32[64]",
             "64/32/1"},
        Case{RANGE "%r = cast %range : i64[64]", "64/0/1"},
        // Narrow integers wrap: to -128 behind 127, which is no group of the quotient's.
        Case{"%range = arange {start = 0} : i32[256]\n%t = cast %range : i8[256]\n"
             "%r = cast %t : i32[256]",
             "128/128/1"},
        Case{RANGE "%t = cast %range : i8[64]\n%m8 = cast %m : i8\n%u = splat %m8 : i8[64]\n"
                   "%v = add %t, %u : i8[64]\n%r = cast %v : i32[64]",
             "1/1/1"},
        Case{RANGE "%t = cast %range : i8[64]\n%u = cast %t : i32[64]\n"
                   "%e = constant {value = 16} : i32[64]\n%r = div %u, %e : i32[64]",
             "1/1/1"},
        // Remainders of what may be negative are no groups, either.
        Case{"%range = arange {start = 0} : i32[256]\n%t = cast %range : i8[256]\n"
             "%u = cast %t : i32[256]\n%e = constant {value = 48} : i32[256]\n"
             "%r = rem %u, %e : i32[256]",
             "1/1/1"},
        Case{RANGE "%r = reshape %range : i32[64, 1]", "64/0/1 1/1/1"},
        Case{RANGE "%t = reshape %range : i32[1, 64]\n%r = broadcast %t : i32[4, 64]",
             "1/1/4 64/0/1"},
        Case{RANGE
             "%t = reshape %range : i32[1, 64]\n%r = permute %t {order = [1, 0]} : i32[64, 1]",
             "64/0/1 1/1/1"},
        Case{"%t = splat %m : i32[64]\n"
             "%r = hint %t {divisible = [8], contiguous = [32]} : i32[64]",
             "32/8/64"},
        // Pointers: bytes.
        Case{BLOCK "%t = splat %p : *f16[64]\n%r = offset %t, %block : *f16[64]", "64/16/1"},
        Case{BLOCK "%t = splat %q : *f16[64]\n%r = offset %t, %block : *f16[64]", "64/1/1"},
        Case{"%o = constant {value = 1} : i64\n%r = affine %p, %s, %o : *f16[8, 32]",
             "1/2/1 32/16/1"},
        Case{"%o = constant {value = 1} : i64\n%m64 = cast %m : i64\n"
             "%r = affine %p, %m64, %o : *f16[8, 32]",
             "1/2/1 32/2/1"},
        Case{"%z = constant {value = 0} : i64\n%r = affine %p, %z : *f16[8]", "1/16/8"},
        Case{"%z = constant {value = 0} : i64\n%n64 = cast %n : i64\n%m64 = cast %m : i64\n"
             "%r = bounds %z, %n64, %z, %m64 : b1[64, 64]",
             "1/1/16 1/1/1"},
        // Carried by a loop: what the start and every step have.
        Case{"%z = constant {value = 0} : i32\n%o = constant {value = 1} : i32\n"
             "%e = constant {value = 8} : i32\n"
             "%r = for %z, %m, %o, %n : i32 (%i: i32, %x: i32) {\n"
             "%y = add %x, %e : i32\n yield %y\n}",
             "1/8/1"},
        Case{"%z = constant {value = 0} : i32\n%e = constant {value = 32} : i32\n"
             "for %z, %m, %e (%r: i32) {\nyield\n}",
             "1/32/1"},
        Case{"%e = constant {value = 4} : i32\n"
             "%r = while %n : i32 (%x: i32) {\n condition %c, %x\n} then (%y: i32) {\n"
             "%w = add %y, %e : i32\n yield %w\n}",
             "1/4/1"},
        Case{"%e = constant {value = 4} : i32\n"
             "%r = if %c : i32 {\n yield %e\n} then {\n yield %n\n}",
             "1/4/1"}));

TEST(AxisInfo, Multiples) {
  const Kernel kernel = parsed("%x = constant {value = 24} : i64");
  const AxisAnalysis analysis(kernel);
  EXPECT_TRUE(analysis.is_multiple(named(kernel, "p"), 16));
  EXPECT_FALSE(analysis.is_multiple(named(kernel, "q"), 2));
  EXPECT_TRUE(analysis.is_multiple(named(kernel, "n"), 8));
  EXPECT_FALSE(analysis.is_multiple(named(kernel, "n"), 32));
  EXPECT_TRUE(analysis.is_multiple(named(kernel, "x"), 12));
}

TEST(AxisInfo, VectorWidths) {
  const Kernel kernel = parsed(R"(
    %one = constant {value = 1} : i64
    %zero = constant {value = 0} : i64
    %n64 = cast %n : i64
    %m64 = cast %m : i64
    %ptrs = affine %p, %s, %one : *f16[4, 64]
    %odd = affine %q, %s, %one : *f16[4, 64]
    %down = affine %p, %one, %s : *f16[64, 4]
    %good = bounds %zero, %m64, %zero, %n64 : b1[4, 64]
    %bad = bounds %zero, %m64, %zero, %m64 : b1[4, 64]
    %a = load %ptrs, %good : f16[4, 64]
    %b = load %ptrs, %bad : f16[4, 64]
    %d = load %odd : f16[4, 64]
    %e = load %down : f16[64, 4]
    store %ptrs, %a, %good)");
  const AxisAnalysis analysis(kernel);
  const auto widths = [&](const std::string& name) {
    const Op& op = *kernel.maker(named(kernel, name));
    return fmt::format("{} {} {}", analysis.vector_width(op, 0), analysis.vector_width(op, 1),
                       analysis.pointer_width(op, 1));
  };
  EXPECT_EQ(widths("a"), "1 8 8");
  EXPECT_EQ(widths("b"), "1 1 8");
  EXPECT_EQ(widths("d"), "1 1 1");
  EXPECT_EQ(widths("e"), "8 1 1");
  EXPECT_EQ(analysis.vector_width(*kernel.body.ops.back(), 1), 8);
}

}  // namespace
}  // namespace tilewright
