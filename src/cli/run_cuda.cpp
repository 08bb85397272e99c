// SPDX-License-Identifier: Apache-2.0
// cli/run_cuda.cpp — from FILE.cu:NAME and NAME=VALUE to a call, a launch, or a whole program.
#include "cli/run_cuda.h"

#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/interrupt.h"
#include "base/quote.h"
#include "base/settings.h"
#include "cli/crash_hint.h"
#include "cli/cuda_call.h"
#include "cli/prints_aside.h"
#include "cli/symbolic_sizes.h"
#include "runtime/cpu/launch_memory.h"
#include "runtime/cpu/noted_blocks.h"
#include "tilewright/error.h"
#include "tilewright/load_inline.h"

namespace tilewright::cli {
namespace {

using Clock = std::chrono::steady_clock;

// ---- Where.

// CUDA source on "cpu" is emulated too, without the checks of "emulate".
Device device_for(const std::string& name) {
  if (name.empty()) return default_device();
  if (name == "interpret")
    throw UsageError{
        "a .cu file is not interpreted; write --device emulate, which checks it on the CPU"};
  if (name == "emulate" || name == "cpu") return Device::cpu();
  if (!name.starts_with("cuda"))
    throw UsageError{fmt::format("'{}' is not a device; write cuda, cuda:N or emulate", name)};
  const Device device = Device::parse(name);
  static_cast<void>(device.properties());  // says what is missing
  return device;
}

std::string place_name(Device device, const CudaFile& file) {
  return device.is_cuda() || !file.is_cuda ? device.name() : "cpu, emulated";
}

// A CUDA source is the same text at every place: there is no other one to compare with or to
// choose.
void refuse_triton_options(const RunVerbOptions& options) {
  const std::pair<const char*, bool> others[] = {{"--compare", !options.compares.empty()},
                                                 {"--target", !options.target.empty()},
                                                 {"--float64", options.float64}};
  for (const auto& [name, is_given] : others)
    if (is_given)
      throw UsageError{
          fmt::format("{} goes with FILE.py:KERNEL, not with '{}'; --expect NAME=FILE.npy compares "
                      "with a file",
                      name, options.path)};
}

// ---- Calls and launches.

void add_result(const HostValue& result, std::vector<NamedValue>& values) {
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    if (tensor.is_defined()) values.push_back({name, tensor, {}});
  };
  if (const auto* tensor = std::get_if<Tensor>(&result)) add("result", *tensor);
  if (const auto* list = std::get_if<std::vector<Tensor>>(&result))
    for (std::size_t i = 0; i < list->size(); ++i) add(fmt::format("result.{}", i), (*list)[i]);
}

std::string number_in(const HostValue& result) {
  if (const auto* number = std::get_if<double>(&result)) return fmt::format("{}", *number);
  if (const auto* integer = std::get_if<std::int64_t>(&result)) return fmt::format("{}", *integer);
  if (const auto* flag = std::get_if<bool>(&result)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&result)) return *text;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&result))
    return fmt::format("{}", fmt::join(*list, ", "));
  if (const auto* numbers = std::get_if<std::vector<double>>(&result))
    return fmt::format("{}", fmt::join(*numbers, ", "));
  return {};
}

void run_call(const RunVerbOptions& options, const CudaFile& file, Device device) {
  const auto start = Clock::now();
  refuse_sweeps(options.arguments, "tilewright run");
  CudaCall call(file, device);
  RunReport report{.name = call.name(), .place = place_name(device, file)};
  report.values = values_for(options.arguments, call.name(), call.parameters(),
                             {.device = device, .seed = options.seed});
  mark_unwritten(options.arguments, report.values);
  const auto with_numbers = [&](const std::string& text) {
    return grid_with_sizes(text, options.arguments, call.parameters());
  };
  call.bind(report.values, {with_numbers(options.grid), with_numbers(options.block),
                            static_cast<std::size_t>(options.shared_bytes)});
  report.grid = call.is_kernel() ? call.config().grid : Dim3{0, 0, 0};
  HostValue result;
  const std::vector<TwMemory> memory = device.is_cpu() && settings().emulate_check
                                           ? memory_of(report.values)
                                           : std::vector<TwMemory>();
  const LaunchMemoryScope scope(memory);
  std::optional<PollsInterrupts> polls;  // the emulation names the line itself
  if (device.is_cpu() && call.is_kernel()) polls.emplace();
  {
    std::optional<PrintsAside> aside;
    if (options.json) aside.emplace();
    const StreamGuard on_device(Stream::default_of(device));
    result = call.run();
    device.synchronize();
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  add_result(result, report.values);
  report.result = number_in(result);
  report_run(options, report);
}

// ---- Programs.

void run_main(const RunVerbOptions& options, const CudaFile& file, Device device) {
  if (!file.is_cuda)
    throw UsageError{fmt::format(
        "{0} is a program without CUDA, for any C++ compiler; {0}:NAME calls a function of it, and "
        "a CUDA program ends in .cu",
        file.path)};
  if (!options.grid.empty() || !options.block.empty() || !options.saves.empty() ||
      !options.expects.empty() || options.json)
    throw UsageError{fmt::format(
        "{} is run as a program with main, which takes no --grid, --block, --save, --expect or "
        "--json; its own arguments go behind --, and {}:NAME runs one function or kernel of it",
        file.path, file.path)};
  if (options.device.empty() && device.is_cpu())
    fmt::print(stderr, "tilewright: {} is emulated on the CPU: {}\n", printable(file.name),
               why_no_cuda());
  std::optional<PollsInterrupts> polls;  // the emulation names the line itself
  if (options.device == "emulate") polls.emplace();
  const int code = run_program(inline_options(file, device), options.arguments);
  if (code != 0) throw ExitWith{code};
}

}  // namespace

void run_cuda(const RunVerbOptions& options) {
  refuse_triton_options(options);
  const CudaFile file = read_cuda_file(options.path);
  const Device device = device_for(options.device);
  const bool is_checked = options.device == "emulate";
  std::optional<SettingsOverride> checks;
  std::optional<NotesBlocks> notes;  // of what a host function allocates
  if (is_checked) {
    Settings checked = settings();
    checked.emulate_check = true;
    checks.emplace(std::move(checked));
    notes.emplace();
  }
  if (device.is_cpu() || !file.is_cuda)
    explain_crashes(fmt::format("'{}'", file.wanted.empty() ? file.name : file.wanted),
                    is_checked || !file.is_cuda
                        ? "no kernel did it, so a debugger names the place"
                        : "--device emulate names the line of a kernel that does this");
  const InterruptPlace while_running(fmt::format("while '{}' was compiled or run on {}",
                                                 file.wanted.empty() ? file.name : file.wanted,
                                                 place_name(device, file)));
  file.wanted.empty() && file.has_main() ? run_main(options, file, device)
                                         : run_call(options, file, device);
}

}  // namespace tilewright::cli
