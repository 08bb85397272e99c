// SPDX-License-Identifier: Apache-2.0
// cli/run.cpp — `tilewright run`: one launch of a Triton kernel on given or generated arguments.
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/table.h"
#include "bench/json.h"
#include "cli/kernel_path.h"
#include "cli/verbs.h"
#include "compiler/grid_text.h"
#include "compiler/guess/guess.h"
#include "compiler/triton_state.h"
#include "compiler/value_text.h"

namespace tilewright::cli {
namespace {

struct NamedValue {
  std::string name;
  ArgumentValue value;
  Tensor before;  // of a tensor: its content before the launch, on the host
  const Tensor* tensor() const { return std::get_if<Tensor>(&value); }
};

struct Place {
  Device device;
  bool interpret = false;
  std::string name() const { return interpret ? "interpret" : device.name(); }
};

Place place_of(const std::string& device, bool float64) {
  if (device == "interpret" || (float64 && device.empty())) return {Device::cpu(), true};
  if (float64)
    throw UsageError{fmt::format("--float64 is for --device interpret, not for '{}'", device)};
  return {device.empty() ? default_device() : Device::parse(device), false};
}

TritonKernel load_kernel(const std::string& text) {
  const KernelPath path = parse_kernel_path(text);
  if (!path.kernel.empty()) return load_triton(path.file, path.kernel);
  python::ModuleLoader loader;
  Guesser guesser(loader, {});
  std::vector<std::string> names;
  for (const auto& function : guesser.entries({&loader.load(path.file)}))
    names.push_back(function.name);
  return load_triton(path.file, chosen_kernel(path, names));
}

std::vector<NamedValue> read_values(const RunVerbOptions& options, const TritonKernel& kernel,
                                    const Place& place) {
  std::vector<NamedValue> values;
  std::uint64_t seed = options.seed;
  for (const std::string& text : options.arguments) {
    const auto [name, value] = parse_assignment(text, "NAME=VALUE");
    static_cast<void>(parameter_named(kernel.name(), kernel.state()->parameters, name));
    // Tensors of one launch differ although they share the seed.
    values.push_back({name, read_value(name, value, {.device = place.device, .seed = seed++}), {}});
    if (const Tensor* tensor = values.back().tensor())
      values.back().before = tensor->to(Device::cpu()).clone();
  }
  return values;
}

TritonArgument to_argument(const NamedValue& named) {
  if (const Tensor* tensor = named.tensor()) return constant(named.name, *tensor);
  const auto& value = std::get<triton::Value>(named.value);
  if (const auto* type = value.get_if<triton::TypeValue>())
    return constant(named.name, type->type.dtype);
  const auto& content = value.get_if<triton::Constant>()->value;
  if (const auto* flag = std::get_if<bool>(&content)) return constant(named.name, *flag);
  if (const auto* number = std::get_if<double>(&content)) return constant(named.name, *number);
  if (const auto* text = std::get_if<std::string>(&content)) return constant(named.name, *text);
  if (const auto* integer = std::get_if<triton::Int128>(&content))
    return constant(named.name, static_cast<std::int64_t>(*integer));
  return constant(named.name, none);
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
  std::vector<double> first;
};

TensorSummary summarize(const NamedValue& named) {
  const Tensor after = named.tensor()->to(Device::cpu()).contiguous();
  TensorSummary summary{named.name, tensor_type_text(after), after.numel()};
  const std::size_t bytes = size_of(after.dtype());
  const auto* before_data = static_cast<const char*>(named.before.data());
  const auto* after_data = static_cast<const char*>(after.data());
  const bool is_float = is_floating(after.dtype());
  const Tensor wide = is_float ? after.to(DType::Float64) : Tensor();
  for (std::int64_t i = 0; i < after.numel(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * bytes;
    summary.changed += std::memcmp(before_data + at, after_data + at, bytes) != 0;
    if (is_float && !std::isfinite(wide.data<double>()[i])) ++summary.not_finite;
  }
  const std::int64_t shown = std::min<std::int64_t>(after.numel(), 6);
  for (const double value :
       after.view({-1}).slice(0, 0, shown).to(DType::Float64).to_vector<double>())
    summary.first.push_back(value);
  return summary;
}

struct Outcome {
  std::string kernel;
  std::string place;
  Dim3 grid;
  double seconds = 0;
  std::vector<TensorSummary> tensors;
};

void print_text(const Outcome& outcome) {
  fmt::print("{} on {}: grid {} x {} x {}, {:.3f} s with compiling\n", outcome.kernel,
             outcome.place, outcome.grid.x, outcome.grid.y, outcome.grid.z, outcome.seconds);
  Table table({{}, {}, {}, {}}, 2);
  for (const TensorSummary& t : outcome.tensors) {
    std::string state =
        t.changed == 0 ? "unchanged" : fmt::format("{} of {} changed", t.changed, t.elements);
    if (t.not_finite > 0) state += fmt::format(", {} not finite", t.not_finite);
    std::string values = fmt::format("{:.6g}", fmt::join(t.first, ", "));
    if (static_cast<std::size_t>(t.elements) > t.first.size()) values += ", ...";
    table.add({t.name, t.type, state, values});
  }
  fmt::print("{}", table.to_string());
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
  fmt::print("{}\n", text_of(Json{{"kernel", outcome.kernel},
                                  {"device", outcome.place},
                                  {"grid", {outcome.grid.x, outcome.grid.y, outcome.grid.z}},
                                  {"seconds", outcome.seconds},
                                  {"tensors", tensors}}));
}

Grid grid_of(const RunVerbOptions& options, const TritonKernel& kernel,
             const std::vector<NamedValue>& values) {
  if (!options.grid.empty()) return grid_from_text(kernel, options.grid);
  std::map<std::string, Tensor> tensors;
  for (const NamedValue& value : values)
    if (value.tensor() != nullptr) tensors.emplace(value.name, *value.tensor());
  return grid_from_file(kernel, std::move(tensors));
}

void launch(const RunVerbOptions& options, const TritonKernel& kernel, const Place& place,
            const std::vector<NamedValue>& values, Outcome& outcome) {
  std::vector<TritonArgument> arguments;
  for (const NamedValue& value : values) arguments.push_back(to_argument(value));
  const Grid grid = grid_of(options, kernel, values);
  TritonLaunch launch{.num_warps = options.num_warps,
                      .num_stages = options.num_stages,
                      .maxnreg = options.maxnreg,
                      .fp_fusion = !options.no_fp_fusion,
                      .flush_to_zero = options.flush_to_zero,
                      .debug = options.debug,
                      .interpret = place.interpret,
                      .bare = options.bare,
                      .float64 = options.float64};
  launch.grid = Grid([&](const Meta& meta) { return outcome.grid = grid.sizes(meta); });
  const StreamGuard on_device(Stream::default_of(place.device));
  const auto start = std::chrono::steady_clock::now();
  kernel.launch(launch, arguments);
  place.device.synchronize();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void run_run(const RunVerbOptions& options) {
  const Place place = place_of(options.device, options.float64);
  const TritonKernel kernel = load_kernel(options.path);
  const std::vector<NamedValue> values = read_values(options, kernel, place);
  const std::vector<Save> saves = saves_of(options, values);
  Outcome outcome{.kernel = kernel.name(), .place = place.name()};
  launch(options, kernel, place, values, outcome);
  for (const NamedValue& value : values)
    if (value.tensor() != nullptr) outcome.tensors.push_back(summarize(value));
  for (const Save& save : saves) save_npy(save.path, saved(*save.value->tensor()));
  options.json ? print_json(outcome) : print_text(outcome);
}

}  // namespace tilewright::cli
