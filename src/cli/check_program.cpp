// SPDX-License-Identifier: Apache-2.0
// cli/check_program.cpp — runs the program with TILEWRIGHT_CHECK, and reads what its processes
// found.
#include "cli/check_program.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/input_file.h"
#include "base/process.h"
#include "cli/check_report.h"
#include "cli/prints_aside.h"
#include "ir/check/finding_text.h"
#include "runtime/cpu/temporary_folder.h"

namespace tilewright::cli {
namespace {

ir::CheckedProcess collected(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".findings") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  ir::CheckedProcess all;
  for (const std::string& file : files) {
    const ir::CheckedProcess process = ir::read_checked(read_input(file));
    all.launches += process.launches;
    ir::merge_findings(all.findings, process.findings);
  }
  return all;
}

}  // namespace

void check_program(const CheckVerbOptions& options) {
  if (!options.grid.empty() || !options.block.empty() || !options.sizes.empty() || options.bare)
    throw UsageError{fmt::format(
        "'{}' is run as a program, whose launches have grids and sizes of their own; --grid, "
        "--block, --sizes and --bare go with FILE.py:KERNEL or FILE.cu:KERNEL",
        options.path)};
  const TemporaryFolder folder;
  std::vector<std::string> command = {options.path};
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  std::optional<PrintsAside> aside;
  if (options.json) aside.emplace();
  const int code = run_in_foreground(
      {.arguments = command, .environment = {"TILEWRIGHT_CHECK=" + folder.path()}});
  aside.reset();
  const ir::CheckedProcess all = collected(folder.path());
  if (all.launches == 0)
    fmt::print(stderr,
               "tilewright: '{}' launched no kernel by this library that could be checked\n",
               options.path);
  if (all.launches > 0 || options.json)
    report_findings(
        {options.path, fmt::format("{} launch{}", all.launches, all.launches == 1 ? "" : "es"),
         all.findings},
        options.json);
  if (code != 0) {
    fmt::print(stderr, "tilewright: '{}' ended with exit code {}\n", options.path, code);
    throw ExitWith{code};
  }
}

}  // namespace tilewright::cli
