// SPDX-License-Identifier: Apache-2.0
// cli/tune.cpp — `tilewright tune`: times every config of a kernel and keeps the winner.
#include <algorithm>
#include <csignal>
#include <memory>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/table.h"
#include "base/units.h"
#include "bench/json.h"
#include "cli/config_file.h"
#include "cli/crash_hint.h"
#include "cli/kernel_arguments.h"
#include "cli/progress.h"
#include "cli/symbolic_sizes.h"
#include "cli/verbs.h"
#include "compiler/triton/tune/config_text.h"
#include "compiler/triton/tune/propose.h"
#include "compiler/triton/tune/tune.h"

namespace tilewright::cli {
namespace {

using Kind = ConfigOutcome::Kind;

volatile std::sig_atomic_t interrupts = 0;

// The first Ctrl-C ends the measuring, the second one the process.
class InterruptScope {
 public:
  InterruptScope() {
    struct sigaction action {};
    action.sa_handler = [](int) {
      interrupts = 1;
      end_unless_soon();
    };
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &previous_);
  }
  ~InterruptScope() {
    forget_interrupt();
    sigaction(SIGINT, &previous_, nullptr);
  }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct sigaction previous_ {};
};

std::string kind_text(const ConfigOutcome& outcome) {
  switch (outcome.kind) {
    case Kind::Unmeasured:
      return "not measured";
    case Kind::Timed:
      return "";
    case Kind::Slower:
      return "left early";
    case Kind::Stored:
      return "of an earlier run";
    case Kind::Same:
      return "the same on this device as " + outcome.problem;
    case Kind::Skipped:
      return "skipped: " + outcome.problem;
  }
  return "";
}

std::string occupancy_text(const ConfigOutcome& c, const Target& target) {
  const int warps = c.threads / target.warp_size * c.blocks_per_processor;
  return fmt::format("{:.0f}%",
                     100.0 * warps * target.warp_size / target.max_threads_per_processor);
}

// The fastest first, then what was not timed.
std::vector<std::size_t> in_order(const TuneReport& report) {
  std::vector<std::size_t> order(report.configs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](std::size_t i) {
    const Timing& timing = report.configs[i].timing;
    return timing.samples > 0 ? timing.median : 1e300;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

std::vector<std::string> row_of(const ConfigOutcome& c, double best, const Device& device) {
  std::vector<std::string> row = {config_text(c.config)};
  if (c.timing.samples > 0) {
    row.push_back(format_seconds(c.timing.median));
    row.push_back(fmt::format("{:+.0f}%..{:+.0f}%", 100 * (c.timing.low / c.timing.median - 1),
                              100 * (c.timing.high / c.timing.median - 1)));
    row.push_back(fmt::format("{:.2f}", c.timing.median / best));
  } else {
    row.insert(row.end(), {"-", "-", "-"});
  }
  if (device.is_cuda() && c.threads > 0) {
    row.push_back(fmt::format("{}", c.registers));
    row.push_back(fmt::format("{}", c.local_bytes));
    row.push_back(format_bytes(static_cast<std::size_t>(c.shared_bytes)));
    row.push_back(occupancy_text(c, device.target()));
  } else if (device.is_cuda()) {
    row.insert(row.end(), {"-", "-", "-", "-"});
  }
  row.push_back(kind_text(c));
  return row;
}

void print_text(const TuneReport& report, const Device& device) {
  fmt::print("{} on {} for {}\n", report.kernel, report.device, report.key);
  std::vector<Table::Column> columns = {
      {"config"}, {"time", Align::Right}, {"p10..p90", Align::Right}, {"ratio", Align::Right}};
  if (device.is_cuda())
    for (const char* title : {"registers", "local bytes", "shared", "occupancy"})
      columns.push_back({title, Align::Right});
  columns.push_back({""});
  Table table(columns, 2);
  double best = 0;
  for (const std::size_t i : in_order(report)) {
    if (best == 0) best = report.configs[i].timing.median;
    table.add(row_of(report.configs[i], best, device));
  }
  fmt::print("{}", table.to_string());
  for (const std::string& note : report.notes) fmt::print("note: {}\n", note);
  if (const ConfigOutcome* winner = report.best())
    fmt::print("winner: {}, kept for later launches ({} in all)\n",
               config_as_python(winner->config), format_seconds(report.seconds));
}

Json json_of(const ConfigOutcome& c) {
  Json constants = Json::object();
  for (const auto& [name, value] : c.config.meta.items) {
    Json& place = constants[python::str(name)];
    if (const auto* flag = value.get_if<bool>()) place = *flag;
    else if (value.integer()) place = *value.integer();
    else if (value.number()) place = *value.number();
    else place = python::str(value);
  }
  Json out = {{"constants", constants},
              {"num_warps", c.config.num_warps},
              {"num_stages", c.config.num_stages}};
  if (c.timing.samples > 0)
    out.update({{"seconds", c.timing.median},
                {"p10", c.timing.low},
                {"p90", c.timing.high},
                {"samples", c.timing.samples}});
  if (c.threads > 0)
    out.update({{"registers", c.registers},
                {"local_bytes", c.local_bytes},
                {"shared_bytes", c.shared_bytes},
                {"blocks_per_processor", c.blocks_per_processor}});
  if (const std::string state = kind_text(c); !state.empty()) out["state"] = state;
  return out;
}

void print_json(const TuneReport& report) {
  Json configs = Json::array();
  for (const std::size_t i : in_order(report)) configs.push_back(json_of(report.configs[i]));
  Json out = {{"kernel", report.kernel},
              {"device", report.device},
              {"key", report.key},
              {"seconds", report.seconds},
              {"interrupted", report.was_interrupted},
              {"configs", configs},
              {"notes", report.notes}};
  if (const ConfigOutcome* winner = report.best()) out["winner"] = json_of(*winner);
  fmt::print("{}\n", text_of(out));
}

struct Request {
  Device device;
  TritonKernel kernel;
  KernelArguments given;
  std::unique_ptr<LaunchArguments> arguments;
  std::vector<const TritonArgument*> slots;
  TritonLaunch launch;
};

Request request_for(const TuneVerbOptions& options) {
  Request r;
  r.device = options.device.empty() ? default_device() : Device::parse(options.device);
  r.kernel = load_kernel(options.path);
  refuse_sweeps(options.arguments, "tilewright tune");
  const bool has_list =
      r.kernel.state()->is_autotuned() && options.configs.empty() && !options.propose;
  r.given = read_arguments(options.arguments, r.kernel,
                           {.device = r.device, .seed = options.seed, .leaves_sizes = !has_list});
  const std::vector<std::string> names = r.kernel.parameters();
  r.slots.resize(names.size());
  r.arguments = std::make_unique<LaunchArguments>(r.given.values);
  for (const TritonArgument& argument : r.arguments->get()) {
    const TritonArgument*& slot = r.slots[static_cast<std::size_t>(
        std::find(names.begin(), names.end(), argument.name) - names.begin())];
    if (slot != nullptr)
      throw ArgumentError(fmt::format("parameter '{}' of kernel '{}' is given twice", argument.name,
                                      r.kernel.name()));
    slot = &argument;
  }
  r.launch.grid =
      grid_for(grid_with_sizes(options.grid, options.arguments, names), r.kernel, r.given);
  r.launch.maxnreg = options.maxnreg;
  return r;
}

std::vector<python::ConfigValue> configs_for(const TuneVerbOptions& options, const Request& r,
                                             const LaunchRequest& request) {
  if (!options.configs.empty()) return read_configs(options.configs, r.kernel);
  if (r.kernel.state()->is_autotuned() && !options.propose) return {};
  return propose_configs(request, options.grid);
}

[[noreturn]] void end_interrupted() {
  fmt::print(stderr,
             "tilewright: interrupted; what was measured is kept, and the same command goes on "
             "from there\n");
  throw ExitWith{130};
}

}  // namespace

void run_tune(const TuneVerbOptions& options) {
  const Request r = request_for(options);
  const StreamGuard on_device(Stream::default_of(r.device));
  const LaunchRequest request =
      request_of(*r.kernel.state(), r.slots.data(), r.launch, {r.device, false});
  TuneReport report;
  explain_crashes(r.kernel.name());
  const InterruptPlace place(
      fmt::format("while kernel '{}' ran; where its loop does not end, tilewright run --device "
                  "interpret names the line",
                  r.kernel.name()));
  try {
    Progress progress;
    const InterruptScope interruptible;
    report = tune(request, r.slots.data(),
                  {.configs = configs_for(options, r, request),
                   .seconds_per_config = options.seconds,
                   .is_forced = true,
                   .compares_results = true,
                   .progress = [&](const std::string& what) { progress.show(what); },
                   .is_over = [] { return interrupts != 0; }});
  } catch (const Error&) {
    if (interrupts == 0) throw;
    end_interrupted();  // the Ctrl-C reached a compiler as well
  }
  options.json ? print_json(report) : print_text(report, r.device);
  if (report.was_interrupted) end_interrupted();
}

}  // namespace tilewright::cli
