// SPDX-License-Identifier: Apache-2.0
// frontend/triton/semantic_test.cpp — operators: folding, promotion, pointers, messages.
#include "frontend/triton/semantic.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/triton/constants.h"
#include "kernel_testing.h"

namespace tilewright::triton {
namespace {

using python::BinaryOperator;
using python::BoolOperator;
using python::CompareOperator;
using python::UnaryOperator;
using testing::ElementsAre;

std::string folded(BinaryOperator op, const Value& a, const Value& b) {
  return text_of(*fold(op, a, b).get_if<Constant>());
}

TEST(Fold, FollowsPython) {
  EXPECT_EQ(folded(BinaryOperator::FloorDivide, integer(-7), integer(2)), "-4");
  EXPECT_EQ(folded(BinaryOperator::Modulo, integer(-7), integer(2)), "1");
  EXPECT_EQ(folded(BinaryOperator::Modulo, integer(7), integer(-2)), "-1");
  EXPECT_EQ(folded(BinaryOperator::Divide, integer(7), integer(2)), "3.5");
  EXPECT_EQ(folded(BinaryOperator::Divide, integer(4), integer(2)), "2.0");
  EXPECT_EQ(folded(BinaryOperator::Power, integer(2), integer(100)),
            "1267650600228229401496703205376");
  EXPECT_EQ(folded(BinaryOperator::Power, integer(2), integer(-1)), "0.5");
  EXPECT_EQ(folded(BinaryOperator::ShiftLeft, integer(1), integer(64)), "18446744073709551616");
  EXPECT_EQ(folded(BinaryOperator::ShiftRight, integer(-1), integer(200)), "-1");
  EXPECT_EQ(folded(BinaryOperator::Modulo, num(-1.5), num(1.0)), "0.5");
  EXPECT_EQ(folded(BinaryOperator::FloorDivide, num(7), integer(2)), "3.0");
  EXPECT_EQ(folded(BinaryOperator::FloorDivide, num(1.0), num(0.1)), "9.0");
  EXPECT_EQ(folded(BinaryOperator::FloorDivide, num(-5.0), num(INFINITY)), "-1.0");
  EXPECT_EQ(folded(BinaryOperator::FloorDivide, num(INFINITY), num(0.75)), "nan");
  EXPECT_EQ(folded(BinaryOperator::Modulo, num(-5.0), num(INFINITY)), "inf");
  EXPECT_EQ(folded(BinaryOperator::Modulo, num(4.0), num(-2.0)), "-0.0");
  EXPECT_EQ(folded(BinaryOperator::BitAnd, flag(true), flag(false)), "False");
  EXPECT_EQ(folded(BinaryOperator::Add, flag(true), flag(true)), "2");
  EXPECT_EQ(folded(BinaryOperator::Add, text("a"), text("b")), "'ab'");
}

TEST(Fold, TuplesAndComparisons) {
  const Value joined = fold(BinaryOperator::Add, integers({1, 2}), integers({3}));
  EXPECT_TRUE(equal(joined, integers({1, 2, 3})));
  EXPECT_TRUE(
      equal(fold(BinaryOperator::Multiply, integers({2}), integer(3)), integers({2, 2, 2})));
  EXPECT_TRUE(fold(CompareOperator::Equal, integer(1), num(1.0)));
  EXPECT_TRUE(fold(CompareOperator::Equal, flag(true), integer(1)));
  EXPECT_FALSE(fold(CompareOperator::Is, flag(true), integer(1)));
  EXPECT_TRUE(fold(CompareOperator::Is, Value(), Value()));
  EXPECT_TRUE(fold(CompareOperator::IsNot, integer(0), Value()));
  EXPECT_TRUE(fold(CompareOperator::Equal, text("ieee"), text("ieee")));
  EXPECT_TRUE(fold(CompareOperator::Equal, type_value(f16), type_value(f16)));
  EXPECT_FALSE(fold(CompareOperator::Is, type_value(f16), type_value(bf16)));
  EXPECT_TRUE(fold(CompareOperator::In, integer(2), integers({1, 2})));
}

TEST(Fold, Mistakes) {
  EXPECT_EQ(mistake([] { fold(BinaryOperator::FloorDivide, integer(1), integer(0)); }),
            "'//' divides a constant by zero");
  EXPECT_EQ(mistake([] { fold(BinaryOperator::Power, integer(2), integer(200)); }),
            "the result of '**' on constants has more than 127 bits");
  EXPECT_EQ(mistake([] { fold(BinaryOperator::Add, Value(), integer(1)); }),
            "'+' does not work on None and the constant 1");
}

// ---- Promotion

struct Promotion {
  BinaryOperator op;
  DType a, b;
  std::string_view result;
};

TEST(Semantic, TwoTensors) {
  const BinaryOperator add = BinaryOperator::Add, divide = BinaryOperator::Divide;
  const Promotion table[] = {
      {add, f16, bf16, "float16[4]"},
      {add, bf16, i32, "float32[4]"},
      {add, f16, i32, "float16[4]"},
      {add, bf16, bf16, "bfloat16[4]"},
      {add, f32, f16, "float32[4]"},
      {add, f64, f32, "float64[4]"},
      {add, f8e4m3, f8e5m2, "float16[4]"},
      {add, i32, u32, "uint32[4]"},
      {add, i64, u32, "int64[4]"},
      {add, i8, u8, "uint8[4]"},
      {add, i8, i16, "int16[4]"},
      {add, b1, i32, "int32[4]"},
      {add, b1, b1, "int1[4]"},
      {add, u64, i64, "uint64[4]"},
      {divide, i64, i64, "float32[4]"},
      {divide, f16, f16, "float32[4]"},
      {divide, bf16, i32, "float32[4]"},
      {divide, f64, f16, "float64[4]"},
      {BinaryOperator::Modulo, f16, f16, "float32[4]"},
      {BinaryOperator::Modulo, i32, i64, "int64[4]"},
      {BinaryOperator::BitAnd, i32, i64, "int64[4]"},
      {BinaryOperator::ShiftLeft, u8, i32, "int32[4]"},
  };
  for (const Promotion& row : table) {
    KernelTest test;
    const Value result = test.binary(row.op, test.tile(row.a, {4}), test.tile(row.b, {4}));
    EXPECT_EQ(type_text(test, result), row.result) << name_of(row.a) << " and " << name_of(row.b);
    EXPECT_NO_THROW(test.run(result));
  }
}

TEST(Semantic, ConstantsAreWeak) {
  struct Row {
    DType tensor;
    Value constant;
    std::string_view result;
  };
  const Row table[] = {
      {f16, num(0.5), "float16[4]"}, {bf16, integer(1), "bfloat16[4]"},
      {i32, num(0.5), "float32[4]"}, {i8, integer(100), "int8[4]"},
      {b1, integer(1), "int32[4]"},  {u8, flag(true), "uint8[4]"},
      {f64, num(0.1), "float64[4]"}, {i64, integer(1LL << 40), "int64[4]"},
  };
  for (const Row& row : table) {
    KernelTest test;
    const Value x = test.tile(row.tensor, {4});
    EXPECT_EQ(type_text(test, test.binary(BinaryOperator::Multiply, x, row.constant)), row.result);
    EXPECT_EQ(type_text(test, test.binary(BinaryOperator::Multiply, row.constant, x)), row.result);
  }
  KernelTest test;
  const Value x = test.tile(f16, {4});
  EXPECT_EQ(type_text(test, test.binary(BinaryOperator::Multiply, x, test.number(f32))),
            "float32[4]");
  EXPECT_EQ(type_text(test, test.tl("maximum", {x, num(0.0)})), "float32[4]");
}

TEST(Semantic, WhatNumbersBecome) {
  KernelTest test;
  const auto type = [&](const Value& value) {
    return type_text(test, test.semantic.materialize(value));
  };
  EXPECT_EQ(type(integer(2147483647)), "int32");
  EXPECT_EQ(type(integer(2147483648)), "uint32");
  EXPECT_EQ(type(integer(4294967296)), "int64");
  EXPECT_EQ(type(Value::integer(Int128{1} << 63)), "uint64");
  EXPECT_EQ(type(num(0.1)), "float32");
  EXPECT_EQ(type(num(1e-45)), "float64");
  EXPECT_EQ(type(num(INFINITY)), "float32");
  EXPECT_EQ(type(flag(true)), "int1");
  EXPECT_EQ(type(text("x")), "'x'");
  EXPECT_EQ(mistake([&] { test.semantic.tensor(Value::integer(Int128{1} << 64)); }),
            "the integer 18446744073709551616 does not fit 64 bits");
}

TEST(Semantic, ConstantsOutOfRangeAreMistakes) {
  KernelTest test;
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::Add, test.tile(i8, {4}), integer(128)); }),
            "the constant 128 is out of the range of int8");
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::Add, test.tile(u32, {4}), integer(-1)); }),
            "the constant -1 is out of the range of uint32 (cast the tensor to a signed type)");
  // A comparison makes the number a tensor of its own first, which then wraps.
  EXPECT_NO_THROW(test.semantic.compare(CompareOperator::Equal, test.tile(u32, {4}), integer(-1)));
}

TEST(Semantic, IntegersDivideAsInC) {
  KernelTest test;
  const Value a = test.tile(i32, {4}, {-7, 7, -7, 7}), b = test.tile(i32, {4}, {2, 2, -2, -2});
  const Value quotient = test.binary(BinaryOperator::FloorDivide, a, b);
  const Value remainder = test.binary(BinaryOperator::Modulo, a, b);
  EXPECT_THAT(test.run(quotient), ElementsAre(-3, 3, 3, -3));
  EXPECT_THAT(test.run(remainder), ElementsAre(-1, 1, -1, 1));
}

// Triton asks the first tensor alone, before operands have one type: what fills the upper bits of
// int8 >> uint8 is the sign of the int8, and of -8 >> int1 there is none.
TEST(Semantic, ShiftsFillAsTheFirstTensorDoes) {
  KernelTest test;
  const auto shifted = [&](const Value& a, const Value& b) {
    return test.run(test.binary(BinaryOperator::ShiftRight, a, b));
  };
  EXPECT_THAT(shifted(test.tile(i8, {2}, {-16, 16}), test.tile(u8, {2}, {2, 2})),
              ElementsAre(252, 4));
  EXPECT_THAT(shifted(test.tile(i16, {2}, {-16, 16}), test.tile(u32, {2}, {2, 2})),
              ElementsAre(4294967292, 4));
  EXPECT_THAT(shifted(test.tile(u8, {2}, {240, 16}), test.tile(i32, {2}, {2, 2})),
              ElementsAre(60, 4));
  EXPECT_THAT(shifted(test.tile(i32, {2}, {-16, 16}), integer(2)), ElementsAre(-4, 4));
  EXPECT_THAT(shifted(integer(-8), test.tile(b1, {2}, {1, 0})), ElementsAre(2147483644, -8));
}

TEST(Semantic, OperatorMistakes) {
  KernelTest test;
  const Value x = test.tile(f32, {4}), n = test.tile(i32, {4}), u = test.tile(u32, {4});
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::FloorDivide, x, x); }),
            "'//' works on integers, not on float32[4] and float32[4] (use tl.floor(x / y))");
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::FloorDivide, n, u); }),
            "int32 and uint32 differ in signedness, which /, // and % do not take (cast one of "
            "them with .to(...))");
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::BitAnd, x, n); }),
            "'&' works on integers, not on float32[4] and int32[4] (use .to(..., bitcast=True) to "
            "get at the bits of a float)");
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::Power, x, integer(2)); }),
            "'**' works only on constants (use tl.exp2(y * tl.log2(x)) or libdevice.pow(x, y))");
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::MatrixMultiply, x, x); }),
            "'@' does not work on tensors (use tl.dot(a, b))");
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::Add, x, test.tile(f32, {8})); }),
            "shapes [4] and [8] do not fit: dimension 0 is 4 and 8");
  EXPECT_EQ(mistake([&] { test.semantic.logical(BoolOperator::And, n, n); }),
            "'and' needs an int1, but gets int32[4] (compare it first, as in x != 0)");
  EXPECT_EQ(mistake([&] { test.semantic.condition(x); }),
            "a condition must be a scalar, not float32[4] (use tl.where, or reduce it with "
            "tl.max)");
  EXPECT_EQ(mistake([&] { test.semantic.unary(UnaryOperator::Invert, x); }),
            "unary '~' does not work on float32[4]");
}

TEST(Semantic, Bools) {
  KernelTest test;
  const Value a = test.tile(b1, {4}, {0, 0, 1, 1}), b = test.tile(b1, {4}, {0, 1, 0, 1});
  const Value sum = test.binary(BinaryOperator::Add, a, b);
  const Value count = test.binary(BinaryOperator::Add, a, integer(1));
  const Value inverted = test.semantic.unary(UnaryOperator::Invert, a);
  const Value both = test.semantic.logical(BoolOperator::And, a, b);
  EXPECT_THAT(test.run(sum), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(test.run(count), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(test.run(inverted), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(test.run(both), ElementsAre(0, 0, 0, 1));
}

TEST(Semantic, Pointers) {
  KernelTest test;
  const Value base = test.memory(f32, {0, 10, 20, 30});
  const Value index = test.tl("arange", {integer(0), integer(4)});
  const Value pointers = test.binary(BinaryOperator::Add, index, base);
  EXPECT_EQ(type_text(test, pointers), "pointer<float32>[4]");
  const Value last = test.binary(BinaryOperator::Subtract,
                                 test.binary(BinaryOperator::Add, base, integer(3)), integer(1));
  EXPECT_THAT(test.run(test.tl("load", {last})), ElementsAre(20));
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::Add, base, base); }),
            "'+' does not work on pointer<float32> and pointer<float32> (a pointer takes only '+' "
            "and '-' with an integer)");
  EXPECT_EQ(mistake([&] { test.binary(BinaryOperator::Add, base, num(1.0)); }),
            "'+' does not work on pointer<float32> and the constant 1.0 (a pointer takes only '+' "
            "and '-' with an integer)");
  EXPECT_EQ(mistake([&] { test.semantic.compare(CompareOperator::Equal, base, base); }),
            "'==' does not work on pointer<float32> and pointer<float32>");
  EXPECT_EQ(type_text(test, test.semantic.compare(CompareOperator::IsNot, base, Value())), "True");
}

// As the conversions of NVIDIA's processors, which Triton compiles them to.
TEST(Semantic, WhatIsBeyondAnEightBitFloatIsItsLargestNumber) {
  KernelTest test;
  const Value x = test.tile(f32, {8}, {448, 464, 480, -1e30, INFINITY, -INFINITY, 61440, 57344});
  const auto as = [&](const Value& value, DType dtype) {
    return test.run(test.method(value, "to", {type_value(dtype)}));
  };
  EXPECT_THAT(as(x, f8e4m3), ElementsAre(448, 448, 448, -448, 448, -448, 448, 448));
  EXPECT_THAT(as(x, f8e5m2), ElementsAre(448, 448, 512, -57344, 57344, -57344, 57344, 57344));
  EXPECT_THAT(as(test.tile(f64, {2}, {1e300, -500}), f8e4m3), ElementsAre(448, -448));
  EXPECT_THAT(as(test.tile(f16, {2}, {65504, -1}), f8e5m2), ElementsAre(57344, -1));
  EXPECT_TRUE(std::isnan(as(test.tile(f32, {2}, {NAN, 1}), f8e4m3)[0]));
  EXPECT_TRUE(std::isnan(as(test.tile(f32, {2}, {NAN, 1}), f8e5m2)[0]));
}

TEST(Semantic, Casts) {
  KernelTest test;
  const auto to = [&](const Value& x, DType dtype, Keywords keywords = {}) {
    return test.method(x, "to", {type_value(dtype)}, std::move(keywords));
  };
  const Value x = test.tile(f32, {2}, {-1.75, 1.0 + 0x1.8p-8});
  EXPECT_THAT(test.run(to(x, i32)), ElementsAre(-1, 1));
  EXPECT_THAT(test.run(to(x, b1)), ElementsAre(1, 1));
  EXPECT_THAT(test.run(to(x, bf16)), ElementsAre(-1.75, 1.0 + 0x1p-7));
  EXPECT_THAT(test.run(to(x, bf16, {{"fp_downcast_rounding", text("rtz")}})),
              ElementsAre(-1.75, 1.0));
  EXPECT_THAT(test.run(to(x, u32, {{"bitcast", flag(true)}})), ElementsAre(0xbfe00000, 0x3f80c000));
  EXPECT_EQ(mistake([&] {
              to(x, f64, {{"bitcast", flag(true)}});
            }),
            "bitcast of float32[2] to float64 changes the width from 32 to 64 bits");
  EXPECT_EQ(mistake([&] {
              to(x, f64, {{"fp_downcast_rounding", text("rtz")}});
            }),
            "fp_downcast_rounding is for narrowing floats, not for float32 to float64 (leave it "
            "out)");
  EXPECT_EQ(mistake([&] {
              to(x, f16, {{"fp_downcast_rounding", text("up")}});
            }),
            "fp_downcast_rounding is 'up' (use 'rtne' or 'rtz')");
  const Value pointer = test.memory(f32, {1});
  EXPECT_EQ(type_text(test, to(pointer, i64)), "int64");
  EXPECT_EQ(mistake([&] { to(pointer, i32); }),
            "pointer<float32> cannot be cast to int32 (pointers cast to tl.int64, tl.uint64 and "
            "other pointers)");
  EXPECT_EQ(mistake([&] { to(test.tile(f8e5m2, {2}), i32); }),
            "float8e5 cannot be cast to int32 (cast to tl.float32 first)");
}

}  // namespace
}  // namespace tilewright::triton
