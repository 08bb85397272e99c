// SPDX-License-Identifier: Apache-2.0
// ir/cost_test.cpp — work of small kernels, counted by hand.
#include "ir/cost.h"

#include <vector>

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"
#include "runtime/plan.h"

namespace tilewright::ir {
namespace {

struct Numbers {
  std::int64_t flops, read, written;
  bool is_exact;
  friend bool operator==(const Numbers&, const Numbers&) = default;
};

std::ostream& operator<<(std::ostream& out, const Numbers& n) {
  return out << "{" << n.flops << ", " << n.read << ", " << n.written << ", " << n.is_exact << "}";
}

// Of kernel (%x: *f32, %n: i32) with n = 100 on a grid of (7, 1, 1).
Numbers numbers(const KernelCost& cost) {
  const std::string name = "k";
  const std::vector<Parameter> parameters = {
      {.name = "x", .kind = Parameter::Kind::Pointer, .dtype = DType::Float32},
      {.name = "n", .kind = Parameter::Kind::Scalar, .dtype = DType::Int32}};
  const std::uint64_t values[] = {0, 100};
  const std::int64_t grid[] = {7, 1, 1}, block[] = {1, 1, 1};
  const PlanInputs inputs{name, parameters, values, grid, block};
  const auto value = [&](const PlanExpression& expression) {
    check_expression(expression, name, parameters);
    return evaluate(expression, inputs);
  };
  return {value(cost.flops), value(cost.bytes_read), value(cost.bytes_written), cost.is_exact};
}

Kernel kernel(const std::string& ops) {
  Kernel kernel = parse("kernel @k(%x: *f32, %n: i32) tile {\n" + ops + "\n}");
  verify(kernel);
  return kernel;
}

Numbers program_cost(const std::string& ops) { return numbers(cost_of_program(kernel(ops))); }

constexpr const char* loads = R"(
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %p = affine %x, %one : *f32[64]
  %v = load %p : f32[64]
)";

TEST(Cost, ElementwiseAndReduction) {
  const std::string ops = std::string(loads) + R"(
    %w = mul %v, %v : f32[64]
    %e = math %w {function = "exp"} : f32[64]
    %f = fma %e, %w, %v : f32[64]
    %s = reduce %f {axis = 0} : f32 (%a: f32, %b: f32) {
      %c = add %a, %b : f32
      yield %c
    }
    store %p, %f
    store %x, %s)";
  EXPECT_EQ(program_cost(ops), (Numbers{64 + 64 + 128 + 63, 256, 256 + 4, true}));
  EXPECT_EQ(numbers(cost_of_launch(kernel(ops))), (Numbers{7 * 319, 7 * 256, 7 * 260, true}));
}

TEST(Cost, IntegersAreNoFlopsAndAtomicsReadAndWrite) {
  EXPECT_EQ(program_cost(std::string(loads) + R"(
    %i = arange {start = 0} : i32[64]
    %j = add %i, %i : i32[64]
    %old = atomic_rmw %p, %v {op = "fadd"} : f32[64])"),
            (Numbers{0, 512, 256, true}));
}

TEST(Cost, RepeatedElementsCountOnce) {
  EXPECT_EQ(program_cost(std::string(loads) + R"(
    %q = affine %x, %zero, %one : *f32[8, 64]
    %u = load %q : f32[8, 64]
    %s = splat %x : *f32[16]
    %t = load %s : f32[16])"),
            (Numbers{0, 256 + 256 + 4, 0, true}));
}

TEST(Cost, MatrixProductInALoopOverAnArgument) {
  const std::string ops = std::string(loads) + R"(
    %from = constant {value = 0} : i32
    %step = constant {value = 16} : i32
    %acc = constant {value = 0.0} : f32[8, 4]
    %r = for %from, %n, %step, %acc : f32[8, 4] (%i: i32, %c: f32[8, 4]) {
      %a = constant {value = 1.0} : f32[8, 16]
      %b = constant {value = 1.0} : f32[16, 4]
      %d = dot %a, %b, %c : f32[8, 4]
      %again = load %p : f32[64]
      yield %d
    })";
  // 100 / 16, rounded up.
  EXPECT_EQ(program_cost(ops), (Numbers{7 * 2 * 8 * 4 * 16, 256 + 7 * 256, 0, true}));
}

TEST(Cost, LoopBoundsAreFollowedThroughArithmetic) {
  EXPECT_EQ(program_cost(R"(
    %zero = constant {value = 0} : i32
    %one = constant {value = 1} : i32
    %m = constant {value = 31} : i32
    %size = constant {value = 32} : i32
    %sum = add %n, %m : i32
    %blocks = div %sum, %size : i32
    for %zero, %blocks, %one (%i: i32) {
      for %zero, %size, %one (%j: i32) {
        %v = load %x : f32
        yield
      }
      yield
    })"),
            (Numbers{0, 4 * 32 * 4, 0, true}));
  // Backwards, not at all.
  EXPECT_EQ(program_cost(R"(
    %one = constant {value = 1} : i32
    for %n, %one, %one (%i: i32) {
      %v = load %x : f32
      yield
    })"),
            (Numbers{0, 0, 0, true}));
}

TEST(Cost, WhatTheLaunchDoesNotTellIsNotExact) {
  EXPECT_EQ(program_cost(R"(
    %zero = constant {value = 0} : i32
    %one = constant {value = 1} : i32
    %pid = program_id {axis = 0} : i32
    for %zero, %pid, %one (%i: i32) {
      %v = load %x : f32
      yield
    })"),
            (Numbers{0, 3 * 4, 0, false}));
  EXPECT_EQ(program_cost(R"(
    %one = constant {value = 1} : i32
    %c = compare %n, %one {is = "gt"} : b1
    if %c {
      %v = load %x : f32
      yield
    } then {
      yield
    })"),
            (Numbers{0, 4, 0, false}));
  EXPECT_EQ(program_cost(R"(
    %one = constant {value = 1} : i32
    %r = while %n : i32 (%i: i32) {
      %c = compare %i, %one {is = "gt"} : b1
      condition %c, %i
    } then (%j: i32) {
      %v = load %x : f32
      %k = sub %j, %one : i32
      yield %k
    })"),
            (Numbers{0, 4, 0, false}));
}

}  // namespace
}  // namespace tilewright::ir
