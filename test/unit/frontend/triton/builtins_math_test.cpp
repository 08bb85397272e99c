// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_math_test.cpp — math, libdevice, random numbers, dot, hints and asserts.
#include <bit>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_testing.h"
#include "tilewright/error.h"

namespace tilewright::triton {
namespace {

using python::BinaryOperator;
using testing::ElementsAre;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Math, TakesWideFloatsOnly) {
  KernelTest test;
  const Value half = test.tile(f16, {4});
  EXPECT_EQ(mistake([&] { test.tl("exp", {half}); }),
            "tl.exp takes float32 or float64, not float16[4] (use .to(tl.float32))");
  EXPECT_EQ(mistake([&] { test.tl("sigmoid", {half}); }),
            "tl.sigmoid takes float32 or float64, not float16[4] (use .to(tl.float32))");
  EXPECT_EQ(mistake([&] { test.libdevice("tanh", {half}); }),
            "libdevice.tanh takes float32 or float64, not float16[4] (use .to(tl.float32))");
  EXPECT_EQ(type_text(test, test.tl("abs", {half})), "float16[4]");
  EXPECT_EQ(type_text(test, test.tl("exp", {num(1.0)})), "float32");
}

TEST(Math, Values) {
  KernelTest test;
  const Value x = test.tile(f32, {4}, {0, 1, -1, 2});
  const std::vector<double> sigmoid = test.run(test.tl("sigmoid", {x}));
  EXPECT_EQ(sigmoid[0], 0.5);
  EXPECT_NEAR(sigmoid[3], 1 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_THAT(test.run(test.tl("clamp", {x, num(-0.5), num(1.0)})), ElementsAre(0, 1, -0.5, 1));
  EXPECT_THAT(test.run(test.tl("fma", {x, num(2.0), num(1.0)})), ElementsAre(1, 3, -1, 5));
  EXPECT_THAT(test.run(test.method(x, "exp2")), ElementsAre(1, 2, 0.5, 4));
  EXPECT_THAT(test.run(test.tl("fdiv", {x, num(2.0)})), ElementsAre(0, 0.5, -0.5, 1));
  EXPECT_EQ(mistake([&] {
              test.tl("clamp", {test.tile(i32, {2}), integer(0), integer(1)});
            }),
            "tl.clamp takes floats, not int32[2] (use tl.minimum(tl.maximum(x, low), high))");
}

TEST(Math, NanOfMaximum) {
  KernelTest test;
  const Value x = test.tile(f32, {2}, {nan, 1});
  EXPECT_THAT(test.run(test.tl("maximum", {x, num(0.0)})), ElementsAre(0, 1));
  const Value all = external_value("triton.language.PropagateNan.ALL");
  EXPECT_TRUE(std::isnan(test.run(test.tl("maximum", {x, num(0.0), all}))[0]));
  EXPECT_EQ(type_text(test, test.tl("minimum", {test.tile(bf16, {2}), test.tile(bf16, {2})})),
            "float32[2]");
}

TEST(Math, HighProductIsUnsigned) {
  KernelTest test;
  const Value product = test.tl("umulhi", {test.tile(i32, {2}, {-1, 3}), integer(2)});
  EXPECT_EQ(type_text(test, product), "int32[2]");
  EXPECT_THAT(test.run(product), ElementsAre(1, 0));
}

TEST(Libdevice, Values) {
  KernelTest test;
  const Value x = test.tile(f32, {4}, {2.5, -1.5, nan, INFINITY});
  EXPECT_THAT(test.run(test.libdevice("isnan", {x})), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(test.run(test.libdevice("finitef", {x})), ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(type_text(test, test.libdevice("isinf", {x})), "int1[4]");
  const Value y = test.tile(f32, {4}, {2.5, -1.5, 0.5, 3.5});
  EXPECT_THAT(test.run(test.libdevice("llrint", {y})), ElementsAre(2, -2, 0, 4));
  EXPECT_EQ(type_text(test, test.libdevice("llrint", {y})), "int64[4]");
  EXPECT_THAT(test.run(test.libdevice("round", {y})), ElementsAre(3, -2, 1, 4));
  EXPECT_THAT(test.run(test.libdevice("pow", {y, integer(2)})),
              ElementsAre(6.25, 2.25, 0.25, 12.25));
  EXPECT_THAT(test.run(test.libdevice("fmod", {y, num(1.0)})), ElementsAre(0.5, -0.5, 0.5, 0.5));
  const Value n = test.tile(i32, {4}, {0, 1, 8, -2147483648.0});
  EXPECT_THAT(test.run(test.libdevice("ffs", {n})), ElementsAre(0, 1, 4, 32));
  EXPECT_THAT(test.run(test.libdevice("popc", {n})), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(test.run(test.libdevice("float_as_int", {num(1.0)})), ElementsAre(0x3f800000));
}

// Factors beyond the range of the type, and results below its normal numbers.
TEST(Libdevice, PowersOfTwo) {
  KernelTest test;
  const auto scaled = [&](DType dtype, std::vector<double> x, std::vector<double> n) {
    return test.run(test.libdevice("ldexp", {test.tile(dtype, {4}, x), test.tile(i32, {4}, n)}));
  };
  EXPECT_THAT(scaled(f32, {0, INFINITY, 0x1p-140, 0x1p100}, {200, -200, 200, -240}),
              ElementsAre(0, INFINITY, 0x1p60, 0x1p-140));
  EXPECT_THAT(scaled(f32, {2.5, 3, 0x1.fffffep-126, 1}, {-150, 126, -1, 128}),
              ElementsAre(0x1p-149, 0x1.8p127, 0x1p-126, INFINITY));
  EXPECT_THAT(scaled(f64, {0x1p-1070, 0x1p1000, 3, -2.5}, {2093, -2074, 2000, -1075}),
              ElementsAre(0x1p1023, 0x1p-1074, INFINITY, -0x1p-1074));
  EXPECT_THAT(test.run(test.libdevice("scalbn", {test.tile(f64, {2}, {0, 5}), integer(1100)})),
              ElementsAre(0, INFINITY));
  EXPECT_EQ(mistake([&] {
              test.libdevice("ldexp", {num(1.0), num(2.0)});
            }),
            "libdevice.ldexp takes an integer as exponent, not float32");
}

TEST(Libdevice, SinesOfWholeAndHalfTurns) {
  KernelTest test;
  const Value x = test.tile(f32, {8}, {0.5, 1, -1.5, 2, 100000.5, 3e38, -0.25, 1e30});
  const float root = std::sqrt(0.5f);
  EXPECT_THAT(test.run(test.libdevice("sinpi", {x})), ElementsAre(1, 0, 1, 0, 1, 0, -root, 0));
  EXPECT_THAT(test.run(test.libdevice("cospi", {x})), ElementsAre(0, -1, 0, 1, 0, 1, root, 1));
  const Value near = test.tile(f64, {2}, {1 + 0x1p-40, INFINITY});
  EXPECT_NEAR(test.run(test.libdevice("sinpi", {near}))[0], -0x1p-40 * M_PI, 1e-27);
  EXPECT_TRUE(std::isnan(test.run(test.libdevice("cospi", {near}))[1]));
}

TEST(Libdevice, BitsOfFloatsAreSigned) {
  KernelTest test;
  EXPECT_EQ(type_text(test, test.libdevice("float_as_uint", {test.tile(f32, {2})})), "int32[2]");
}

TEST(Libdevice, DivisionTowardZero) {
  KernelTest test;
  const Value two = test.tile(f32, {2}, {2, -2}), three = test.tile(f32, {2}, {3, 3});
  const float nearest = 2.0f / 3.0f;  // above two thirds
  const std::vector<double> exact = test.run(test.libdevice("div_rn", {two, three}));
  const std::vector<double> cut = test.run(test.libdevice("div_rz", {two, three}));
  EXPECT_EQ(exact[0], nearest);
  EXPECT_EQ(cut[0], std::nextafter(nearest, 0.0f));
  EXPECT_EQ(cut[1], -std::nextafter(nearest, 0.0f));
}

// ---- Random numbers: the words and the bits of `rand` for (seed, offset)

TEST(Random, PhiloxVectors) {
  struct Row {
    std::int64_t seed, offset;
    std::uint32_t words[4];
    std::uint32_t rand;
  };
  const Row table[] = {
      {0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}, 0x3f4c4fd1},
      {0, 1, {0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67}, 0x3d63666a},
      {42, 7, {0x5bbd83b1, 0x68784c85, 0x172067aa, 0x2e6b75b7}, 0x3f377b06},
      {0x1234567890abcdef, 3, {0x88a65b29, 0x3725097c, 0xe0196407, 0xd08633a4}, 0x3f6eb349},
      {42, 5 * (1LL << 32) + 7, {0x16a6d5bd, 0xe6614b49, 0x6a26b4b1, 0x8065298d}, 0x3e3536ad},
  };
  for (const Row& row : table) {
    KernelTest test;
    const Value seed = integer(row.seed);
    const DType dtype = row.offset > 0x7fffffff ? i64 : i32;
    const Value offset = test.tile(dtype, {1}, {static_cast<double>(row.offset)});
    const Value words = test.tl("randint4x", {seed, offset});
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(test.run(words.tuple()->items[i])[0], row.words[i]) << row.offset;
    const auto uniform = static_cast<float>(test.run(test.tl("rand", {seed, offset}))[0]);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(uniform), row.rand);
  }
}

TEST(Random, NormalAndTypes) {
  KernelTest test;
  const Value offset = test.tl("arange", {integer(0), integer(256)});
  const std::vector<double> values = test.run(test.tl("randn", {integer(1), offset}));
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  EXPECT_NEAR(sum / 256, 0, 0.25);
  EXPECT_NEAR(squares / 256, 1, 0.35);
  EXPECT_EQ(type_text(test, test.tl("randint", {integer(1), offset})), "uint32[256]");
  const Value wide = test.tile(i64, {2});
  const Value words = test.tl("philox", {integer(1), wide, wide, wide, wide});
  EXPECT_EQ(type_text(test, words.tuple()->items[0]), "uint64[2]");
}

// ---- Dot

TEST(Dot, TypesAndAttributes) {
  struct Row {
    DType operand;
    Keywords keywords;
    std::string_view result;
  };
  const Row table[] = {
      {f16, {}, "float32[16, 32]"},    {f16, {{"out_dtype", type_value(f16)}}, "float16[16, 32]"},
      {bf16, {}, "float32[16, 32]"},   {f32, {{"allow_tf32", flag(false)}}, "float32[16, 32]"},
      {f64, {}, "float64[16, 32]"},    {i8, {}, "int32[16, 32]"},
      {f8e5m2, {}, "float32[16, 32]"},
  };
  for (const Row& row : table) {
    KernelTest test;
    const Value a = test.tile(row.operand, {16, 32}), b = test.tile(row.operand, {32, 32});
    const Value result = test.tl("dot", {a, b}, row.keywords);
    EXPECT_EQ(type_text(test, result), row.result);
    const ir::Op* op = test.kernel.maker(*result.get_if<ir::Value>());
    EXPECT_EQ(op->text("precision"), row.operand == f32 ? "ieee" : "");
  }
}

TEST(Dot, Values) {
  KernelTest test;
  std::vector<double> values(8 * 8, 0);
  for (std::size_t i = 0; i < 8; ++i) values[i * 8 + i] = static_cast<double>(i);
  const Value a = test.tile(f32, {8, 8}, values), acc = test.tile(f32, {8, 8}, values);
  const std::vector<double> out = test.run(test.tl("dot", {a, a}, {{"acc", acc}}));
  EXPECT_EQ(out[9], 2);
  EXPECT_EQ(out[63], 56);
  EXPECT_EQ(out[1], 0);
  const Value batch = test.tile(f32, {2, 2, 8, 8});
  EXPECT_EQ(type_text(test, test.tl("dot", {batch, batch})), "float32[2, 2, 8, 8]");
}

TEST(Dot, Mistakes) {
  KernelTest test;
  const Value a = test.tile(f16, {16, 16});
  const auto wrong = [&](const Value& x, const Value& y, Keywords keywords = {}) {
    return mistake([&] { test.tl("dot", {x, y}, keywords); });
  };
  EXPECT_EQ(wrong(a, test.tile(f32, {16, 16})),
            "tl.dot needs operands of one type, not float16 and float32 (cast one of them with "
            ".to(...))");
  EXPECT_EQ(wrong(a, test.tile(f16, {32, 16})),
            "tl.dot needs equal inner sizes, not 16 of float16[16, 16] and 32 of float16[32, 16]");
  EXPECT_EQ(wrong(test.tile(f16, {16, 8}), test.tile(f16, {8, 16})),
            "tl.dot needs an inner size of at least 16 for float16, not 8");
  EXPECT_EQ(wrong(a, a, {{"acc", test.tile(f32, {16, 32})}}),
            "tl.dot needs an accumulator float32[16, 16], not float32[16, 32]");
  EXPECT_EQ(wrong(a, a, {{"out_dtype", type_value(bf16)}}),
            "tl.dot cannot give bfloat16 (use out_dtype=tl.float32 and .to(tl.bfloat16))");
  EXPECT_EQ(wrong(a, a, {{"allow_tf32", flag(true)}, {"input_precision", text("ieee")}}),
            "tl.dot takes allow_tf32 or input_precision, not both");
  EXPECT_EQ(wrong(test.tile(i32, {16, 16}), a),
            "tl.dot does not take int32[16, 16] (use float16, bfloat16, float32, float64, int8 or "
            "two float8)");
}

TEST(Dot, Scaled) {
  KernelTest test;
  // Row 0 of lhs holds 1.0 (0x2) and 6.0 (0x7) in turn; its scale is 2.
  const Value lhs = test.tile(u8, {1, 16}, std::vector<double>(16, 0x72));
  const Value lhs_scale = test.tile(u8, {1, 1}, {128});
  const Value rhs = test.tile(bf16, {32, 1}, std::vector<double>(32, 0.5));
  const Value out =
      test.tl("dot_scaled", {lhs, lhs_scale, text("e2m1"), rhs, Value(), text("bf16")});
  EXPECT_EQ(type_text(test, out), "float32[1, 1]");
  EXPECT_THAT(test.run(out), ElementsAre(16 * 7.0 * 0.5 * 2));
}

// ---- Hints, asserts, prints

TEST(Debug, Asserts) {
  KernelTest test;
  EXPECT_NO_THROW(test.tl("static_assert", {flag(true)}));
  EXPECT_EQ(mistake([&] {
              test.tl("static_assert", {flag(false), text("BLOCK is odd")});
            }),
            "tl.static_assert does not hold: BLOCK is odd");
  EXPECT_EQ(mistake([&] { test.tl("static_assert", {test.number(b1)}); }),
            "tl.static_assert needs a constant condition, not int1 (use tl.device_assert)");
  test.tl("device_assert", {test.number(b1, 0), text("never")});
  EXPECT_NO_THROW(test.run());

  KernelTest debug({.debug = true});
  debug.tl("device_assert", {debug.number(b1, 0), text("x is negative")});
  EXPECT_THROW(debug.run(), UserError);
}

TEST(Debug, Prints) {
  KernelTest test;
  test.tl("device_print", {text("x"), test.number(i32, 3)});
  test.full("builtins.print", {text("n ="), test.number(i32, 255)}, {{"hex", flag(true)}});
  test.tl("static_print", {text("BLOCK"), integer(4), type_value(f32), integers({1, 2})});
  test.run();
  EXPECT_THAT(test.printed, ElementsAre("pid (0, 0, 0) x: 3", "pid (0, 0, 0) n =: 0xff"));
  EXPECT_THAT(test.host.printed, ElementsAre("BLOCK 4 fp32 (1, 2)"));
}

TEST(Debug, Hints) {
  KernelTest test;
  const Value x = test.tile(i32, {4});
  const Value hinted =
      test.tl("max_contiguous", {test.tl("multiple_of", {x, integer(16)}), integer(4)});
  EXPECT_EQ(type_text(test, hinted), "int32[4]");
  EXPECT_EQ(mistake([&] {
              test.tl("multiple_of", {x, integers({16, 16})});
            }),
            "tl.multiple_of needs 1 value for int32[4], but gets 2");
  EXPECT_EQ(
      type_text(test, test.full("triton.language.target_info.cuda_capability_geq", {integer(9)})),
      "True");
  test.full("triton.language.extra.cuda.gdc_wait", {});
  EXPECT_THAT(test.host.notes,
              ElementsAre("tl.extra.cuda.gdc_wait has no effect: launches do not overlap here"));
}

}  // namespace
}  // namespace tilewright::triton
