// SPDX-License-Identifier: Apache-2.0
// compiler/triton/launch_facts.cpp — compiles the launch's specialisation once more, keeping what
// the runtime throws away.
#include "compiler/pack_blocks.h"
#include "compiler/triton/launch_facts.h"

#include "compiler/faults.h"
#include "compiler/launcher_header.h"
#include "compiler/scalar_loops.h"
#include "compiler/triton/triton_state.h"
#include "ir/cost.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/plan.h"

namespace tilewright {
namespace {

// The compiled kernel's parameters and the bits that this launch gives them.
void add_cost(LaunchFacts& facts, const LaunchView& view, const Dim3& user,
              const ir::Kernel& kernel, const KernelSource::Kernel& compiled) {
  std::vector<std::uint64_t> bits;
  for (const ArgumentSource& source : view.specialization->sources)
    bits.push_back(view.value(source).bits);
  const std::int64_t grid[3] = {user.x, user.y, user.z};
  const std::int64_t block[3] = {facts.threads, 1, 1};
  const PlanInputs inputs{compiled.name, compiled.parameters, bits.data(), grid, block};
  const ir::KernelCost cost = ir::cost_of_launch(kernel);
  const auto value = [&](const PlanExpression& expression) {
    return static_cast<double>(evaluate_or(expression, inputs, 0));
  };
  facts.flops = value(cost.flops);
  facts.bytes_read = value(cost.bytes_read);
  facts.bytes_written = value(cost.bytes_written);
  facts.is_exact = cost.is_exact;
}

// Blocks and threads as the plan makes them from the user's grid.
void add_sizes(LaunchFacts& facts, const KernelSource::Kernel& compiled, const Target& target) {
  const std::int64_t grid[3] = {facts.grid.x, facts.grid.y, facts.grid.z};
  const std::int64_t block[3] = {1, 1, 1};
  const PlanInputs inputs{.kernel = compiled.name,
                          .parameters = compiled.parameters,
                          .values = nullptr,
                          .grid = grid,
                          .block = block,
                          .processors = target.processors};
  const LaunchStep& step = compiled.variants.front().steps.front();
  facts.threads = static_cast<int>(evaluate(step.block[0], inputs));
  facts.grid =
      Dim3(evaluate_or(step.grid[0], inputs, grid[0]), evaluate_or(step.grid[1], inputs, grid[1]),
           evaluate_or(step.grid[2], inputs, grid[2]));
}

// A kernel without a plan is launched under its own name.
std::string entry_of(const KernelSource::Kernel& kernel) {
  const bool has_steps = !kernel.variants.empty() && !kernel.variants.front().steps.empty();
  return has_steps ? kernel.variants.front().steps.front().entry : kernel.name;
}

void add_resources(LaunchFacts& facts, const KernelSource& source, const Target& target) {
  const Binary binary = compile(source, target);
  std::string entry;
  for (const KernelSource::Kernel& kernel : source.kernels)
    if (kernel.name == facts.kernel) entry = entry_of(kernel);
  for (const KernelResources& resources : resources_of(binary)) {
    if (resources.symbol != entry && resources.name != entry) continue;
    facts.registers = resources.registers;
    facts.shared_bytes += static_cast<std::int64_t>(resources.shared_bytes);
    facts.spill_bytes = resources.spill_store_bytes;
    const std::string ptx = ptx_with_nvrtc(source, target);
    for (std::string& fault : faults_in_ptx(ptx_facts(ptx, resources.symbol), facts.spill_bytes))
      facts.faults.push_back(std::move(fault));
  }
}

}  // namespace

LaunchFacts launch_facts(const TritonKernel& kernel, const TritonLaunch& launch,
                         std::span<const TritonArgument> arguments) {
  TritonKernel::State& state = *kernel.state();
  const TritonArgument* slots[max_slots];
  LaunchPlace place;
  const TritonSpecialization& specialization =
      find_specialization(state, launch, arguments, slots, place);
  const LaunchView view{state, slots, &specialization};
  const Target& target = place.device.target();
  const Dim3 grid = grid_of(view, launch);
  LaunchFacts facts{.kernel = state.name, .grid = grid};
  const std::lock_guard lock(state.mutex);
  const TileKernel tiles = lower_to_tiles(state.loader, state.function, specialization.signature,
                                          target, specialization.options);
  const KernelSource source =
      packed_source(tiles.lowered.kernel,
                    emit_source(state.loader, tiles, target, specialization.options), target);
  if (target.is_cuda()) add_sizes(facts, source.kernels.front(), target);
  add_cost(facts, view, grid, tiles.lowered.kernel, source.kernels.front());
  if (!target.is_cuda()) {
    facts.faults = faults_in_loops(source, target);
    return facts;
  }
  facts.faults = faults_in_tiles(tiles.lowered.kernel);
  facts.shared_bytes = dynamic_shared_bytes(source);
  add_resources(facts, source, target);
  return facts;
}

LaunchFacts launch_facts(const InlineOptions& source, const Function& kernel,
                         const LaunchConfig& config) {
  LaunchFacts facts{.kernel = kernel.name(), .grid = config.grid};
  const Target& target = kernel.device().target();
  if (!target.is_cuda()) return facts;
  facts.threads = static_cast<int>(config.block.count());
  facts.shared_bytes = static_cast<std::int64_t>(config.shared_bytes);
  add_resources(facts, inline_kernel_source(source, target.name), target);
  return facts;
}

}  // namespace tilewright
