// SPDX-License-Identifier: Apache-2.0
// runtime/warm_launch_test.cpp — a warm launch allocates nothing, whether direct or planned.
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "cpu_sources.h"

// The sanitizers have allocation functions of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local long allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const data = std::malloc(bytes)) return data;
  throw std::bad_alloc();
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }

namespace tilewright {
namespace {

long allocations_of_launches(const Function& add) {
  float values[3] = {};
  const auto launch = [&] { add[{.grid = 1}](values, values + 1, values + 2, 1L); };
  launch();
  const long before = allocations;
  for (int i = 0; i < 10; ++i) launch();
  return allocations - before;
}

TEST(WarmLaunch, CountsAllocationsAtAll) {
  const long before = allocations;
  delete new int;
  std::vector<int> some(100);
  EXPECT_GE(allocations - before, 1);
}

TEST(WarmLaunch, DirectAllocatesNothing) {
  const Module module = Module::load(add_source(), Device::cpu());
  EXPECT_EQ(allocations_of_launches(module.function("add")), 0);
}

TEST(WarmLaunch, PlannedAllocatesNothing) {
  KernelSource source = add_source();
  LaunchPlan plan = direct_plan("add", 4);
  plan.conditions = {
      {{PlanOp::Kind::Argument, 3}, {PlanOp::Kind::Constant, 1}, {PlanOp::Kind::IsMultiple}}};
  plan.workspaces = {{{{PlanOp::Kind::Constant, 4096}}, true}};
  plan.steps.push_back(plan.steps[0]);
  plan.steps[1].parameters[0] = {KernelParameter::Kind::Workspace, 0};
  source.kernels[0].variants = {plan};
  const Module module = Module::load(source, Device::cpu());
  EXPECT_EQ(allocations_of_launches(module.function("add")), 0);
}

}  // namespace
}  // namespace tilewright

#endif
