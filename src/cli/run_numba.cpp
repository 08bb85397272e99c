// SPDX-License-Identifier: Apache-2.0
// cli/run_numba.cpp — from FILE.py:KERNEL, --grid, --block and NAME=VALUE to a launch.
#include "cli/run_numba.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/crash_hint.h"
#include "cli/cuda_call.h"
#include "cli/kernel_path.h"
#include "cli/prints_aside.h"
#include "cli/run_cuda.h"
#include "cli/run_place.h"
#include "cli/symbolic_sizes.h"
#include "compiler/numba/numba_state.h"
#include "compiler/triton/grid_text.h"
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

// Numbers as Numba takes Python's: int64 and float64.
NumbaArgument numba_argument(const NamedValue& named) {
  if (const Tensor* tensor = named.tensor()) return *tensor;
  const auto& value = std::get<triton::Value>(named.value);
  if (const auto* constant = value.get_if<triton::Constant>()) {
    const auto& content = constant->value;
    if (const auto* flag = std::get_if<bool>(&content)) return *flag;
    if (const auto* real = std::get_if<double>(&content)) return *real;
    if (const auto* integer = std::get_if<triton::Int128>(&content))
      return static_cast<std::int64_t>(*integer);
  }
  throw ArgumentError(
      fmt::format("'{}' of a @cuda.jit kernel is a number or a tensor", named.name));
}

std::map<std::string, std::int64_t> integers_of(const std::vector<NamedValue>& values) {
  std::map<std::string, std::int64_t> numbers;
  for (const NamedValue& named : values) {
    const NumbaArgument argument = numba_argument(named);
    if (argument.tensor == nullptr && argument.value.dtype == DType::Int64)
      numbers[named.name] = static_cast<std::int64_t>(argument.value.bits);
  }
  return numbers;
}

NumbaLaunch launch_of(const RunVerbOptions& options, const NumbaKernel& kernel,
                      const std::vector<NamedValue>& values) {
  if (options.grid.empty())
    throw UsageError{
        fmt::format("the kernel '{}' needs --grid, and --block unless 256 threads are meant, as in "
                    "--grid 4 --block 256",
                    kernel.name())};
  const auto sizes = [&](const std::string& text) {
    return grid_from_numbers(kernel.name(),
                             grid_with_sizes(text, options.arguments, kernel.parameters()),
                             integers_of(values));
  };
  return {.grid = sizes(options.grid),
          .block = options.block.empty() ? Dim3(256) : sizes(options.block),
          .shared_bytes = static_cast<std::size_t>(options.shared_bytes)};
}

std::vector<NumbaArgument> arguments_in_order(const NumbaKernel& kernel,
                                              const std::vector<NamedValue>& values) {
  std::vector<NumbaArgument> arguments;
  for (const std::string& name : kernel.parameters()) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const NamedValue& value) { return value.name == name; });
    if (found == values.end())
      throw ArgumentError(
          fmt::format("'{0}' needs a value for '{1}'; add {1}=VALUE", kernel.name(), name));
    arguments.push_back(numba_argument(*found));
  }
  return arguments;
}

}  // namespace

bool is_numba_path(const std::string& text) {
  const KernelPath path = parse_kernel_path(text);
  return path.file.ends_with(".py") && is_numba_kernel(path.file, path.kernel);
}

void run_numba(const RunVerbOptions& options) {
  refuse_tile_options(options);
  const RunPlace place = place_of_numba(options);
  const KernelPath path = parse_kernel_path(options.path);
  std::string name = path.kernel;
  if (name.empty()) {
    python::ModuleLoader loader;
    name = chosen_kernel(path, numba_kernels(loader, loader.load(path.file)));
  }
  const NumbaKernel kernel = load_numba(path.file, name);
  refuse_sweeps(options.arguments, "tilewright run");
  RunReport report{.name = kernel.name(), .place = place.name()};
  report.values = values_for(options.arguments, kernel.name(), kernel.parameters(),
                             {.device = place.device, .seed = options.seed});
  NumbaLaunch launch = launch_of(options, kernel, report.values);
  launch.emulate = place.emulate() != nullptr;
  report.grid = launch.grid;
  const std::vector<NumbaArgument> arguments = arguments_in_order(kernel, report.values);
  const InterruptPlace while_running(
      fmt::format("while kernel '{}' was compiled or run on {}", kernel.name(), place.name()));
  std::optional<PollsInterrupts> polls;
  if (launch.emulate) polls.emplace();
  std::optional<CrashHint> hint;
  if (place.device.is_cpu() && !launch.emulate)
    hint.emplace(fmt::format("'{}'", kernel.name()),
                 "outside of a tensor; --device emulate names the line");
  const auto start = NumbaClock::now();
  {
    std::optional<PrintsAside> aside;
    if (options.json) aside.emplace();
    const StreamGuard on_device(Stream::default_of(place.device));
    kernel.launch(launch, arguments);
    place.device.synchronize();
  }
  report.seconds = std::chrono::duration<double>(NumbaClock::now() - start).count();
  report_run(options, report);
}

}  // namespace tilewright::cli
