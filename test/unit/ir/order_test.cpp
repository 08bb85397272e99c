// SPDX-License-Identifier: Apache-2.0
// ir/order_test.cpp — what the interpreter says of accesses whose order is open, and of rounding.
#include "ir/interpret/order.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

// Runs `ops` in two programs over 16 integers at %x; gives the finding.
std::string order_of(const std::string& ops) {
  Kernel kernel = parse(fmt::format("kernel @k(%x: *i32) source {{\n{}\n}}", ops));
  verify(kernel);
  std::vector<std::int32_t> data(16, 7);
  const InterpretBuffer buffers[] = {
      {.name = "x", .data = data.data(), .bytes = data.size() * sizeof(data[0])}};
  const InterpretArgument arguments[] = {InterpretPointer{0}};
  OrderWatch order(kernel);
  interpret(kernel, buffers, arguments, {.grid = {2, 1, 1}, .order = &order});
  return order.finding();
}

// %pid; %i = (0, 1, 2, 3); %p = the places pid * 4 + i / `by` of %x
std::string places(int by) {
  return fmt::format(R"(
    %pid = program_id {{axis = 0}} : i32
    %i = arange {{start = 0}} : i32[4]
    %c = constant {{value = {}}} : i32
    %cs = splat %c : i32[4]
    %d = div %i, %cs : i32[4]
    %four = constant {{value = 4}} : i32
    %b = mul %pid, %four : i32
    %bs = splat %b : i32[4]
    %o = add %bs, %d : i32[4]
    %xs = splat %x : *i32[4]
    %p = offset %xs, %o : *i32[4]
)",
                     by);
}

TEST(Order, OneStoreThatWritesAnElementTwice) {
  EXPECT_EQ(order_of(places(1) + "store %p, %i"), "");
  EXPECT_EQ(order_of(places(2) + "store %p, %d"), "");  // the same value twice
  EXPECT_EQ(order_of(places(2) + "store %p, %i"),
            "kernel 'k': one store writes x[0] more than once, with different values");
  EXPECT_EQ(order_of(places(2) + "store %p, %d\nstore %p, %cs"), "");  // two stores: in order
}

TEST(Order, ProgramsThatTouchTheSameElements) {
  const std::string own = places(1);
  EXPECT_EQ(order_of(own + "%v = load %x : i32\nstore %x, %v"), "");  // nothing changes
  EXPECT_EQ(order_of(own + "store %x, %pid"), "kernel 'k': programs 0 and 1 write x[0]");
  EXPECT_EQ(order_of(own + "%v = load %x : i32\n%w = add %v, %four : i32\nstore %x, %w"),
            "kernel 'k': programs 0 and 1 touch x[0], one of them writing");
  EXPECT_EQ(order_of(own + "%v = atomic_rmw %x, %four {op = \"add\"} : i32"), "");
  EXPECT_EQ(order_of(own + "%v = atomic_rmw %x, %four {op = \"add\"} : i32\nstore %x, %four"),
            "kernel 'k': programs 0 and 1 touch x[0], one of them writing");
}

TEST(Order, ProgramsThatSynchroniseOrderThemselves) {
  EXPECT_EQ(order_of(places(1) + R"(
    %old = atomic_rmw %x, %four {op = "add"} : i32
    %one = constant {value = 1} : i32
    %y = offset %x, %one : *i32
    store %y, %old)"),
            "");
}

TEST(Jitter, MovesWhatIsRoundedAndNothingElse) {
  Kernel kernel = parse(R"(kernel @k(%x: *f32, %a: f32) source {
    %s = mul %a, %a : f32
    store %x, %s
    %one = constant {value = 1} : i32
    %y = offset %x, %one : *f32
    %m = max %a, %a {nan = "ignore"} : f32
    store %y, %m
  })");
  verify(kernel);
  const auto run = [&](std::uint64_t seed) {
    std::vector<float> data(2);
    const InterpretBuffer buffers[] = {
        {.name = "x", .data = data.data(), .bytes = data.size() * sizeof(float)}};
    const InterpretArgument arguments[] = {InterpretPointer{0}, 1.1};
    interpret(kernel, buffers, arguments, {.jitter = seed});
    return data;
  };
  const std::vector<float> exact = run(0);
  double farthest = 0;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const std::vector<float> moved = run(seed);
    farthest = std::max(farthest, std::fabs(static_cast<double>(moved[0]) - exact[0]));
    EXPECT_EQ(moved[1], exact[1]);
    EXPECT_EQ(run(seed), moved);
  }
  EXPECT_GT(farthest, 0);
  EXPECT_LT(farthest, 1e-6);
}

}  // namespace
}  // namespace tilewright::ir
