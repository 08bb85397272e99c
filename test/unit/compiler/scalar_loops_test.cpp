// SPDX-License-Identifier: Apache-2.0
// compiler/scalar_loops_test.cpp — which loops g++'s report calls scalar, and why.
#include "compiler/scalar_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

KernelSource generated() {
  KernelSource source;
  source.name = "k.cpp";
  source.text = R"(static void k_program(f32* x, f32* y) {
  // k.py:8: y = atan(x)
  #pragma omp simd
  for (i32 i = 0; i < 64; ++i) y[i] = tw::atan(x[i]);
  // k.py:9: for t in range(n):
  for (i32 t = 0; t < n; ++t) {
    tw::map(0, 64, z, false, [&](i64 i) TW_ALWAYS {
      return tw::sqrt(x[i]);
    });
    // k.py:11: y = atan(z)
    #pragma omp simd
    for (i32 i = 0; i < 64; ++i) {
      const f32 z = x[i];
      y[i] = tw::atan(z);
    }
  }
}
)";
  source.headers = {{"tw/rows.h", "#pragma omp simd\n  for (;;) a();\n  for (;;) b();\n"}};
  return source;
}

TEST(ScalarLoops, ACallThatStaysIsNamedWithTheUsersLine) {
  const auto loops =
      scalar_loops_in(generated(),
                      "k.cpp:4:30: missed: couldn't vectorize loop\n"
                      "k.cpp:4:44: missed: statement clobbers memory: _7 = atanf (_5);\n"
                      "k.cpp:12:1: optimized: loop vectorized using 64 byte vectors\n");
  ASSERT_THAT(loops, SizeIs(1));
  EXPECT_EQ(loops[0].place, "k.py:8");
  EXPECT_EQ(loops[0].reason, "it calls atanf");
}

TEST(ScalarLoops, TheFirstStatementStandsForItsLoop) {
  const auto loops =
      scalar_loops_in(generated(),
                      "k.cpp:13:14: missed: couldn't vectorize loop\n"
                      "k.cpp:13:14: missed: not vectorized: control flow in loop.\n");
  ASSERT_THAT(loops, SizeIs(1));
  EXPECT_EQ(loops[0].place, "k.py:11");
  EXPECT_EQ(loops[0].reason, "control flow in loop");
}

TEST(ScalarLoops, AReasonThatSaysNothingIsLeftOut) {
  const auto loops =
      scalar_loops_in(generated(),
                      "k.cpp:4:14: missed: couldn't vectorize loop\n"
                      "k.cpp:4:1: missed: not vectorized: no vectype for stmt: x = *_9;\n");
  ASSERT_THAT(loops, SizeIs(1));
  EXPECT_EQ(loops[0].reason, "");
}

TEST(ScalarLoops, WhatIsAVectorAtOneWidthIsOne) {
  EXPECT_THAT(scalar_loops_in(generated(),
                              "k.cpp:4:30: missed: couldn't vectorize loop\n"
                              "k.cpp:4:30: optimized: loop vectorized using 32 byte vectors\n"),
              IsEmpty());
}

TEST(ScalarLoops, TheUsersLoopsAndThoseOverProgramsAreNone) {
  EXPECT_THAT(scalar_loops_in(generated(),
                              "k.cpp:6:20: missed: couldn't vectorize loop\n"
                              "k.cpp:1:13: missed: couldn't vectorize loop\n"
                              "k.cpp:8:13: missed: couldn't vectorize loop\n"
                              "tw/rows.h:3:5: missed: couldn't vectorize loop\n"
                              "elsewhere.h:1:5: missed: couldn't vectorize loop\n"),
              IsEmpty());
}

TEST(ScalarLoops, MarkedOnesOfTheLibraryAre) {
  EXPECT_THAT(scalar_loops_in(generated(), "tw/rows.h:2:5: missed: couldn't vectorize loop\n"),
              SizeIs(1));
}

}  // namespace
}  // namespace tilewright
