// SPDX-License-Identifier: Apache-2.0
// compiler/check_launch.cpp — one checker per launch; findings of one place are merged.
#include "compiler/check_launch.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/output_file.h"
#include "base/settings.h"
#include "ir/check/checker.h"
#include "ir/check/finding_text.h"

namespace tilewright {
namespace {

std::int64_t largest_of(const ir::Kernel& kernel) {
  std::int64_t largest = 1;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (const ir::Value value : op.results)
      for (int d = 0; d < kernel.type(value).rank; ++d)
        largest = std::max(largest, kernel.type(value).size(d));
  });
  return largest;
}

}  // namespace

void CheckedLaunches::run(const ir::Kernel& kernel, std::span<const ir::InterpretBuffer> buffers,
                          std::span<const ir::InterpretArgument> arguments,
                          ir::InterpretOptions options) {
  ir::Checker checker(kernel, buffers, unwritten_, options.grid);
  options.watch = &checker;
  ++launches_;
  programs_ += options.grid[0] * options.grid[1] * options.grid[2];
  largest_dimension_ = std::max(largest_dimension_, largest_of(kernel));
  ir::merge_findings(findings_, ir::check_strides(kernel, {buffers, arguments, tensors_}));
  try {
    ir::interpret(kernel, buffers, arguments, options);
  } catch (const Interrupted&) {
    ir::merge_findings(findings_, checker.findings());
    throw;
  } catch (const UserError& error) {
    checker.stopped(error.what());
  }
  ir::merge_findings(findings_, checker.findings());
}

namespace {

class ProgramCheck final : public LaunchWatch {
 public:
  void run(const ir::Kernel& kernel, std::span<const ir::InterpretBuffer> buffers,
           std::span<const ir::InterpretArgument> arguments,
           ir::InterpretOptions options) override {
    launches_.run(kernel, buffers, arguments, std::move(options));
    write_output(fmt::format("{}/{}.findings", settings().check_folder, getpid()),
                 ir::text_of({launches_.launches(), launches_.findings()}));
  }

 private:
  CheckedLaunches launches_;
};

}  // namespace

LaunchWatch* program_check() {
  static ProgramCheck check;
  return &check;
}

}  // namespace tilewright
