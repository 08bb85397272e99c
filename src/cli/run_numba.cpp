// SPDX-License-Identifier: Apache-2.0
// cli/run_numba.cpp — from FILE.py:KERNEL, --grid, --block and NAME=VALUE to a launch.
#include "cli/run_numba.h"

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/crash_hint.h"
#include "cli/kernel_path.h"
#include "cli/numba_call.h"
#include "cli/prints_aside.h"
#include "cli/run_cuda.h"
#include "cli/run_place.h"
#include "cli/symbolic_sizes.h"
#include "compiler/numba/numba_state.h"
#include "tilewright/error.h"
#include "tilewright/numba.h"

namespace tilewright::cli {
namespace {

using NumbaClock = std::chrono::steady_clock;

// The options that a Triton kernel has and this one has not.
void refuse_tile_options(const RunVerbOptions& options) {
  const std::pair<const char*, bool> others[] = {{"--compare", !options.compares.empty()},
                                                 {"--target", !options.target.empty()},
                                                 {"--float64", options.float64},
                                                 {"--num-warps", options.num_warps.has_value()},
                                                 {"--num-stages", options.num_stages.has_value()}};
  for (const auto& [name, is_given] : others)
    if (is_given)
      throw UsageError{fmt::format(
          "{} is for Triton kernels; '{}' is a @cuda.jit kernel, which has --grid and --block",
          name, options.path)};
}

RunPlace place_of_numba(const RunVerbOptions& options) {
  if (options.device == "interpret")
    throw UsageError{
        "a @cuda.jit kernel is not interpreted; write --device emulate, which checks it on the "
        "CPU"};
  return parse_run_place(options.device, {},
                         options.device.empty() ? default_device() : Device::cpu());
}

}  // namespace

bool is_numba_path(const std::string& text) {
  const KernelPath path = parse_kernel_path(text);
  return path.file.ends_with(".py") && is_numba_kernel(path.file, path.kernel);
}

void run_numba(const RunVerbOptions& options) {
  refuse_tile_options(options);
  const RunPlace place = place_of_numba(options);
  const NumbaKernel kernel = load_numba_kernel(options.path);
  refuse_sweeps(options.arguments, "tilewright run");
  RunReport report{.name = kernel.name(), .place = place.name()};
  NumbaCall call = read_numba_call(
      kernel, {options.arguments, options.grid, options.block, options.shared_bytes},
      {.device = place.device, .seed = options.seed});
  mark_unwritten(options.arguments, call.values);
  call.launch.emulate = place.emulate() != nullptr;
  report.grid = call.launch.grid;
  const std::vector<NumbaArgument> arguments = call.arguments(kernel);
  const InterruptPlace while_running(
      fmt::format("while kernel '{}' was compiled or run on {}", kernel.name(), place.name()));
  std::optional<PollsInterrupts> polls;
  if (call.launch.emulate) polls.emplace();
  if (place.device.is_cpu() && !call.launch.emulate)
    explain_crashes(fmt::format("'{}'", kernel.name()), "--device emulate names the line");
  const auto start = NumbaClock::now();
  {
    std::optional<PrintsAside> aside;
    if (options.json) aside.emplace();
    const StreamGuard on_device(Stream::default_of(place.device));
    kernel.launch(call.launch, arguments);
    place.device.synchronize();
  }
  report.seconds = std::chrono::duration<double>(NumbaClock::now() - start).count();
  report.values = std::move(call.values);
  report_run(options, report);
}

}  // namespace tilewright::cli
