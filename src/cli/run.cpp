// SPDX-License-Identifier: Apache-2.0
// cli/run.cpp — `tilewright run`: one launch of a Triton kernel on given or generated arguments.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/interrupt.h"
#include "base/nearest.h"
#include "base/table.h"
#include "bench/json.h"
#include "cli/crash_hint.h"
#include "cli/cuda_call.h"
#include "cli/kernel_arguments.h"
#include "cli/kernel_path.h"
#include "cli/prints_aside.h"
#include "cli/run_compare.h"
#include "cli/run_cuda.h"
#include "cli/run_numba.h"
#include "cli/run_place.h"
#include "cli/symbolic_sizes.h"
#include "cli/verbs.h"

namespace tilewright::cli {
namespace {

RunPlace place_of(const RunVerbOptions& options) {
  const bool needs_interpreter = options.float64 && options.device.empty();
  const std::string device = needs_interpreter ? "interpret" : options.device;
  if (options.float64 && device != "interpret")
    throw UsageError{fmt::format("--float64 is for --device interpret, not for '{}'", device)};
  return parse_run_place(device, options.target, device.empty() ? default_device() : Device::cpu());
}

// A file that holds what the kernel needs: the values of `run` are converted, those of a file are
// not, so their rank and type are the user's business; but a scalar's place cannot take a tensor.
struct Save {
  const NamedValue* value;
  std::string path;
};

std::vector<Save> saves_of(const RunVerbOptions& options, const std::vector<NamedValue>& values) {
  std::vector<Save> saves;
  std::vector<std::string> names;
  for (const NamedValue& value : values)
    if (value.tensor() != nullptr) names.push_back(value.name);
  for (const std::string& text : options.saves) {
    const auto [name, path] = parse_assignment(text, "NAME=FILE.npy");
    const NamedValue* found = nullptr;
    for (const NamedValue& value : values)
      if (value.name == name && value.tensor() != nullptr) found = &value;
    if (found == nullptr)
      throw UsageError{fmt::format("--save {}: no tensor argument has that name{}", name,
                                   suggest_names(name, names))};
    for (const Save& other : saves)
      if (other.path == path)
        throw UsageError{fmt::format("--save: '{}' and '{}' would both be written to '{}'",
                                     other.value->name, name, path)};
    saves.push_back({found, path});
  }
  return saves;
}

// As .npy can hold it: bf16 and fp8 become float32, which has all their values.
Tensor saved(const Tensor& tensor) {
  const bool is_known = !is_floating(tensor.dtype()) || size_of(tensor.dtype()) > 2 ||
                        tensor.dtype() == DType::Float16;
  return (is_known ? tensor : tensor.to(DType::Float32)).to(Device::cpu());
}

struct TensorSummary {
  std::string name;
  std::string type;
  std::int64_t elements = 0;
  std::int64_t changed = 0;
  std::int64_t not_finite = 0;
  std::vector<Json> first;
};

// Integers as they are: float64 would round the large ones.
std::vector<Json> as_json(const Tensor& values) {
  std::vector<Json> all;
  const auto add = [&](const auto& numbers) { all.assign(numbers.begin(), numbers.end()); };
  if (is_floating(values.dtype())) add(values.to(DType::Float64).to_vector<double>());
  else if (values.dtype() == DType::UInt64) add(values.to_vector<std::uint64_t>());
  else add(values.to(DType::Int64).to_vector<std::int64_t>());
  return all;
}

std::string number_text(const Json& number) {
  if (!number.is_number_float()) return number.dump();
  const double value = number.get<double>();
  return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);  // whatever its sign
}

TensorSummary summarize(const NamedValue& named) {
  const Tensor after = named.tensor()->to(Device::cpu()).contiguous();
  TensorSummary summary{named.name, tensor_type_text(after), after.numel()};
  const std::size_t bytes = size_of(after.dtype());
  const auto* before_data =
      named.before.is_defined() ? static_cast<const char*>(named.before.data()) : nullptr;
  const auto* after_data = static_cast<const char*>(after.data());
  const bool is_float = is_floating(after.dtype());
  const Tensor wide = is_float ? after.to(DType::Float64) : Tensor();
  for (std::int64_t i = 0; i < after.numel(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * bytes;
    summary.changed +=
        before_data == nullptr || std::memcmp(before_data + at, after_data + at, bytes) != 0;
    if (is_float && !std::isfinite(wide.data<double>()[i])) ++summary.not_finite;
  }
  const std::int64_t shown = std::min<std::int64_t>(after.numel(), 6);
  summary.first = as_json(after.view({-1}).slice(0, 0, shown));
  return summary;
}

struct Outcome {
  std::string kernel;
  std::string place;
  Dim3 grid;
  double seconds = 0;
  std::vector<TensorSummary> tensors;
  std::optional<LaunchValues> launch;  // of the file, where it gave arguments
  std::vector<ComparedTensor> compared;
  std::string result;  // of a host function that returns no tensor
};

// Nothing of a host function.
std::string grid_words(const Dim3& grid) {
  if (grid.x == 0 && grid.y == 0 && grid.z == 0) return "";
  const bool is_empty = grid.x == 0 || grid.y == 0 || grid.z == 0;
  return fmt::format("grid {} x {} x {}, {}", grid.x, grid.y, grid.z,
                     is_empty ? "so nothing was launched, " : "");
}

void print_text(const Outcome& outcome) {
  fmt::print("{} on {}: {}{:.3f} s with compiling\n", outcome.kernel, outcome.place,
             grid_words(outcome.grid), outcome.seconds);
  if (!outcome.result.empty()) fmt::print("  result  {}\n", outcome.result);
  if (outcome.launch && !outcome.launch->texts.empty())
    fmt::print("  as the launch at {}: {}\n", outcome.launch->place,
               fmt::join(outcome.launch->texts, " "));
  Table table({{}, {}, {}, {}}, 2);
  for (const TensorSummary& t : outcome.tensors) {
    std::string state =
        t.changed == 0 ? "unchanged" : fmt::format("{} of {} changed", t.changed, t.elements);
    if (t.not_finite > 0) state += fmt::format(", {} not finite", t.not_finite);
    std::string values;
    for (const Json& number : t.first) values += (values.empty() ? "" : ", ") + number_text(number);
    if (static_cast<std::size_t>(t.elements) > t.first.size()) values += ", ...";
    table.add({t.name, t.type, state, values});
  }
  fmt::print("{}", table.to_string());
  print_compared(outcome.compared);
}

void print_json(const Outcome& outcome) {
  Json tensors = Json::array();
  for (const TensorSummary& t : outcome.tensors)
    tensors.push_back({{"name", t.name},
                       {"type", t.type},
                       {"elements", t.elements},
                       {"changed", t.changed},
                       {"not_finite", t.not_finite},
                       {"first", t.first}});
  Json all{{"kernel", outcome.kernel},
           {"device", outcome.place},
           {"grid", {outcome.grid.x, outcome.grid.y, outcome.grid.z}},
           {"seconds", outcome.seconds},
           {"tensors", tensors}};
  if (!outcome.result.empty()) all["result"] = outcome.result;
  if (outcome.launch)
    all["launch"] = {{"place", outcome.launch->place}, {"arguments", outcome.launch->texts}};
  if (!outcome.compared.empty()) all["compared"] = compared_json(outcome.compared);
  fmt::print("{}\n", text_of(all));
}

// At once: what a kernel has damaged may end the process when it is freed, and the results with it.
void print(const Outcome& outcome, bool as_json) {
  as_json ? print_json(outcome) : print_text(outcome);
  static_cast<void>(std::fflush(stdout));  // main asks the stream whether that went well
}

void launch(const RunVerbOptions& options, const TritonKernel& kernel, const RunPlace& place,
            const KernelArguments& given, Outcome& outcome) {
  const LaunchArguments arguments(given.values);
  const Grid grid = grid_for(grid_with_sizes(options.grid, options.arguments, kernel.parameters()),
                             kernel, given);
  const std::optional<LaunchValues>& own = given.launch;
  TritonLaunch launch{
      .num_warps = options.num_warps || !own ? options.num_warps : own->num_warps,
      .num_stages = options.num_stages || !own ? options.num_stages : own->num_stages,
      .maxnreg = options.maxnreg,
      .fp_fusion = !options.no_fp_fusion,
      .flush_to_zero = options.flush_to_zero,
      .debug = options.debug,
      .interpret = place.interpret,
      .bare = options.bare,
      .float64 = options.float64,
      .emulate = place.emulate()};
  launch.grid = Grid([&](const Meta& meta) { return outcome.grid = grid.sizes(meta); });
  const StreamGuard on_device(Stream::default_of(place.device));
  const auto start = std::chrono::steady_clock::now();
  kernel.launch(launch, arguments.get());
  place.device.synchronize();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The options of a run at a place of --compare.
RunVerbOptions at_place(const RunVerbOptions& options, const std::string& name) {
  RunVerbOptions other = options;
  other.float64 = name == "float64";
  other.device = other.float64 ? "interpret" : name;
  if (name != "emulate") other.target.clear();
  return other;
}

// The same launch at each place of --compare, from the same memory.
void compare_places(const RunVerbOptions& options, const TritonKernel& kernel,
                    const KernelArguments& given, Outcome& outcome) {
  for (const std::string& name : options.compares) {
    const RunVerbOptions other = at_place(options, name);
    const RunPlace place = place_of(other);
    const KernelArguments again =
        read_arguments(options.arguments, kernel, {.device = place.device, .seed = options.seed});
    restore(given.values, again.values);
    Outcome ignored;
    launch(other, kernel, place, again, ignored);
    for (ComparedTensor& each : compare_runs(name, given.values, again.values, options.tolerance))
      outcome.compared.push_back(std::move(each));
  }
}

// Elements of one store, or programs, that write to the same place make a result that depends on
// their order: no device is wrong then.
void print_order_hint(const RunVerbOptions& options) {
  fmt::print(
      "  tilewright check {} with the same arguments says whether stores meet, so that the "
      "result depends on their order\n",
      options.path);
}

// A name that is no place is found before anything runs.
void check_places(const RunVerbOptions& options) {
  for (const std::string& name : options.compares)
    static_cast<void>(place_of(at_place(options, name)));
}

}  // namespace

void report_run(const RunVerbOptions& options, const RunReport& report) {
  const std::vector<Save> saves = saves_of(options, report.values);
  const std::vector<Expected> expected = read_expected(options.expects, report.values);
  Outcome outcome{.kernel = report.name,
                  .place = report.place,
                  .grid = report.grid,
                  .seconds = report.seconds,
                  .tensors = {},
                  .launch = {},
                  .compared = compare_with_expected(expected, report.values, options.tolerance),
                  .result = report.result};
  for (const NamedValue& value : report.values)
    if (value.tensor() != nullptr) outcome.tensors.push_back(summarize(value));
  for (const Save& save : saves) save_npy(save.path, saved(*save.value->tensor()));
  print(outcome, options.json);
  if (has_difference(outcome.compared)) throw ExitWith{difference_code};
}

void run_run(const RunVerbOptions& options) {
  refuse_folder(options.path, "runs every kernel in it");
  if (is_cuda_path(options.path)) return run_cuda(options);
  if (is_numba_path(options.path)) return run_numba(options);
  const RunPlace place = place_of(options);
  const TritonKernel kernel = load_kernel(options.path);
  refuse_sweeps(options.arguments, "tilewright run");
  KernelArguments given =
      read_arguments(options.arguments, kernel, {.device = place.device, .seed = options.seed});
  mark_unwritten(options.arguments, given.values);
  if (given.launch) mark_unwritten(given.launch->texts, given.values);
  const std::vector<NamedValue>& values = given.values;
  const std::vector<Save> saves = saves_of(options, values);
  const std::vector<Expected> expected = read_expected(options.expects, values);
  check_places(options);
  Outcome outcome{.kernel = kernel.name(), .place = place.name(), .launch = given.launch};
  const InterruptPlace while_running(
      fmt::format("while kernel '{}' was compiled or run on {}; --device interpret names the line "
                  "of a loop that does not end",
                  kernel.name(), place.name()));
  std::optional<PollsInterrupts> polls;  // these two name the line themselves
  if (place.interpret || place.emulate() != nullptr) polls.emplace();
  // The interpreter and a GPU report what goes outside.
  if (place.device.is_cpu() && !place.interpret) explain_crashes(kernel.name());
  {
    std::optional<PrintsAside> aside;
    if (options.json) aside.emplace();
    launch(options, kernel, place, given, outcome);
    outcome.compared = compare_with_expected(expected, values, options.tolerance);
    compare_places(options, kernel, given, outcome);
  }
  for (const NamedValue& value : values)
    if (value.tensor() != nullptr) outcome.tensors.push_back(summarize(value));
  for (const Save& save : saves) save_npy(save.path, saved(*save.value->tensor()));
  print(outcome, options.json);
  if (!has_difference(outcome.compared)) return;
  if (!options.compares.empty() && !options.json) print_order_hint(options);
  throw ExitWith{difference_code};
}

}  // namespace tilewright::cli
