// SPDX-License-Identifier: Apache-2.0
// load_inline/program.cpp — runs a CUDA program with main: host code by the host compiler, kernels
// by NVRTC or emulated.
#include <cstdio>

#include <fmt/format.h>

#include "base/events.h"
#include "load_inline/build_report.h"
#include "load_inline/compile_errors.h"
#include "load_inline/cuda_runtime.h"
#include "load_inline/host_text.h"
#include "load_inline/inline_program.h"
#include "tilewright/load_inline.h"

namespace tilewright {
namespace {

void fail_with(const char* message) {
  std::fflush(stdout);
  fmt::print(stderr, "tilewright: main ended by an exception: {}\n", message);
}

bool has_unseen_launch = false;

void report_unseen(const char* sentence) {
  has_unseen_launch = true;
  std::fflush(stdout);
  fmt::print(stderr,
             "tilewright: a launch failed, and the program did not ask by cudaGetLastError: {}\n",
             sentence);
}

// One module for every kernel and variable, so that all kernels see the same variables.
std::unique_ptr<LoadedModule> load_kernels(const InlineProgram& program, Device device,
                                           const CudaRuntime& runtime) {
  std::vector<std::string> names;
  for (const auto& [stub, kernel] : runtime.kernels()) names.push_back(kernel.name);
  for (const auto& [shadow, symbol] : runtime.symbols()) names.push_back("&" + symbol.name);
  std::sort(names.begin(), names.end());
  const KernelSource source = program.program_kernels(std::move(names));
  try {
    const Binary binary = compile_reported(program.options(), source, device.target());
    return backend(device).load(binary, source, device.index);
  } catch (const CompileError& error) {
    throw explained(error, program.options().name);
  }
}

Function load_host(const InlineProgram& program) {
  try {
    const KernelSource source = program.program_source();
    report_build(program.options(), source, Device::cpu());
    return Module::load(source, Device::cpu()).function(host_entry);
  } catch (const CompileError& error) {
    throw explained(error, program.options().name);
  }
}

void enter(const Function& entry, TwProgram& program, TwProgram::Step step) {
  program.step = step;
  entry[{}](static_cast<void*>(&program));
}

}  // namespace

int run_program(const InlineOptions& options, std::span<const std::string> arguments) {
  const Device device = options.device.value_or(default_device());
  const InlineProgram program(options, device.is_cuda(), true);
  const Function entry = load_host(program);
  std::unique_ptr<LoadedModule> module;
  const std::unique_ptr<CudaRuntime> runtime =
      device.is_cuda()
          ? gpu_cuda_runtime(device.index, [&](const CudaRuntime&) { return std::move(module); })
          : emulated_cuda_runtime();

  std::vector<std::string> words = {options.name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  TwProgram request{
      TwProgram::Define, runtime.get(), static_cast<int>(words.size()), pointers.data(), 0, 0,
      fail_with,         report_unseen};
  enter(entry, request, TwProgram::Define);
  // Errors of the kernels' text come before the program has printed anything.
  if (device.is_cuda()) module = load_kernels(program, device, *runtime);
  has_unseen_launch = false;
  {
    const std::string main_name = fmt::format("main of {}", options.name);
    const EventScope event(EventKind::Range, main_name);
    enter(entry, request, TwProgram::Main);
  }
  const std::string fault = runtime->finish();
  if (!fault.empty() && device.is_cuda()) {
    std::fflush(stdout);
    fmt::print(stderr, "tilewright: {}\n", fault);
  }
  const bool went_wrong = request.has_failed != 0 || has_unseen_launch || !fault.empty();
  return request.result == 0 && went_wrong ? 1 : request.result;
}

}  // namespace tilewright
