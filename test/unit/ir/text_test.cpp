// SPDX-License-Identifier: Apache-2.0
// ir/text_test.cpp — parse(print(kernel)) is the same text, and errors of text show their place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "ir/builder.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

constexpr const char* row_sum =
    R"(kernel @row_sum(%x: *f32 {divisible = 16, const = 1}, %y: *f32, %n: i32) source "row.py" "sub/help er.py" {
  %pid = program_id {axis = 0} : i32 @3:11
  %offs = arange {start = 0} : i32[128] @4:12
  %0 = splat %n : i32[128]
  %mask = compare %offs, %0 {is = "lt"} : b1[128]
  %1 = splat %x : *f32[128]
  %2 = offset %1, %offs : *f32[128] @1:5:9
  %v = load %2, %mask {cache = ".cg"} : f32[128]
  %sum = reduce %v {axis = 0} : f32 (%a: f32, %b: f32) {
    %3 = add %a, %b : f32
    yield %3
  }
  %zero = constant {value = 0} : i32
  %one = constant {value = 1} : i32
  %half = constant {value = 0.5} : f32
  %big = constant {value = -inf} : f32
  %total = for %zero, %n, %one, %half {stages = 3} : f32 (%i: i32, %t: f32) {
    %c = compare %i, %one {is = "eq"} : b1
    %w = if %c : f32 {
      yield %t
    } then {
      %4 = mul %t, %sum : f32
      yield %4
    }
    yield %w
  }
  %5 = while %total : f32 (%p: f32) {
    %6 = compare %p, %big {is = "gt"} : b1
    condition %6, %p
  } then (%q: f32) {
    %7 = neg %q : f32
    yield %7
  }
  %8 = offset %y, %pid : *f32
  store %8, %5
  print %5 {prefix = "a \"quoted\" text\n"}
}
)";

TEST(IrText, AccessFormsRoundTrip) {
  constexpr const char* text =
      R"(kernel @forms(%x: *f32, %row: i64, %m: i64) tile {
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %width = constant {value = 8} : i64
  %p = affine %x, %row, %one : *f32[4, 8]
  %mask = bounds %zero, %m, %zero, %width : b1[4, 8]
  %v = load %p, %mask : f32[4, 8]
  store %p, %v, %mask
}
)";
  const Kernel kernel = parse(text);
  EXPECT_EQ(print(kernel), text);
  verify(kernel);
}

TEST(IrText, RoundTrips) {
  const Kernel kernel = parse(row_sum);
  EXPECT_EQ(print(kernel), row_sum);
  verify(kernel);
}

TEST(IrText, NamesThatClashAreNumbered) {
  Kernel kernel;
  kernel.name = "k";
  Builder build(kernel);
  const Value a = build.constant(Type::scalar(i32), std::int64_t{1});
  const Value b = build.constant(Type::scalar(i32), std::int64_t{2});
  kernel.set_name(a, "x");
  kernel.set_name(b, "x");
  EXPECT_EQ(print(kernel),
            "kernel @k() source {\n  %x = constant {value = 1} : i32\n  %x_1 = constant {value = "
            "2} : i32\n}\n");
}

std::string message_of(const char* text) {
  try {
    parse(text, "k.tir");
  } catch (const SyntaxOrTypeError& error) {
    return error.what();
  }
  return "no error";
}

TEST(IrText, ErrorsShowTheirPlace) {
  EXPECT_EQ(message_of("kernel @k() source {\n  %a = constnt {value = 1} : i32\n}"),
            "k.tir:2:8: error: there is no op 'constnt'; did you mean 'constant'?\n"
            "      %a = constnt {value = 1} : i32\n"
            "           ^^^^^^^");
  EXPECT_THAT(message_of("kernel @k() source {\n  %b = neg %a : i32\n}"),
              testing::StartsWith("k.tir:2:12: error: %a is not defined here"));
  EXPECT_THAT(message_of("kernel @k() source { %a = constant {value = 1} : i33 }"),
              testing::HasSubstr("'i33' is not a type"));
  EXPECT_THAT(message_of("kernel @k() source { %a, %b = constant {value = 1} : i32 }"),
              testing::HasSubstr("2 results and 1 types"));
  EXPECT_THAT(message_of("kernel @k() source { barrier } x"),
              testing::HasSubstr("nothing may follow the kernel"));
  EXPECT_THAT(message_of("kernel @k() source { print {prefix = \"a }"),
              testing::HasSubstr("this text has no closing quote"));
  EXPECT_THAT(message_of(""), testing::HasSubstr("expected 'kernel'"));
}

TEST(IrText, DeepNestingIsRefused) {
  std::string text = "kernel @k(%c: b1) source {";
  for (int i = 0; i < 100000; ++i) text += "if %c {";
  EXPECT_THAT(message_of(text.c_str()), testing::HasSubstr("regions are nested deeper than 200"));
}

}  // namespace
}  // namespace tilewright::ir
