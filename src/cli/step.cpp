// SPDX-License-Identifier: Apache-2.0
// cli/step.cpp — `tilewright step`: a Triton kernel line by line, in a terminal or by a script.
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/output_file.h"
#include "base/quote.h"
#include "cli/cuda_call.h"
#include "cli/kernel_arguments.h"
#include "cli/line_editor.h"
#include "cli/step_dap.h"
#include "cli/step_page.h"
#include "cli/step_trace.h"
#include "cli/stepper.h"
#include "cli/symbolic_sizes.h"
#include "cli/verbs.h"

namespace tilewright::cli {
namespace {

constexpr const char* prompt = "(step) ";

// Lines of a person, with editing where there is an editor; of a script as they come.
class Lines {
 public:
  explicit Lines(Completions completions) {
    if (is_person_) editor_ = open_line_editor(prompt, std::move(completions));
  }
  bool read(std::string& line) {
    if (editor_) return editor_->read(line);
    if (is_person_) fmt::print("{}", prompt);
    std::fflush(stdout);
    return static_cast<bool>(std::getline(std::cin, line));
  }

 private:
  bool is_person_ = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  std::unique_ptr<LineEditor> editor_;
};

void step_by_commands(const Stepper::Constants& constants,
                      const std::function<void(LaunchWatch&)>& run) {
  Stepper* standing = nullptr;
  Lines lines([&](const std::string& before) { return standing->completions(before); });
  Stepper stepper({[&](std::string& line) { return lines.read(line); },
                   [](const std::string& line) { fmt::print("{}\n", line); }},
                  constants);
  standing = &stepper;
  run(stepper);
}

Stepper::Constants constants_of(const std::vector<NamedValue>& values) {
  Stepper::Constants constants;
  for (const NamedValue& value : values)
    if (const auto* constant = std::get_if<triton::Value>(&value.value))
      constants.emplace_back(value.name, *constant);
  return constants;
}

std::vector<TracedTensor> tensors_of(const std::vector<NamedValue>& values) {
  std::vector<TracedTensor> tensors;
  for (const NamedValue& value : values)
    if (const Tensor* const tensor = value.tensor())
      tensors.push_back({value.name,
                         tensor->dtype(),
                         {tensor->shape().begin(), tensor->shape().end()},
                         tensor->data()});
  return tensors;
}

std::string command_of(const StepVerbOptions& options) {
  std::string text = "tilewright step " + shell_word(options.path);
  if (!options.grid.empty()) text += " --grid " + shell_word(options.grid);
  for (const std::string& argument : options.arguments) text += " " + shell_word(argument);
  if (options.bare) text += " --bare";
  if (options.seed != 0) text += fmt::format(" --seed {}", options.seed);
  return text + " --html " + shell_word(options.html);
}

// What was recorded before an interruption is written, too.
void write_trace(const StepVerbOptions& options, const std::vector<NamedValue>& values,
                 const std::function<void(LaunchWatch&)>& run) {
  check_output(options.html);
  StepTrace recorder(tensors_of(values), StepTrace::Limits{});
  const auto write = [&] {
    write_output(options.html, trace_page(recorder.trace(), command_of(options)));
    fmt::print("{}: {} accesses to memory are in {}\n", recorder.trace().kernel,
               recorder.trace().accesses.size(), options.html);
  };
  try {
    run(recorder);
  } catch (const Interrupted&) {
    write();
    throw;
  }
  write();
}

}  // namespace

void run_step(const StepVerbOptions& options) {
  refuse_cpp(options.path);
  if (is_cuda_path(options.path))
    throw UsageError{"tilewright step takes FILE.py:KERNEL; tilewright check takes a .cu file"};
  if (options.dap && !options.html.empty())
    throw UsageError{"--html writes a page and --dap speaks to an editor; give one of them"};
  const TritonKernel kernel = load_kernel(options.path);
  refuse_sweeps(options.arguments, "tilewright step");
  const KernelArguments given =
      read_arguments(options.arguments, kernel, {.device = Device::cpu(), .seed = options.seed});
  const LaunchArguments passed(given.values);
  TritonLaunch launch{.debug = true, .interpret = true, .bare = options.bare};
  launch.grid = grid_for(grid_with_sizes(options.grid, options.arguments, kernel.parameters()),
                         kernel, given);
  const auto run = [&](LaunchWatch& watch) {
    const LaunchWatchScope scope(watch);
    const PollsInterrupts polls;
    kernel.launch(launch, passed.get());
  };
  if (!options.html.empty()) return write_trace(options, given.values, run);
  if (options.dap)
    return serve_dap(options.path.substr(0, options.path.rfind(".py") + 3),
                     constants_of(given.values), run);
  step_by_commands(constants_of(given.values), run);
}

}  // namespace tilewright::cli
