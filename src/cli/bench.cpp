// SPDX-License-Identifier: Apache-2.0
// cli/bench.cpp — `tilewright bench`: measures, prints, compares with an earlier run.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/interrupt.h"
#include "base/output_file.h"
#include "base/table.h"
#include "bench/suite/baseline.h"
#include "bench/suite/explain.h"
#include "bench/suite/html.h"
#include "bench/suite/mlp.h"
#include "bench/suite/print.h"
#include "bench/suite/record_json.h"
#include "bench/suite/rivals.h"
#include "bench/suite/sizes.h"
#include "cli/bench_pair.h"
#include "cli/bench_request.h"
#include "cli/crash_hint.h"
#include "cli/progress.h"
#include "cli/symbolic_sizes.h"
#include "tilewright/version.h"

namespace tilewright::cli {
namespace {

// ---- Ctrl-C: what is measured so far is kept. A second one ends the program as usual.

std::atomic<bool> interrupted = false;

class InterruptGuard {
 public:
  InterruptGuard() {
    struct sigaction action {};
    action.sa_handler = [](int) {
      interrupted = true;
      end_unless_soon();
    };
    sigaction(SIGINT, &action, &previous_);
  }
  ~InterruptGuard() {
    forget_interrupt();
    sigaction(SIGINT, &previous_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction previous_ {};
};

constexpr int interrupted_code = 130;
constexpr int regression_code = 3;

void print_list() {
  Table table({{"operation"}, {"shape"}, {"ways"}, {"what it is"}});
  for (const suite::Operation& operation : suite::operations()) {
    std::vector<std::string> ways;
    for (const suite::Way& way : suite::ways_of(operation.name)) ways.emplace_back(way.name);
    table.add({operation.name, operation.shape_names, fmt::format("{}", fmt::join(ways, ", ")),
               operation.summary});
  }
  table.add({"mlp", "dim, layers, batch", fmt::format("{}", fmt::join(suite::mlp_ways(), ", ")),
             "layers of linear and GELU: forward, backward, a step of AdamW"});
  table.add({"compile", "", "eager, compiled, reduce-overhead",
             "where tw::compile pays and where it does not"});
  fmt::print("{}", table.to_string());
}

std::unique_ptr<suite::Rivals> invited_rivals(const BenchVerbOptions& options,
                                              const BenchRequest& request, Progress& progress) {
  if (!options.has_rivals && torch_reference(options).empty()) return nullptr;
  progress.show(fmt::format("asking {} for PyTorch and Triton", options.python));
  suite::RivalOptions wanted;
  wanted.python = options.python;
  wanted.clock = request.run.clock;
  wanted.warmups = request.run.warmups;
  wanted.trials = request.run.trials;
  wanted.show = [&progress](const std::string& text) { progress.show(text); };
  wanted.is_interrupted = request.run.is_interrupted;
  return std::make_unique<suite::Rivals>(wanted);
}

// A page draws a roofline, which needs the arithmetic too. On a CPU float32 products are made by
// the same multiply-adds.
suite::Ceilings ceilings_of(const BenchVerbOptions& options, const BenchRequest& request) {
  suite::CeilingsWanted wanted;
  const bool is_arithmetic = request.is_arithmetic();
  wanted.multiply_adds =
      !options.html.empty() || options.explain || (is_arithmetic && request.device.is_cpu());
  for (const suite::Case& each : request.cases) {
    const bool is_known =
        std::find(wanted.matrix.begin(), wanted.matrix.end(), each.dtype) != wanted.matrix.end();
    const bool is_plain = request.device.is_cpu() && each.dtype == DType::Float32;
    if (is_arithmetic && !is_known && !is_plain) wanted.matrix.push_back(each.dtype);
  }
  for (const DType dtype : request.products)
    if (!(request.device.is_cpu() && dtype == DType::Float32)) wanted.matrix.push_back(dtype);
  return suite::measure_ceilings(request.device, wanted);
}

suite::Report measure(const BenchVerbOptions& options, BenchRequest request,
                      std::unique_ptr<BenchPair> pair) {
  const InterruptGuard guard;
  Progress progress;
  suite::Report report;
  report.version = version();
  report.command = options.command;
  report.date = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
  report.device = request.device.name();
  report.device_name = request.device.properties().name;
  report.ceilings.problem = "--no-ceiling";
  if (!options.no_ceiling) {
    progress.show(fmt::format("measuring what {} can do", request.device.name()));
    report.ceilings = ceilings_of(options, request);
  }
  request.run.is_interrupted = [] { return interrupted.load(); };
  const std::unique_ptr<suite::Rivals> rivals = invited_rivals(options, request, progress);
  if (rivals) report.rivals = rivals->versions();
  const auto steps = pair ? swept(options.arguments) : std::vector<std::vector<std::string>>();
  for (std::size_t i = 0; i < steps.size() && !report.is_interrupted; ++i) {
    request.run.show = [&, i](const std::string& text) {
      progress.show(fmt::format("[{}/{}] {}", i + 1, steps.size(), text));
    };
    // The memory of one step is freed before the next one takes its own.
    if (i > 0) pair.reset();
    if (i > 0) pair = std::make_unique<BenchPair>(options, steps[i], request.device);
    report.is_interrupted = !pair->run(request.run, report.ceilings, rivals.get(), report.records);
  }
  if (request.whole) {
    request.run.show = [&](const std::string& text) { progress.show(text); };
    report.is_interrupted =
        !request.whole(request.run, report.ceilings, rivals.get(), report.records);
  }
  std::size_t done = 0;
  for (const suite::Case& each : request.cases) {
    request.run.show = [&, done](const std::string& text) {
      progress.show(fmt::format("[{}/{}] {}", done + 1, request.cases.size(), text));
    };
    suite::MoreContenders more;
    if (rivals)
      more = [&](const suite::Problem& problem) { return rivals->contenders(problem, each.dim); };
    if (interrupted || !suite::run_case(each, bench_entries(options, each), report.ceilings,
                                        request.run, more, report.records)) {
      report.is_interrupted = true;
      break;
    }
    ++done;
  }
  if (!options.no_ceiling && !report.is_interrupted) {
    progress.show("measuring the ceilings once more");
    suite::raise_ceilings(report, ceilings_of(options, request), request.is_arithmetic());
  }
  suite::explain_all(report, request.device.target());
  // Phases and cases are no sizes of one operation.
  if (!request.whole) report.fits = suite::fit_exponents(report.records);
  return report;
}

std::string text_of_report(const suite::Report& report, const std::string& format) {
  if (format == "json") return suite::report_json(report) + "\n";
  if (format == "csv") return suite::report_csv(report);
  if (format == "markdown") return suite::report_markdown(report);
  return suite::report_text(report);
}

// Verdicts are for people: beside JSON or CSV they go where people look.
bool is_slower(const suite::Report& before, const suite::Report& report,
               const BenchVerbOptions& options) {
  const auto verdicts = suite::compare_with(before, report, options.threshold / 100);
  const std::string text = suite::verdicts_text(verdicts, options.baseline);
  fmt::print(options.format.empty() ? stdout : stderr, "\n{}", text);
  return suite::has_regression(verdicts);
}

bool has_failure(const suite::Report& report) {
  return std::any_of(report.records.begin(), report.records.end(), [](const suite::Record& r) {
    return r.status == suite::Status::Wrong || r.status == suite::Status::Failed;
  });
}

}  // namespace

void run_bench(const BenchVerbOptions& options) {
  if (options.list) return print_list();
  if (options.print_loss && options.operation == "mlp") return print_losses(options);
  BenchRequest request = bench_request(options);
  suite::Report before;
  if (!options.baseline.empty()) before = suite::read_report(options.baseline);
  if (!options.html.empty()) check_output(options.html);
  std::unique_ptr<BenchPair> pair;
  if (is_pair(options))
    pair = std::make_unique<BenchPair>(options, swept(options.arguments).front(), request.device);
  std::optional<InterruptPlace> place;
  if (!options.like.empty() || pair) {
    explain_crashes(options.operation);  // our own kernels do not crash
    place.emplace(fmt::format(
        "while '{}' ran; where its loop does not end, tilewright run --device interpret or emulate "
        "names the line",
        options.operation));
  }
  const suite::Report report = measure(options, std::move(request), std::move(pair));
  fmt::print("{}", text_of_report(report, options.format));
  std::fflush(stdout);  // what was measured is shown even if the page cannot be written
  if (!options.html.empty()) write_output(options.html, suite::report_html(report));
  const bool slower = !options.baseline.empty() && is_slower(before, report, options);
  if (report.is_interrupted) throw ExitWith{interrupted_code};
  if (has_failure(report)) throw ExitWith{1};
  if (slower) throw ExitWith{regression_code};
}

}  // namespace tilewright::cli
