// SPDX-License-Identifier: Apache-2.0
// cli/compile_guess.cpp — `tilewright compile PATH --guess`: tries every kernel of a file or
// folder.
#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/quote.h"
#include "base/table.h"
#include "bench/json.h"
#include "cli/cuda_call.h"
#include "cli/guess_files.h"
#include "cli/isolate.h"
#include "cli/kernel_path.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/guess/try_kernel.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

struct Row {
  std::string file;
  std::string kernel;
  bool ok = false;
  std::string reason;
  double seconds = 0;
};

GuessStage stage_of(const std::string& name) {
  const std::vector<std::string> names = {"ir", "source", "binary"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<GuessStage>(i);
  throw UsageError{fmt::format("--stage has no '{}'{}", name, suggest_names(name, names))};
}

// The child's answer: the first character tells ok from not, what follows is the reason.
std::string encoded(const TryOutcome& outcome) { return (outcome.ok ? "+" : "-") + outcome.reason; }

Row row_of(const python::DecoratedFunction& function, const IsolatedResult& result) {
  Row row{function.module->tree->source.file, function.name, false, result.problem, result.seconds};
  if (!result.finished || result.text.empty()) return row;
  row.ok = result.text[0] == '+';
  row.reason = result.text.substr(1);
  return row;
}

void print_table(const std::vector<Row>& rows, std::size_t compiled) {
  Table table({{"kernel"}, {"file"}, {"seconds", Align::Right}, {"result"}}, 0);
  for (const Row& row : rows)
    table.add({row.kernel.empty() ? "-" : row.kernel, printable(row.file),
               fmt::format("{:.2f}", row.seconds), row.ok ? "ok" : row.reason});
  fmt::print("{}{} of {} compiled\n", table.to_string(), compiled, rows.size());
}

void print_json(const std::vector<Row>& rows, std::size_t compiled) {
  Json kernels = Json::array();
  for (const Row& row : rows)
    kernels.push_back({{"file", row.file},
                       {"kernel", row.kernel},
                       {"ok", row.ok},
                       {"reason", row.reason},
                       {"seconds", row.seconds}});
  fmt::print("{}\n",
             text_of(Json{{"kernels", kernels}, {"compiled", compiled}, {"total", rows.size()}}));
}

// One kernel by name: its guessed signature, and then all that `compile` says and emits.
void compile_one(const CompileVerbOptions& options, const KernelPath& path, const Target& target) {
  python::ModuleLoader loader;
  Guesser guesser(loader);
  const auto function = find_kernel(loader, loader.load(path.file), path.kernel);
  const TryOutcome outcome = try_kernel(loader, guesser, function, target, GuessStage::Source);
  if (!outcome.ok)
    throw ArgumentError(fmt::format("no guessed signature of '{}' compiles: {} (tried first: {})",
                                    path.kernel, outcome.reason, outcome.signature));
  CompileVerbOptions one = options;
  one.guess = false;
  one.signature = outcome.signature;
  run_compile(one);
}

}  // namespace

void run_compile_guess(const CompileVerbOptions& options) {
  if (!options.signature.empty())
    throw UsageError{"--signature says what --guess would guess; leave one out"};
  if (is_cuda_path(options.path))
    throw UsageError{
        fmt::format("'{}' says the types of its kernels itself, so that nothing is guessed; write "
                    "FILE.cu:KERNEL "
                    "without --guess",
                    options.path)};
  const KernelPath path = parse_kernel_path(options.path);
  if (!path.kernel.empty() && path.file.ends_with(".py"))
    return compile_one(options, path,
                       Target::parse(options.targets.empty() ? "sm_90a" : options.targets[0]));
  if (!options.emit.empty() || !options.folder.empty())
    throw UsageError{"--emit and -o go with one kernel: write FILE.py:KERNEL --guess"};
  if (options.targets.size() > 1)
    throw UsageError{"--guess compiles for one target; give one with --target"};
  const Target target = Target::parse(options.targets.empty() ? "sm_90a" : options.targets[0]);
  const GuessStage stage = stage_of(options.stage);
  python::ModuleLoader loader;
  std::vector<Row> rows;
  Guesser guesser(loader);
  const auto found = find_kernels(loader, guesser, options.path);
  const auto& kernels = found.kernels;
  for (const UnreadableFile& file : found.unreadable)
    rows.push_back({file.path, "", false, file.reason});
  const std::size_t first = rows.size();
  rows.resize(first + kernels.size());
  {
    std::size_t ended = 0;
    Progress progress;
    run_isolated(
        kernels.size(), options.isolation,
        [&](std::size_t i) {
          return encoded(try_kernel(loader, guesser, kernels[i], target, stage));
        },
        [&](std::size_t i, const IsolatedResult& result) {
          rows[first + i] = row_of(kernels[i], result);
          progress.show(fmt::format("{} of {}: {}", ++ended, kernels.size(), kernels[i].name));
        });
  }
  const auto compiled = static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.ok; }));
  options.json ? print_json(rows, compiled) : print_table(rows, compiled);
}

}  // namespace tilewright::cli
