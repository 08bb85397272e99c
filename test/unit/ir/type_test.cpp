// SPDX-License-Identifier: Apache-2.0
// ir/type_test.cpp — types as text and back.
#include "ir/type.h"

#include <gtest/gtest.h>

namespace tilewright::ir {
namespace {

TEST(Type, TextRoundTrips) {
  for (const char* text :
       {"f32", "*bf16", "i32[64]", "*f8e4m3[16, 128]", "b1[1, 2, 4]", "u64[1048576]"}) {
    Type type;
    ASSERT_TRUE(parse_type(text, type)) << text;
    EXPECT_EQ(type.to_string(), text);
  }
}

TEST(Type, WrongTextsAreRefused) {
  Type type;
  for (const char* text :
       {"", "f33", "f32[", "f32[]", "f32[3]", "f32[0]", "f32[-2]", "f32[2,]", "**f32", "f32[2] "})
    EXPECT_FALSE(parse_type(text, type)) << text;
}

TEST(Type, ShapesAndElements) {
  const Type type = Type::tile(f16, {4, 8});
  EXPECT_EQ(type.numel(), 32);
  EXPECT_EQ(type.element(), Type::scalar(f16));
  EXPECT_EQ(type.with_element(b1).to_string(), "b1[4, 8]");
  EXPECT_EQ(Type::pointer(f32).with_shape_of(type).to_string(), "*f32[4, 8]");
  EXPECT_EQ(Type::pointer(f32).with_shape_of(type).pointee().to_string(), "f32[4, 8]");
}

}  // namespace
}  // namespace tilewright::ir
