// SPDX-License-Identifier: Apache-2.0
// cli/check_numba.cpp — launches a @cuda.jit kernel in the checked emulation and reports what it
// says.
#include "cli/check_numba.h"

#include <optional>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/settings.h"
#include "cli/check_cuda.h"
#include "cli/check_report.h"
#include "cli/crash_hint.h"
#include "cli/numba_call.h"
#include "cli/odd_sizes.h"
#include "cli/prints_aside.h"
#include "cli/symbolic_sizes.h"
#include "compiler/numba/numba_state.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

struct NumbaChecked {
  std::int64_t launches = 0, blocks = 0, threads = 1;
  std::vector<ir::Finding> findings;

  std::string text() const {
    return fmt::format("the {} block{} of {} launch{}", blocks, blocks == 1 ? "" : "s", launches,
                       launches == 1 ? "" : "es");
  }
};

// What the launch gets wrong; errors of its arguments and of its text are the user's to read.
std::vector<ir::Finding> check_launch(const NumbaKernel& kernel, const NumbaCall& call) {
  const std::vector<NumbaArgument> arguments = call.arguments(kernel);
  FaultCollector faults;
  try {
    kernel.launch(call.launch, arguments);
  } catch (const Interrupted&) {
    throw;
  } catch (const KernelFault& error) {  // of what is no thread of a block
    faults.add(error.what());
  }
  return findings_of_emulation(kernel.state()->module->file, kernel.name(), faults.all(),
                               "cuda.syncthreads()");
}

void check_with(const CheckVerbOptions& options, const NumbaKernel& kernel,
                const std::vector<std::string>& arguments, bool is_sweep, NumbaChecked& all) {
  NumbaCall call =
      read_numba_call(kernel, {arguments, options.grid, options.block, options.shared_bytes},
                      {.device = Device::cpu(), .seed = options.seed});
  call.launch.emulate = true;
  ++all.launches;
  all.blocks += call.launch.grid.count();
  all.threads = call.launch.block.count();
  std::vector<ir::Finding> findings = check_launch(kernel, call);
  for (ir::Finding& finding : findings)
    if (is_sweep) finding.notes.push_back(sizes_note(arguments));
  ir::merge_findings(all.findings, findings);
}

}  // namespace

void check_numba(const CheckVerbOptions& options) {
  check_sizes_option(options.sizes);
  if (options.bare) throw UsageError{"--bare goes with Triton kernels"};
  Settings checked = settings();
  checked.emulate_check = true;
  const SettingsOverride checks(std::move(checked));
  const NumbaKernel kernel = load_numba_kernel(options.path);
  refuse_sweeps(options.arguments, "tilewright check");
  explain_crashes(fmt::format("'{}'", kernel.name()), "a debugger names the place");
  const PollsInterrupts polls;
  std::optional<PrintsAside> aside;
  if (options.json) aside.emplace();
  NumbaChecked all;
  check_with(options, kernel, options.arguments, false, all);
  if (!options.sizes.empty())
    for (const std::vector<std::string>& arguments : odd_arguments(options.arguments, all.threads))
      check_with(options, kernel, arguments, true, all);
  aside.reset();
  report_findings({kernel.name(), all.text(), all.findings}, options.json);
}

}  // namespace tilewright::cli
