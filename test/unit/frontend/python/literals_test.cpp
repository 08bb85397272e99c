// SPDX-License-Identifier: Apache-2.0
// frontend/python/literals_test.cpp — values of numbers and strings.
#include "frontend/python/literals.h"

#include <gtest/gtest.h>

namespace tilewright::python {
namespace {

std::string text(std::string_view token) {
  const StringParts parts = split_string(token);
  const StringValue value = decode_string(parts.body, parts.form);
  return value.error.empty() ? value.value : "error: " + value.error;
}

TEST(PythonLiterals, Integers) {
  EXPECT_EQ(read_number("0").integer, Uint128{0});
  EXPECT_EQ(read_number("1_000").integer, Uint128{1000});
  EXPECT_EQ(read_number("0xFf").integer, Uint128{255});
  EXPECT_EQ(read_number("0o17").integer, Uint128{15});
  EXPECT_EQ(read_number("0B1_01").integer, Uint128{5});
  EXPECT_EQ(read_number("18446744073709551616").integer, Uint128{1} << 64);
}

TEST(PythonLiterals, IntegersAreExactTo128Bits) {
  const NumberValue largest = read_number("340282366920938463463374607431768211455");
  EXPECT_FALSE(largest.too_large);
  EXPECT_EQ(largest.integer, ~Uint128{0});
  EXPECT_TRUE(read_number("340282366920938463463374607431768211456").too_large);
  EXPECT_TRUE(read_number("0x1" + std::string(32, '0')).too_large);
}

TEST(PythonLiterals, Floats) {
  EXPECT_EQ(read_number("1_0.5e1").real, 105.0);
  EXPECT_EQ(read_number(".5").real, 0.5);
  EXPECT_EQ(read_number("1e-45").real, 1e-45);
  EXPECT_TRUE(read_number("1.").form == NumberValue::Form::Float);
  const NumberValue imaginary = read_number("2.5j");
  EXPECT_TRUE(imaginary.form == NumberValue::Form::Imaginary);
  EXPECT_EQ(imaginary.real, 2.5);
}

TEST(PythonLiterals, Escapes) {
  EXPECT_EQ(text(R"('a\n\t\\\'\"')"), "a\n\t\\'\"");
  EXPECT_EQ(text(R"('\x41\101\0')"), std::string("AA\0", 3));
  EXPECT_EQ(text(R"('\u00e9\U0001F600')"), "é😀");
  EXPECT_EQ(text("'a\\\nb'"), "ab");
  EXPECT_EQ(text(R"('\d\N{BULLET}')"), "\\d\\N{BULLET}");
  EXPECT_EQ(text(R"(r'a\n')"), "a\\n");
  EXPECT_EQ(text(R"(b'\xff\u0041')"), "\xff\\u0041");
  EXPECT_EQ(text("''"), "");
  EXPECT_EQ(text("''''''"), "");
}

TEST(PythonLiterals, BadEscapes) {
  EXPECT_EQ(text(R"('\x4')"), "error: truncated \\xXX escape");
  EXPECT_EQ(text(R"('\u12')"), "error: truncated \\uXXXX escape");
  EXPECT_EQ(text(R"('\U00110000')"), "error: illegal Unicode character");
  EXPECT_EQ(text(R"('\N')"), "error: malformed \\N character escape");
  EXPECT_EQ(text("b'é'"), "error: bytes can only contain ASCII literal characters");
}

}  // namespace
}  // namespace tilewright::python
