// SPDX-License-Identifier: Apache-2.0
// runtime/plan_test.cpp — plan expressions, and launches that follow plans: steps, workspaces,
// conditions.
#include "runtime/plan.h"

#include <memory>
#include <vector>

#include "cpu_sources.h"
#include "expect_error.h"
#include "runtime/module_key.h"

namespace tilewright {
namespace {

using Op = PlanOp::Kind;

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all = {pointer("x", f32), scalar("n", i32), scalar("m", u8),
                                             scalar("k", i64)};
  return all;
}

std::int64_t value(const PlanExpression& expression) {
  static const std::string name = "k";
  const std::uint64_t values[] = {0x1040, static_cast<std::uint64_t>(-3), 200, 1000};
  const std::int64_t grid[] = {10, 20, 30};
  const std::int64_t block[] = {4, 5, 6};
  check_expression(expression, name, parameters());
  return evaluate(expression, {name, parameters(), values, grid, block, 77, 132});
}

std::int64_t binary(Op kind, std::int64_t left, std::int64_t right) {
  return value({{Op::Constant, left}, {Op::Constant, right}, {kind}});
}

TEST(Plan, Leaves) {
  EXPECT_EQ(value({{Op::Constant, -5}}), -5);
  EXPECT_EQ(value({{Op::Grid, 1}}), 20);
  EXPECT_EQ(value({{Op::Block, 2}}), 6);
  EXPECT_EQ(value({{Op::SharedBytes}}), 77);
  EXPECT_EQ(value({{Op::Processors}}), 132);
  EXPECT_EQ(value({{Op::Argument, 1}}), -3);
  EXPECT_EQ(value({{Op::Argument, 2}}), 200);
  EXPECT_EQ(value({{Op::Argument, 3}}), 1000);
}

TEST(Plan, Arithmetic) {
  EXPECT_EQ(binary(Op::Add, 2, 3), 5);
  EXPECT_EQ(binary(Op::Subtract, 2, 3), -1);
  EXPECT_EQ(binary(Op::Multiply, -2, 3), -6);
  EXPECT_EQ(binary(Op::Divide, 7, 2), 3);
  EXPECT_EQ(binary(Op::CeilDivide, 7, 2), 4);
  EXPECT_EQ(binary(Op::CeilDivide, 8, 2), 4);
  EXPECT_EQ(binary(Op::CeilDivide, 0, 2), 0);
  EXPECT_EQ(binary(Op::CeilDivide, -7, 2), -3);
  EXPECT_EQ(binary(Op::Modulo, 7, 4), 3);
  EXPECT_EQ(binary(Op::Minimum, 7, 4), 4);
  EXPECT_EQ(binary(Op::Maximum, 7, 4), 7);
  EXPECT_EQ(binary(Op::IsMultiple, 8, 4), 1);
  EXPECT_EQ(binary(Op::IsMultiple, 9, 4), 0);
}

TEST(Plan, Alignment) {
  EXPECT_EQ(value({{Op::Constant, 16}, {Op::IsAligned, 0}}), 1);
  EXPECT_EQ(value({{Op::Constant, 128}, {Op::IsAligned, 0}}), 0);
}

TEST(Plan, NestedExpressions) {
  // (grid.x * 3 - 1) / (n + 5)
  EXPECT_EQ(value({{Op::Grid, 0},
                   {Op::Constant, 3},
                   {Op::Multiply},
                   {Op::Constant, 1},
                   {Op::Subtract},
                   {Op::Argument, 1},
                   {Op::Constant, 5},
                   {Op::Add},
                   {Op::Divide}}),
            14);
}

TEST(Plan, ValuesThatDoNotExistAreErrors) {
  const std::string start =
      "kernel 'k' cannot be launched with these arguments and sizes: its launch plan ";
  expect_error(start + "divides by zero", [] { binary(Op::Divide, 1, 0); });
  expect_error(start + "divides by zero", [] { binary(Op::IsMultiple, 1, 0); });
  expect_error(start + "overflows 64 bits", [] { binary(Op::Multiply, INT64_MAX, 2); });
  expect_error(start + "overflows 64 bits", [] { binary(Op::Add, INT64_MAX, 1); });
}

TEST(Plan, SimplifiedExpressionsHaveTheSameValue) {
  const PlanExpression programs = {{Op::Grid, 1},  {Op::Processors}, {Op::Constant, 4},
                                   {Op::Multiply}, {Op::Divide},     {Op::Constant, 1},
                                   {Op::Maximum}};
  const PlanExpression simple = simplified(programs, 2);
  EXPECT_EQ(simple.size(), 5u);
  EXPECT_EQ(value(simple), 20 / (2 * 4));
  EXPECT_EQ(value(simplified(programs, 132)), value(programs));
  EXPECT_EQ(simplified({{Op::Constant, 6}, {Op::Constant, 2}, {Op::Divide}}, 1).size(), 1u);
  EXPECT_TRUE(simplified({}, 1).empty());
  // The launch, which has a name, will say so.
  EXPECT_EQ(simplified({{Op::Constant, 1}, {Op::Constant, 0}, {Op::Divide}}, 1).size(), 3u);
}

TEST(Plan, BrokenExpressionsAreOurBug) {
  EXPECT_THROW(value({{Op::Add}}), InternalError);
  EXPECT_THROW(value({{Op::Constant, 1}, {Op::Constant, 1}}), InternalError);
  EXPECT_THROW(value({{Op::Grid, 3}}), InternalError);
  EXPECT_THROW(value({{Op::Argument, 0}}), InternalError);
  EXPECT_THROW(value({{Op::Argument, 9}}), InternalError);
  EXPECT_THROW(value({{Op::Constant, 16}, {Op::IsAligned, 1}}), InternalError);
  EXPECT_THROW(value(PlanExpression(17, {Op::Constant, 1})), InternalError);
}

// ---- Launches.

// sum: partial sums of 100 elements in a workspace, then their total; or, for n that is a multiple
// of 7, a single step that stores -n.
KernelSource sum_source() {
  KernelSource source = cpu_source("sum.cpp", cpu_kernel_text("partial", R"(
  const int* x = *(const int**)parameters[0];
  const long n = *(int*)parameters[1];
  long* sums = *(long**)parameters[2];
  for (unsigned long i = first; i < last; ++i)
    for (long j = i * 100; j < n && j < (long)i * 100 + 100; ++j) sums[i] += x[j];)") +
                                                  cpu_kernel_text("total", R"(
  const long* sums = *(const long**)parameters[0];
  const int programs = *(int*)parameters[1];
  long* out = *(long**)parameters[2];
  *out = 0;
  for (int i = 0; i < programs; ++i) *out += sums[i];)") +
                                                  cpu_kernel_text("negative", R"(
  **(long**)parameters[0] = -*(int*)parameters[1];)"));
  const PlanExpression one = {{Op::Constant, 1}};
  LaunchPlan special = direct_plan("negative", 0);
  special.conditions = {{{Op::Argument, 1}, {Op::Constant, 7}, {Op::IsMultiple}}};
  special.steps[0].parameters = {{KernelParameter::Kind::Argument, 2},
                                 {KernelParameter::Kind::Argument, 1}};
  special.steps[0].grid[0] = one;

  LaunchPlan general;
  general.workspaces = {{{{Op::Grid, 0}, {Op::Constant, 8}, {Op::Multiply}}, true}};
  LaunchStep partial;
  partial.entry = "partial";
  partial.parameters = {{KernelParameter::Kind::Argument, 0},
                        {KernelParameter::Kind::Argument, 1},
                        {KernelParameter::Kind::Workspace, 0}};
  LaunchStep total;
  total.entry = "total";
  total.parameters = {{KernelParameter::Kind::Workspace, 0},
                      {KernelParameter::Kind::GridSize, 0},
                      {KernelParameter::Kind::Argument, 2}};
  total.grid[0] = one;
  general.steps = {partial, total};
  source.kernels = {
      {"sum", {pointer("x", i32), scalar("n", i32), pointer("out", i64)}, {special, general}, {}}};
  return source;
}

TEST(Plan, StepsShareAZeroedWorkspace) {
  const Function sum = Module::load(sum_source(), Device::cpu()).function("sum");
  for (const int n : {1, 99, 100, 101, 12345, 100001}) {
    std::vector<int> x(n, 3);
    long out = 0;
    for (int round = 0; round < 2; ++round) sum[{.grid = (n + 99) / 100}](x.data(), n, &out);
    EXPECT_EQ(out, 3L * n);
  }
}

TEST(Plan, ConditionsChooseTheVariant) {
  const Function sum = Module::load(sum_source(), Device::cpu()).function("sum");
  std::vector<int> x(70, 3);
  long out = 0;
  sum[{.grid = 1}](x.data(), 70, &out);
  EXPECT_EQ(out, -70);
  sum[{.grid = 1}](x.data(), 69, &out);
  EXPECT_EQ(out, 207);
}

TEST(Plan, EmptyGridsRunNoStep) {
  const Function sum = Module::load(sum_source(), Device::cpu()).function("sum");
  long out = 42;
  sum[{.grid = 0}](nullptr, 5, &out);
  EXPECT_EQ(out, 42);
  expect_error("the grid of kernel 'sum' has size -2 along x; it must be 0 to 2147483647",
               [&] { sum[{.grid = -2}](nullptr, 5, &out); });
}

// shape: tells its grid, its block and the user's grid. Up to four programs share a block, as many
// as leave 8 blocks; `n` threads along y.
Function shape_function() {
  KernelSource source = cpu_source("shape.cpp", cpu_kernel_text("shape", R"(
  int* out = *(int**)parameters[0];
  out[0] = launch->grid[0]; out[1] = launch->block[0]; out[2] = launch->block[1];
  out[3] = *(int*)parameters[2]; out[4] = launch->grid[1];)"));
  LaunchPlan plan = direct_plan("shape", 2);
  LaunchStep& step = plan.steps[0];
  const PlanExpression programs = {{Op::Grid, 0},     {Op::Constant, 8}, {Op::Divide},
                                   {Op::Constant, 4}, {Op::Minimum},     {Op::Constant, 1},
                                   {Op::Maximum}};
  step.block[0] = programs;
  step.block[0].insert(step.block[0].end(), {{Op::Constant, 32}, {Op::Multiply}});
  step.block[1] = {{Op::Argument, 1}};
  step.block[2] = {{Op::Constant, 1}};
  step.shared_bytes = {{Op::Constant, 0}};
  step.grid[0] = {{Op::Grid, 0}};
  step.grid[0].insert(step.grid[0].end(), programs.begin(), programs.end());
  step.grid[0].push_back({Op::CeilDivide});
  step.parameters.push_back({KernelParameter::Kind::GridSize, 0});
  source.kernels = {{"shape", {pointer("out", i32), scalar("n", i32)}, {plan}, {}}};
  return Module::load(source, Device::cpu()).function("shape");
}

TEST(Plan, SizesFollowGridAndArguments) {
  const Function shape = shape_function();
  using Told = std::vector<int>;
  const auto told = [&](const LaunchConfig& config, int n) {
    Told out(5);
    shape[config](out.data(), n);
    return out;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(told({.grid = 1}, 1), (Told{1, 32, 1, 1, 1}));
    EXPECT_EQ(told({.grid = 1}, 2), (Told{1, 32, 2, 1, 1}));
    EXPECT_EQ(told({.grid = {17, 3}}, 3), (Told{9, 64, 3, 17, 3}));
    EXPECT_EQ(told({.grid = {17, 2}}, 3), (Told{9, 64, 3, 17, 2}));
    EXPECT_EQ(told({.grid = 101}, 1), (Told{26, 128, 1, 101, 1}));
    EXPECT_EQ(told({.grid = 0}, 1), (Told{0, 0, 0, 0, 0}));
    EXPECT_EQ(told({.grid = 1, .block = 7, .shared_bytes = 9}, 1), (Told{1, 32, 1, 1, 1}));
  }
  expect_error(
      "the block of kernel 'shape' has 128 x 9 x 1 = 1152 threads; cpu allows at most 1024",
      [&] { told({.grid = 101}, 9); });
  expect_error("the block of kernel 'shape' has size 0 along y; it must be 1 or more",
               [&] { told({.grid = 1}, 0); });
  expect_error("the grid of kernel 'shape' has size -1 along y; it must be 0 to 2147483647", [&] {
    told({.grid = {1, -1}}, 1);
  });
}

TEST(Plan, NoVariantIsAnError) {
  KernelSource source = sum_source();
  source.kernels[0].variants.pop_back();
  const Function sum = Module::load(source, Device::cpu()).function("sum");
  long out = 0;
  expect_error("kernel 'sum' has no variant for these arguments and sizes",
               [&] { sum[{.grid = 1}](nullptr, 5, &out); });
}

// What no variant is for, another source takes, which is loaded when it is wanted.
TEST(Plan, AnotherSourceTakesOtherLaunches) {
  KernelSource source = sum_source(), other = sum_source();
  source.kernels[0].variants.pop_back();
  other.text += "\n// the other one\n";
  source.kernels[0].otherwise = std::make_shared<const KernelSource>(other);
  const Function sum = Module::load(source, Device::cpu()).function("sum");
  const std::vector<int> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  long out = 0;
  sum[{.grid = 1}](x.data(), 14, &out);
  EXPECT_EQ(out, -14);
  for (const int n : {5, 6}) {
    sum[{.grid = 1}](x.data(), n, &out);
    EXPECT_EQ(out, n * (n + 1) / 2);
  }
  // It is a part of what the module is.
  KernelSource without = source;
  without.kernels[0].otherwise = nullptr;
  EXPECT_NE(module_key(source), module_key(without));
  KernelSource broken = source;
  other.text = "no C++";
  broken.kernels[0].otherwise = std::make_shared<const KernelSource>(other);
  const Function half = Module::load(broken, Device::cpu()).function("sum");
  half[{.grid = 1}](x.data(), 7, &out);
  EXPECT_EQ(out, -7);
  EXPECT_THROW(half[{.grid = 1}](x.data(), 5, &out), Error);
}

TEST(Plan, NegativeWorkspaceIsAnError) {
  KernelSource source = sum_source();
  source.kernels[0].variants[1].workspaces[0].bytes = {{Op::Constant, -8}};
  const Function sum = Module::load(source, Device::cpu()).function("sum");
  long out = 0;
  expect_error(
      "kernel 'sum' cannot be launched with these arguments and sizes: its workspace has -8 bytes",
      [&] { sum[{.grid = 1}](nullptr, 5, &out); });
}

TEST(Plan, WorkspacesAreGivenBack) {
  const Function sum = Module::load(sum_source(), Device::cpu()).function("sum");
  const std::size_t before = Device::cpu().memory().in_use;
  int x = 1;
  long out = 0;
  sum[{.grid = 1}](&x, 1, &out);
  EXPECT_EQ(Device::cpu().memory().in_use, before);
}

// What emulated kernels read of a tensor map (device_lib/emulate/cuda/ring.cuh).
TEST(Plan, TensorMapsOfTheCpuAreOpen) {
  KernelSource source = cpu_source("map.cpp", cpu_kernel_text("look", R"(
  struct Map {
    const void* address;
    unsigned element_bytes, rank;
    unsigned long sizes[5];
    unsigned long strides[4];
    unsigned short box[5];
    unsigned short swizzle_bytes;
  };
  const Map& map = *(const Map*)parameters[0];
  long* out = *(long**)parameters[1];
  out[0] = (long)map.address;
  out[1] = map.element_bytes * 10 + map.rank;
  out[2] = map.sizes[0] * 1000 + map.sizes[1];
  out[3] = map.strides[0];
  out[4] = map.box[0] * 1000 + map.box[1];
  out[5] = map.swizzle_bytes;)"));
  LaunchPlan plan = direct_plan("look", 2);
  plan.tensor_maps = {
      {f32, {{{Op::Constant, 64}}, {{Op::Constant, 5}}}, {{{Op::Constant, 512}}}, {32, 4}, 128}};
  plan.steps[0].parameters[0] = {KernelParameter::Kind::TensorMap, 0, 0};
  source.kernels = {{"look", {pointer("x", f32), pointer("out", i64)}, {plan}, {}}};
  const Function look = Module::load(source, Device::cpu()).function("look");
  alignas(16) float x[16] = {};
  std::int64_t out[6] = {};
  look[{.grid = 1}](x, out);
  EXPECT_EQ(out[0], reinterpret_cast<std::int64_t>(x));
  EXPECT_EQ(out[1], 42);
  EXPECT_EQ(out[2], 64005);
  EXPECT_EQ(out[3], 512);
  EXPECT_EQ(out[4], 32004);
  EXPECT_EQ(out[5], 128);
}

}  // namespace
}  // namespace tilewright
