// SPDX-License-Identifier: Apache-2.0
// cli/check.cpp — `tilewright check`: a launch in the interpreter, with everything looked at that
// goes wrong silently on a device.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/settings.h"
#include "cli/check_cuda.h"
#include "cli/check_numba.h"
#include "cli/check_program.h"
#include "cli/check_report.h"
#include "cli/cuda_call.h"
#include "cli/kernel_arguments.h"
#include "cli/kernel_path.h"
#include "cli/odd_sizes.h"
#include "cli/prints_aside.h"
#include "cli/run_numba.h"
#include "cli/symbolic_sizes.h"
#include "cli/verbs.h"
#include "compiler/check_launch.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

// The bytes from a tensor's first element to its last.
std::size_t extent_of(const Tensor& tensor) {
  std::int64_t last = 0;
  for (int d = 0; d < static_cast<int>(tensor.shape().size()); ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (tensor.shape()[at] == 0) return 0;
    last += (tensor.shape()[at] - 1) * tensor.strides()[at];
  }
  return static_cast<std::size_t>(last + 1) * size_of(tensor.dtype());
}

// Tensors that `empty:` made, by the command line or by the file's own launch.
std::vector<ir::UnwrittenRange> unwritten_of(const std::vector<std::string>& texts,
                                             const KernelArguments& given) {
  std::set<std::string> names;
  const auto add = [&](const std::vector<std::string>& all) {
    for (const std::string& text : all) {
      const auto [name, value] = parse_assignment(text, "NAME=VALUE");
      if (value.starts_with("empty:")) names.insert(name);
    }
  };
  add(texts);
  if (given.launch) add(given.launch->texts);
  std::vector<ir::UnwrittenRange> ranges;
  for (const NamedValue& value : given.values)
    if (value.tensor() != nullptr && names.contains(value.name))
      ranges.push_back({value.tensor()->data(), extent_of(*value.tensor())});
  return ranges;
}

std::vector<ir::TensorLayout> layouts_of(const std::vector<NamedValue>& values) {
  std::vector<ir::TensorLayout> layouts;
  for (const NamedValue& value : values)
    if (const Tensor* const tensor = value.tensor())
      layouts.push_back({value.name,
                         tensor->data(),
                         {tensor->shape().begin(), tensor->shape().end()},
                         {tensor->strides().begin(), tensor->strides().end()}});
  return layouts;
}

void check_once(const CheckVerbOptions& options, const std::vector<std::string>& arguments,
                const TritonKernel& kernel, CheckedLaunches& checked) {
  const KernelArguments given =
      read_arguments(arguments, kernel, {.device = Device::cpu(), .seed = options.seed});
  checked.set_unwritten(unwritten_of(arguments, given));
  checked.set_tensors(layouts_of(given.values));
  const LaunchArguments passed(given.values);
  TritonLaunch launch{.debug = true, .interpret = true, .bare = options.bare};
  launch.grid =
      grid_for(grid_with_sizes(options.grid, arguments, kernel.parameters()), kernel, given);
  kernel.launch(launch, passed.get());
}

// What the sweep adds is told with the sizes that show it.
void add_swept(std::vector<ir::Finding>& findings, const CheckedLaunches& checked,
               const std::vector<std::string>& arguments) {
  const std::size_t before = findings.size();
  ir::merge_findings(findings, checked.findings());
  for (std::size_t i = before; i < findings.size(); ++i)
    findings[i].notes.push_back(sizes_note(arguments));
}

struct Checked {
  std::vector<ir::Finding> findings;
  std::int64_t launches = 0;
  std::int64_t programs = 0;

  std::string text() const {
    return fmt::format("{} program{} of {} launch{}", programs, programs == 1 ? "" : "s", launches,
                       launches == 1 ? "" : "es");
  }
  void add(const CheckedLaunches& more) {
    launches += more.launches();
    programs += more.programs();
  }
};

void check_all(const CheckVerbOptions& options, const TritonKernel& kernel, Checked& all) {
  std::int64_t block = 1;
  const auto run = [&](const std::vector<std::string>& arguments, bool is_sweep) {
    CheckedLaunches checked;
    const LaunchWatchScope scope(checked);
    const auto keep = [&] {
      is_sweep ? add_swept(all.findings, checked, arguments)
               : ir::merge_findings(all.findings, checked.findings());
      all.add(checked);
      block = std::max(block, checked.largest_dimension());
    };
    try {
      check_once(options, arguments, kernel, checked);
    } catch (const Interrupted&) {
      keep();
      throw;
    }
    keep();
  };
  run(options.arguments, false);
  if (options.sizes.empty()) return;
  for (const std::vector<std::string>& arguments : odd_arguments(options.arguments, block))
    run(arguments, true);
}

void check_triton(const CheckVerbOptions& options) {
  check_sizes_option(options.sizes);
  if (!options.block.empty() || options.shared_bytes != 0)
    throw UsageError{"--block and --shared go with FILE.cu:KERNEL"};
  const TritonKernel kernel = load_kernel(options.path);
  refuse_sweeps(options.arguments, "tilewright check");
  const PollsInterrupts polls;
  Checked all;
  std::optional<PrintsAside> aside;
  if (options.json) aside.emplace();
  try {
    check_all(options, kernel, all);
  } catch (const Interrupted&) {
    aside.reset();
    if (!all.findings.empty()) {
      try {
        report_findings({kernel.name(), all.text() + ", which was interrupted", all.findings},
                        options.json);
      } catch (const ExitWith&) {  // the interruption decides
      }
    }
    throw;
  }
  aside.reset();
  report_findings({kernel.name(), all.text(), all.findings}, options.json);
}

bool is_triton_path(const std::string& path) {
  return path.ends_with(".py") || path.find(".py:") != std::string::npos;
}

}  // namespace

void run_check(const CheckVerbOptions& options) {
  if (is_triton_path(options.path))
    return is_numba_path(options.path) ? check_numba(options) : check_triton(options);
  if (is_cuda_path(options.path)) return check_cuda(options);
  check_program(options);
}

}  // namespace tilewright::cli
