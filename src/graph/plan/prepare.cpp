// SPDX-License-Identifier: Apache-2.0
// graph/plan/prepare.cpp — steps whose launches are compiled and not made, on threads.
#include "graph/plan/prepare.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "compiler/launch_recording.h"
#include "graph/plan/run.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

constexpr std::size_t most_threads = 8;

// Groups and products launch kernels of ours with any contents of memory; other operations look at
// what they are given.
bool can_prepare(const Plan& plan, const PlannedStep& step) {
  return step.node < 0 ||
         plan.graph.nodes[static_cast<std::size_t>(step.node)].kind == Node::Kind::Contract;
}

std::size_t missing_kernels(const Plan& plan, DeviceKind device) {
  std::size_t missing = 0;
  for (const PlannedStep& step : plan.steps)
    if (step.node < 0 && !has_group_kernel(*step.formula, step.walk, device, lists_of(step)))
      ++missing;
  return missing;
}

// A kernel that cannot be compiled fails again where it is launched, and says why there.
void prepare_step(const Plan& plan, std::span<const Tensor> inputs, const PlannedStep& step) {
  const LaunchRecording compiles(false);
  PlanRun run(plan, inputs);
  try {
    add_scratch(run, step);
    run_step(run, step);
  } catch (const Error&) {
  }
}

}  // namespace

void add_scratch(PlanRun& run, const PlannedStep& step) {
  const auto add = [&](int i) {
    const Node& node = run.plan.graph.nodes[static_cast<std::size_t>(i)];
    Tensor& memory = run.memory[static_cast<std::size_t>(i)];
    if (!node.is_given() && !memory.is_defined())
      memory = empty(node.shape, {node.dtype, run.plan.graph.device});
  };
  for (const PlannedLeaf& leaf : step.leaves) add(leaf.node);
  if (step.node < 0) return;
  for (const Value& value : run.plan.graph.nodes[static_cast<std::size_t>(step.node)].operands)
    if (!value.is_number()) add(value.node);
}

void prepare_plan(const Plan& plan, std::span<const Tensor> inputs) {
  const Target* const emulated = emulated_target();
  const DeviceKind device = emulated != nullptr ? DeviceKind::Cuda : plan.graph.device.kind;
  if (missing_kernels(plan, device) < 2) return;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    std::optional<EmulatedGroups> like_the_caller;
    if (emulated != nullptr) like_the_caller.emplace(*emulated);
    for (std::size_t i = next++; i < plan.steps.size(); i = next++)
      if (can_prepare(plan, plan.steps[i])) prepare_step(plan, inputs, plan.steps[i]);
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min({most_threads, cores, plan.steps.size()}); ++i)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tilewright::graph
