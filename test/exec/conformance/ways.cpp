// SPDX-License-Identifier: Apache-2.0
// exec/conformance/ways.cpp — launches; only the emulated way leaves the public interface.
#include "ways.h"

#include "codegen/cuda/emit.h"
#include "compiler/triton_state.h"

namespace tilewright::conformance {
namespace {

// The CUDA text of the kernel that the interpreter would run, on the CPU thread by thread.
void run_emulated(const TritonKernel& kernel, Dim3 grid, int num_warps,
                  std::span<const TritonArgument> arguments) {
  TritonKernel::State& state = *kernel.state();
  std::vector<const TritonArgument*> slots(state.parameters.size(), nullptr);
  std::size_t position = 0;
  Hasher key;
  key.add("emulated").add(std::int64_t{num_warps});
  for (const TritonArgument& argument : arguments) {
    std::size_t index = position;
    for (std::size_t i = 0; i < slots.size() && !argument.name.empty(); ++i)
      if (state.parameters[i].name == argument.name) index = i;
    if (argument.name.empty()) ++position;
    slots[index] = &argument;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == nullptr) continue;
    specialize(state.name, state.parameters[i], *slots[i]).add_to(key);
    key.add(static_cast<std::int64_t>(
        slots[i]->value.kind == Argument::Kind::Scalar ? slots[i]->value.bits : i));
  }
  const Specialization& made = make_specialization(state, key.finish(), slots.data(),
                                                   {.num_warps = num_warps}, {Device::cpu(), true});
  const KernelSource source = emulate_source(emit_cuda(
      made.tiles->lowered.kernel, {.target = Target::parse("sm_90a"), .num_warps = num_warps}));
  const Function function =
      Module::load(source, Device::cpu()).function(source.kernels.front().name);
  std::vector<Argument> values;
  for (const std::size_t parameter : made.argument_parameters)
    values.push_back(slots[parameter]->value);
  function.launch({.grid = grid}, values);
}

}  // namespace

std::string name_of(Way way) {
  switch (way) {
    case Way::Interpreter:
      return "Interpreter";
    case Way::Cpu:
      return "Cpu";
    case Way::EmulatedCuda:
      return "EmulatedCuda";
    case Way::Cuda:
      return "Cuda";
  }
  return "?";
}

std::vector<Way> all_ways() {
  std::vector<Way> ways = {Way::Interpreter, Way::Cpu, Way::EmulatedCuda};
  if (cuda_device_count() > 0) ways.push_back(Way::Cuda);
  return ways;
}

Device device_of(Way way) { return way == Way::Cuda ? Device::cuda() : Device::cpu(); }

void run(Way way, const TritonKernel& kernel, Dim3 grid, int num_warps,
         std::span<const TritonArgument> arguments) {
  if (way == Way::EmulatedCuda) return run_emulated(kernel, grid, num_warps, arguments);
  kernel.launch({.grid = grid, .num_warps = num_warps, .interpret = way == Way::Interpreter},
                arguments);
}

}  // namespace tilewright::conformance
