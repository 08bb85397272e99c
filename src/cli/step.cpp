// SPDX-License-Identifier: Apache-2.0
// cli/step.cpp — `tilewright step`: a Triton kernel line by line, in a terminal or by a script.
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/cuda_call.h"
#include "cli/kernel_arguments.h"
#include "cli/step_dap.h"
#include "cli/stepper.h"
#include "cli/symbolic_sizes.h"
#include "cli/verbs.h"

namespace tilewright::cli {
namespace {

Stepper::Terminal terminal() {
  const bool is_person = isatty(STDIN_FILENO) != 0;
  return {[is_person](std::string& line) {
            if (is_person) fmt::print("(step) ");
            std::fflush(stdout);
            return static_cast<bool>(std::getline(std::cin, line));
          },
          [](const std::string& line) { fmt::print("{}\n", line); }};
}

Stepper::Constants constants_of(const std::vector<NamedValue>& values) {
  Stepper::Constants constants;
  for (const NamedValue& value : values)
    if (const auto* constant = std::get_if<triton::Value>(&value.value))
      constants.emplace_back(value.name, *constant);
  return constants;
}

}  // namespace

void run_step(const StepVerbOptions& options) {
  if (is_cuda_path(options.path))
    throw UsageError{"tilewright step takes FILE.py:KERNEL; tilewright check takes a .cu file"};
  const TritonKernel kernel = load_kernel(options.path);
  refuse_sweeps(options.arguments, "tilewright step");
  const KernelArguments given =
      read_arguments(options.arguments, kernel, {.device = Device::cpu(), .seed = options.seed});
  const LaunchArguments passed(given.values);
  TritonLaunch launch{.debug = true, .interpret = true, .bare = options.bare};
  launch.grid = grid_for(grid_with_sizes(options.grid, options.arguments, kernel.parameters()),
                         kernel, given);
  const auto run = [&](Stepper& stepper) {
    const LaunchWatchScope scope(stepper);
    const PollsInterrupts polls;
    kernel.launch(launch, passed.get());
  };
  if (options.dap) return serve_dap(constants_of(given.values), run);
  Stepper stepper(terminal(), constants_of(given.values));
  run(stepper);
}

}  // namespace tilewright::cli
