// SPDX-License-Identifier: Apache-2.0
// cli/run_guess.cpp — `tilewright run PATH --guess`: runs every kernel of a file or folder on
// generated inputs, in the interpreter and on a device, and compares.
#include <map>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/table.h"
#include "bench/json.h"
#include "cli/guess_cuda.h"
#include "cli/guess_files.h"
#include "cli/isolate.h"
#include "cli/progress.h"
#include "cli/run_place.h"
#include "cli/verbs.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/guess/run_kernel.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

struct Row {
  std::string file;
  std::string kernel;
  std::string result;
  std::string reason;
  std::string signature;
  std::string arguments;
  double seconds = 0;
};

// The child's answer: four lines.
std::string encoded(const RunOutcome& outcome) {
  return fmt::format("{}\n{}\n{}\n{}", name_of(outcome.kind), outcome.signature, outcome.arguments,
                     outcome.reason);
}

Row row_of(const python::DecoratedFunction& function, const IsolatedResult& result) {
  Row row{.file = function.module->tree->source.file,
          .kernel = function.name,
          .result = "does not end well",
          .reason = result.problem,
          .signature = "",
          .arguments = "",
          .seconds = result.seconds};
  if (!result.finished) return row;
  const std::size_t first = result.text.find('\n');
  const std::size_t second = result.text.find('\n', first + 1);
  row.result = result.text.substr(0, first);
  row.signature = result.text.substr(first + 1, second - first - 1);
  const std::size_t third = result.text.find('\n', second + 1);
  row.arguments = result.text.substr(second + 1, third - second - 1);
  row.reason = result.text.substr(third + 1);
  return row;
}

std::string counts_text(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [result, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, result);
  return text;
}

void print_table(const std::vector<Row>& rows, const std::map<std::string, int>& counts) {
  Table table({{"kernel"}, {"file"}, {"seconds", Align::Right}, {"result"}}, 0);
  for (const Row& row : rows)
    table.add({row.kernel.empty() ? "-" : row.kernel, printable(row.file),
               fmt::format("{:.2f}", row.seconds),
               row.reason.empty() ? row.result : fmt::format("{}: {}", row.result, row.reason)});
  fmt::print("{}of {}: {}\n", table.to_string(), rows.size(), counts_text(counts));
}

void print_json(const std::vector<Row>& rows, const std::map<std::string, int>& counts) {
  Json kernels = Json::array();
  for (const Row& row : rows)
    kernels.push_back({{"file", row.file},
                       {"kernel", row.kernel},
                       {"result", row.result},
                       {"reason", row.reason},
                       {"signature", row.signature},
                       {"arguments", row.arguments},
                       {"seconds", row.seconds}});
  fmt::print("{}\n", text_of(Json{{"kernels", kernels}, {"counts", counts}}));
}

// A process that CUDA was started in cannot be forked: its children would find no device. So this
// one starts none, and a child tells whether there is such a device.
void check_device(Device device) {
  if (device.is_cpu()) return;
  run_isolated(
      1, {.limit_seconds = 60, .jobs = 1}, [&](std::size_t) { return device.properties().name; },
      [](std::size_t, const IsolatedResult& result) {
        if (!result.finished) throw EnvironmentError(result.problem);
      });
}

// Where the launch of the i-th kernel is kept; empty: nowhere.
std::string folder_of(const RunVerbOptions& options, std::size_t i, const std::string& kernel) {
  if (options.keep.empty()) return "";
  return fmt::format("{}/{:04}-{}", options.keep, i, kernel);
}

}  // namespace

void run_run_guess(const RunVerbOptions& options) {
  if (!options.arguments.empty() || !options.grid.empty() || !options.saves.empty())
    throw UsageError{"--guess makes the arguments and the grid itself; leave them and --save out"};
  const RunPlace place = parse_run_place(options.device, options.target, Device::cpu());
  if (place.interpret)
    throw UsageError{
        "--guess compares a device with the interpreter; write --device cpu, cuda or emulate"};
  python::ModuleLoader loader;
  Guesser guesser(loader);
  const bool has_cuda = has_cuda_files(options.path);
  const auto found = has_cuda && !has_python_files(options.path)
                         ? FoundKernels{}
                         : find_kernels(loader, guesser, options.path);
  const auto& kernels = found.kernels;
  std::vector<Row> rows;
  for (const UnreadableFile& file : found.unreadable)
    rows.push_back({.file = file.path,
                    .kernel = "",
                    .result = "cannot be read",
                    .reason = file.reason,
                    .signature = "",
                    .arguments = "",
                    .seconds = 0});
  check_device(place.device);
  const std::size_t first = rows.size();
  rows.resize(first + kernels.size());
  {
    std::size_t ended = 0;
    Progress progress;
    run_isolated(
        kernels.size(), options.isolation,
        [&](std::size_t i) {
          return encoded(
              run_kernel(loader, guesser, kernels[i],
                         {place.device, place.emulate(), folder_of(options, i, kernels[i].name)}));
        },
        [&](std::size_t i, const IsolatedResult& result) {
          rows[first + i] = row_of(kernels[i], result);
          progress.show(fmt::format("{} of {}: {}", ++ended, kernels.size(), kernels[i].name));
        });
  }
  if (has_cuda) {
    Progress progress;
    for (const CudaGuess& guess : guess_cuda(options.path, place.device, options.isolation,
                                             [&](const std::string& text) { progress.show(text); }))
      rows.push_back({.file = guess.file,
                      .kernel = guess.kernel,
                      .result = guess.result,
                      .reason = guess.reason,
                      .signature = "",
                      .arguments = guess.arguments,
                      .seconds = guess.seconds});
  }
  if (rows.empty())
    throw ArgumentError(fmt::format("there is no kernel or program in '{}'", options.path));
  std::map<std::string, int> counts;
  for (const Row& row : rows) ++counts[row.result];
  options.json ? print_json(rows, counts) : print_table(rows, counts);
}

}  // namespace tilewright::cli
