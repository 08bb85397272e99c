// SPDX-License-Identifier: Apache-2.0
// unit/ir/read_test.cpp — what is wrong with a user's kernel, in one sentence with line, op and
// rule.
#include "ir/read.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace tilewright::ir {
namespace {

std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(read(text, "k.tir"));
  } catch (const SyntaxOrTypeError& error) {
    return first_line(error.what());
  }
  return "";
}

TEST(ReadTest, AValidKernelHasThePlacesOfItsOps) {
  const ParsedKernel parsed = read(
      "kernel @k(%x: *f32) source {\n"
      "  %v = load %x : f32\n"
      "  store %x, %v\n"
      "}\n");
  ASSERT_EQ(parsed.kernel.body.ops.size(), 2u);
  EXPECT_EQ(parsed.places.at(parsed.kernel.body.ops[0]).line, 2);
  EXPECT_EQ(parsed.places.at(parsed.kernel.body.ops[0]).column, 8);
  EXPECT_EQ(parsed.places.at(parsed.kernel.body.ops[1]).line, 3);
}

TEST(ReadTest, MistakesAreNamedWithLineOpAndRule) {
  EXPECT_EQ(problem_of("kernel @k(%x: *f32, %n: i32) source {\n  store %x, %n\n}\n"),
            "k.tir:2:3: error: op 'store' of kernel 'k' is not valid: the value must be f32, is "
            "i32");
  EXPECT_EQ(problem_of("kernel @k(%x: *f32, %n: i32) source {\n"
                       "  %c = constant : i32\n}\n"),
            "k.tir:2:8: error: op 'constant' of kernel 'k' is not valid: attribute 'value' is "
            "missing");
  EXPECT_EQ(problem_of("kernel @k(%x: *f32, %n: i32) source {\n  %y = lod %x : f32\n}\n"),
            "k.tir:2:8: error: there is no op 'lod'; did you mean 'load'?");
  EXPECT_EQ(problem_of("kernel @k(%x: *f32) source {\n"
                       "  %p = affine %x, %x : *f32[4]\n}\n")
                .substr(0, 59),
            "k.tir:2:8: error: op 'affine' of kernel 'k' is not valid: t");
}

TEST(ReadTest, AMistakeOfTheWholeKernelHasNoPlace) {
  EXPECT_EQ(problem_of("kernel @k(%x: *f32) tile {\n"
                       "  buffer @b : f32[4] {slots = 1}\n"
                       "  buffer @b : f32[4] {slots = 1}\n}\n"),
            "k.tir: error: kernel 'k' is not valid: there are two buffers 'b'");
}

}  // namespace
}  // namespace tilewright::ir
