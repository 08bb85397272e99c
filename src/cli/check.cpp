// SPDX-License-Identifier: Apache-2.0
// cli/check.cpp — `tilewright check`: a launch in the interpreter, with everything looked at that
// goes wrong silently on a device.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/interrupt.h"
#include "base/settings.h"
#include "cli/check_cuda.h"
#include "cli/check_program.h"
#include "cli/check_report.h"
#include "cli/check_strides.h"
#include "cli/cuda_call.h"
#include "cli/kernel_arguments.h"
#include "cli/kernel_path.h"
#include "cli/prints_aside.h"
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

void check_once(const CheckVerbOptions& options, const std::vector<std::string>& arguments,
                const TritonKernel& kernel, CheckedLaunches& checked,
                std::vector<ir::Finding>& findings) {
  const KernelArguments given =
      read_arguments(arguments, kernel, {.device = Device::cpu(), .seed = options.seed});
  checked.set_unwritten(unwritten_of(arguments, given));
  ir::merge_findings(findings, check_strides(kernel, given.values));
  const LaunchArguments passed(given.values);
  TritonLaunch launch{.debug = true, .interpret = true, .bare = options.bare};
  launch.grid =
      grid_for(grid_with_sizes(options.grid, arguments, kernel.parameters()), kernel, given);
  kernel.launch(launch, passed.get());
}

// 1, a few primes, and what lies around the largest tile: sizes at which a forgotten mask shows.
std::vector<std::int64_t> odd_sizes(std::int64_t block) {
  std::set<std::int64_t> sizes = {1, 7, 13};
  if (block > 1) sizes.insert({block - 1, block, block + 1, 2 * block + 3});
  return {sizes.begin(), sizes.end()};
}

// One list of arguments for each size of each name, the others as they are given.
std::vector<std::vector<std::string>> odd_arguments(const std::vector<std::string>& given,
                                                    std::int64_t block) {
  std::vector<std::vector<std::string>> lists;
  const std::set<std::string> names = names_in_sizes(given);
  if (names.empty())
    throw UsageError{
        "--sizes odd changes sizes that have names, and there are none; write x=randn:f32[n] "
        "n=1000"};
  for (const std::string& name : names)
    for (const std::int64_t size : odd_sizes(block)) {
      lists.push_back(given);
      for (std::string& text : lists.back())
        if (text.starts_with(name + "=")) text = fmt::format("{}={}", name, size);
    }
  return lists;
}

// What the sweep adds is told with the sizes that show it.
void add_swept(std::vector<ir::Finding>& findings, const CheckedLaunches& checked,
               const std::vector<std::string>& arguments) {
  const std::size_t before = findings.size();
  ir::merge_findings(findings, checked.findings());
  std::vector<std::string> sizes;
  const std::set<std::string> names = names_in_sizes(arguments);
  for (const std::string& text : arguments)
    if (names.contains(text.substr(0, text.find('=')))) sizes.push_back(text);
  for (std::size_t i = before; i < findings.size(); ++i)
    findings[i].notes.push_back(fmt::format("with {}", fmt::join(sizes, " ")));
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
      check_once(options, arguments, kernel, checked, all.findings);
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
  if (!options.sizes.empty() && options.sizes != "odd")
    throw UsageError{fmt::format("--sizes takes odd, not '{}'", options.sizes)};
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
  if (is_triton_path(options.path)) return check_triton(options);
  if (is_cuda_path(options.path)) return check_cuda(options);
  check_program(options);
}

}  // namespace tilewright::cli
