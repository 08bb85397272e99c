// SPDX-License-Identifier: Apache-2.0
// codegen/form_sweeps_test.cpp — schedules as kernels of the Laid stage.
#include "passes/laid/form_sweeps.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace tilewright {
namespace {

// The text of the kernel in sweeps, verified and read back.
std::string in_sweeps(const std::string& text, const SweepPolicy& policy = {}) {
  const ir::Kernel kernel = ir::parse(text);
  ir::verify(kernel);
  const ir::Kernel laid = form_sweeps(kernel, policy).kernel;
  ir::verify(laid);
  const std::string out = ir::print(laid, {.with_locations = false});
  const ir::Kernel again = ir::parse(out);
  ir::verify(again);
  EXPECT_EQ(ir::print(again, {.with_locations = false}), out);
  return out;
}

const std::string scaled_by_its_sum = R"(kernel @k(%p: *f32, %q: *f32) tile {
  %one = constant {value = 1} : i64
  %ps = affine %p, %one : *f32[8]
  %x = load %ps : f32[8]
  %s = reduce %x {axis = 0} : f32 (%a: f32, %b: f32) {
    %c = add %a, %b : f32
    yield %c
  }
  %all = splat %s : f32[8]
  %y = mul %x, %all : f32[8]
  %qs = affine %q, %one : *f32[8]
  store %qs, %y
}
)";

TEST(FormSweeps, ALoadThatIsRepeatedStandsInEachSweep) {
  EXPECT_EQ(in_sweeps(scaled_by_its_sum), R"(kernel @k(%p: *f32, %q: *f32) laid {
  %one = constant {value = 1} : i64
  %s = sweep {shape = [8]} : f32 {
    %ps = affine %p, %one : *f32[8]
    %x = load %ps : f32[8]
    %s.1 = reduce %x {axis = 0} : f32 (%a: f32, %b: f32) {
      %c = add %a, %b : f32
      yield %c
    }
    yield %s.1
  }
  sweep {shape = [8], repeats = [1]} {
    %ps.1 = affine %p, %one : *f32[8]
    %x.1 = load %ps.1 : f32[8]
    %all = splat %s : f32[8]
    %y = mul %x.1, %all : f32[8]
    %qs = affine %q, %one : *f32[8]
    store %qs, %y
    yield
  }
}
)");
}

TEST(FormSweeps, ATileThatIsKeptIsYielded) {
  const std::string text = in_sweeps(scaled_by_its_sum, {.reload_from = INT64_MAX});
  EXPECT_THAT(text, testing::HasSubstr(
                        "%x, %s = sweep {shape = [8], into = [\"x\", \"\"]} : f32[8], f32 {"));
  EXPECT_THAT(text, testing::HasSubstr("buffer @x : f32[8]\n"));
  EXPECT_THAT(text, testing::HasSubstr("%y = mul %x, %all : f32[8]"));
}

// A cheap tile that only the loop begins with is computed where it is copied.
TEST(FormSweeps, WhatALoopBeginsWithIsMadeByASweep) {
  const std::string text = in_sweeps(R"(kernel @k(%p: *f32, %n: i32) tile {
  %zero = constant {value = 0} : i32
  %next = constant {value = 1} : i32
  %one = constant {value = 1} : i64
  %numbers = arange {start = 0} : i32[8]
  %first = cast %numbers : f32[8]
  %end = for %zero, %n, %next, %first : f32[8] (%k: i32, %sum: f32[8]) {
    %more = add %sum, %sum : f32[8]
    yield %more
  }
  %ps = affine %p, %one : *f32[8]
  store %ps, %end
}
)");
  EXPECT_THAT(text, testing::HasSubstr("%first = sweep {shape = [8], repeats = [1]} : f32[8] {"));
  EXPECT_THAT(text, testing::HasSubstr("for %zero, %n, %next, %first {into = [\"sum\"]} : f32[8]"));
  EXPECT_THAT(text, testing::HasSubstr("%more = sweep {shape = [8], into = [\"sum\"]} : f32[8] {"));
}

TEST(FormSweeps, ValuesThatNeedNamesAndWrappingGetThem) {
  const std::string kernel = R"(kernel @k(%p: *i32) tile {
  %one = constant {value = 1} : i64
  %ps = affine %p, %one : *i32[8]
  %0 = load %ps : i32[8]
  %1 = add %0, %0 : i32[8]
  %2 = mul %1, %1 : i32[8]
  store %ps, %2
}
)";
  const ir::Kernel parsed = ir::parse(kernel);
  SweepPolicy policy{.line_name = "t"};
  policy.lines.assign(parsed.value_count(), false);
  policy.wraps.assign(parsed.value_count(), false);
  ir::walk(parsed.body, [&](const ir::Op& op) {
    if (op.kind == ir::OpKind::Add) policy.lines[op.result().id] = true;
    if (op.kind == ir::OpKind::Multiply) policy.wraps[op.result().id] = true;
  });
  const std::string text = in_sweeps(kernel, policy);
  EXPECT_THAT(text, testing::HasSubstr("%t = add %0, %0 : i32[8]"));
  EXPECT_THAT(text, testing::HasSubstr("%1 = mul %t, %t {wraps = 1} : i32[8]"));
}

// In place: all elements are read before one of them is written.
TEST(FormSweeps, LoadsOfASweepComeBeforeItsStores) {
  const std::string kernel = R"(kernel @k(%p: *f32, %q: *f32) tile {
  %one = constant {value = 1} : i64
  %ps = affine %p, %one : *f32[8]
  %qs = affine %q, %one : *f32[8]
  %x = load %ps : f32[8]
  %y = add %x, %x : f32[8]
  store %ps, %y
  store %qs, %x
}
)";
  const ir::Kernel laid = ir::parse(in_sweeps(kernel));
  std::vector<float> p(8), q(8);
  std::iota(p.begin(), p.end(), 1.0f);
  const ir::InterpretBuffer buffers[] = {{.name = "p", .data = p.data(), .bytes = 32},
                                         {.name = "q", .data = q.data(), .bytes = 32}};
  const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0}, ir::InterpretPointer{1}};
  ir::interpret(laid, buffers, arguments, {});
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(p[static_cast<std::size_t>(i)], 2.0f * static_cast<float>(i + 1));
    EXPECT_EQ(q[static_cast<std::size_t>(i)], static_cast<float>(i + 1));
  }
}

}  // namespace
}  // namespace tilewright
