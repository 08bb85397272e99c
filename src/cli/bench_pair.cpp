// SPDX-License-Identifier: Apache-2.0
// cli/bench_pair.cpp — a kernel, and a reference with tensors of its own and the same contents;
// what differs afterwards is the error.
#include "cli/bench_pair.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "bench/suite/user_kernel.h"
#include "cli/differences.h"
#include "cli/kernel_arguments.h"
#include "cli/kernel_path.h"
#include "cli/symbolic_sizes.h"
#include "compiler/grid_text.h"
#include "compiler/triton_state.h"
#include "runtime/cpu/temporary_folder.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

struct Side {
  std::string name;
  TritonKernel kernel;
  std::vector<NamedValue> values;
  std::optional<LaunchValues> own_launch;  // of the kernel's file
  TritonLaunch launch;
  int lines = 0;

  const NamedValue* find(const std::string& name_of_value) const {
    for (const NamedValue& value : values)
      if (value.name == name_of_value) return &value;
    return nullptr;
  }
};

// Of "ptrs.0" the parameter is "ptrs".
bool has_parameter(const TritonKernel& kernel, const std::string& name) {
  const std::vector<std::string> names = kernel.parameters();
  return std::find(names.begin(), names.end(), name.substr(0, name.find('.'))) != names.end();
}

Side load_side(const std::string& path) {
  Side side;
  side.kernel = load_kernel(path);
  side.name = side.kernel.name();
  side.lines = suite::lines_of_kernel(side.kernel);
  return side;
}

void give_values(Side& side, const std::vector<std::string>& texts, Device device) {
  std::vector<std::string> own;
  for (const std::string& text : texts)
    if (has_parameter(side.kernel, parse_assignment(text, "NAME=VALUE").first)) own.push_back(text);
  KernelArguments read = read_arguments(own, side.kernel, {.device = device});
  side.values = std::move(read.values);
  side.own_launch = std::move(read.launch);
  if (!side.own_launch) return;
  side.launch.num_warps = side.own_launch->num_warps;
  side.launch.num_stages = side.own_launch->num_stages;
}

// Both sides see the same numbers: also those that `empty:` left, and random ones that one side has
// no parameter for.
void take_contents(const Side& side, const Side& other) {
  for (const NamedValue& value : side.values) {
    const NamedValue* known = other.find(value.name);
    if (value.tensor() != nullptr && known != nullptr && known->tensor() != nullptr)
      value.tensor()->copy_from(known->before);
  }
}

// As .npy can hold it.
Tensor storable(const Tensor& tensor) {
  const bool is_known = !is_floating(tensor.dtype()) || size_of(tensor.dtype()) > 2 ||
                        tensor.dtype() == DType::Float16;
  return is_known ? tensor : tensor.to(DType::Float32);
}

// Otherwise the evaluation of a grid as text would be timed.
void set_grid(Side& side, const std::string& text) {
  side.launch.grid =
      once_per_config(grid_for(text, side.kernel, {side.values, side.own_launch}));
}

suite::Prepared prepared_from(const Side& side) {
  const auto arguments = std::make_shared<const LaunchArguments>(side.values);
  return {.run = [side, arguments] { side.kernel.launch(side.launch, arguments->get()); },
          .launches = {[side, arguments] {
            return launch_facts(side.kernel, side.launch, arguments->get());
          }}};
}

// Of sums in another order, relative to the largest value.
double tolerance_of_pair(DType dtype) {
  if (!is_floating(dtype)) return 0;
  if (dtype == DType::Float64) return 1e-10;
  if (dtype == DType::Float32) return 1e-4;
  if (dtype == DType::Float16) return 4e-3;
  return dtype == DType::BFloat16 ? 3e-2 : 0.25;
}

struct Compared {
  std::string name;
  Tensor got, wanted;
};

struct Difference {
  double error = 0;
  double tolerance = 0;
  double allowed = 0;  // of an element
  std::string problem;
};

Difference difference(const Tensor& wanted, const Tensor& got, const std::string& name) {
  const auto values = [](const Tensor& tensor) {
    return tensor.to(Device::cpu()).to(DType::Float64).contiguous().to_vector<double>();
  };
  const std::vector<double> a = values(wanted), b = values(got);
  double largest = 0, most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]))
      return {0, 0, 0, fmt::format("cannot be checked: '{}' of the reference is not finite", name)};
    largest = std::max(largest, std::abs(a[i]));
    const double off = std::abs(a[i] - b[i]);
    most = std::isnan(off) ? INFINITY : std::max(most, off);
  }
  const double tolerance = tolerance_of_pair(got.dtype());
  return {
      largest > 0 ? most / largest : most, tolerance, tolerance * (largest > 0 ? largest : 1), {}};
}

}  // namespace

struct BenchPair::State {
  Device device;
  std::optional<Side> reference;
  std::string function;  // in Python, instead of a reference
  Side kernel;

  void check_names(const std::vector<std::string>& texts) const {
    for (const std::string& text : texts) {
      const std::string name = parse_assignment(text, "NAME=VALUE").first;
      if (has_parameter(kernel.kernel, name)) continue;
      if (!reference)
        static_cast<void>(parameter_named(kernel.name, kernel.kernel.state()->parameters,
                                          name.substr(0, name.find('.'))));
      else if (!has_parameter(reference->kernel, name))
        throw ArgumentError(fmt::format("neither '{}' nor '{}' has a parameter '{}'", kernel.name,
                                        reference->name, name));
    }
  }

  void check_tensors() const {
    const bool has_tensor = std::any_of(kernel.values.begin(), kernel.values.end(),
                                        [](const auto& value) { return value.tensor(); });
    if (!has_tensor && !reference)
      throw ArgumentError(fmt::format(
          "'{}' is given no tensor; write its arguments as NAME=randn:f32[1024]", kernel.name));
  }

  void check_shares() const {
    const bool shares = std::any_of(
        kernel.values.begin(), kernel.values.end(),
        [&](const auto& value) { return value.tensor() && reference->find(value.name); });
    if (!shares)
      throw ArgumentError(fmt::format(
          "'{}' and '{}' share no tensor that could be compared; give one as NAME=randn:f32[1024] "
          "under a name that both have",
          kernel.name, reference->name));
  }

  suite::Record record_for(const Side& side) const {
    suite::Record record;
    const Tensor* largest = nullptr;
    for (const NamedValue& value : kernel.values) {
      const Tensor* tensor = value.tensor();
      if (!tensor) continue;
      record.bytes += static_cast<double>(tensor->nbytes());
      if (!largest || tensor->nbytes() > largest->nbytes()) largest = tensor;
    }
    record.op = kernel.name;
    record.way = side.name;
    record.device = device.name();
    record.dtype = name_of(largest->dtype());
    record.shape = largest->shape();
    record.bytes_moved = record.bytes;
    record.kernels = 1;
    record.lines = side.lines;
    return record;
  }

  // Every tensor that both have is compared; the worst counts.
  void judge(suite::Record& record) const {
    std::vector<Compared> all;
    for (const NamedValue& value : kernel.values) {
      const NamedValue* wanted = reference->find(value.name);
      if (value.tensor() && wanted && wanted->tensor())
        all.push_back({value.name, *value.tensor(), *wanted->tensor()});
    }
    judge(record, all);
  }

  static void judge(suite::Record& record, const std::vector<Compared>& all) {
    record.error = 0.0;
    for (const auto& [name, got, wanted] : all) {
      const Difference d = difference(wanted, got, name);
      if (!d.problem.empty()) {
        record.status = suite::Status::Failed;
        record.reason = d.problem;
        return;
      }
      record.error = std::max(*record.error, d.error);
      record.tolerance = std::max(record.tolerance, d.tolerance);
      if (d.error <= d.tolerance) continue;
      record.status = suite::Status::Wrong;
      record.reason = fmt::format(
          "'{}' is off by {:.1e} of the reference's largest value, {:.1e} is allowed; {}", name,
          d.error, d.tolerance, difference_text(find_differences_beyond(got, wanted, d.allowed)));
    }
  }

  // The tensors that the kernel has written, or those that it has not, in the order of parameters.
  std::vector<const NamedValue*> tensors(bool written) const {
    std::vector<const NamedValue*> found;
    for (const std::string& name : kernel.kernel.parameters()) {
      const NamedValue* value = kernel.find(name);
      if (value == nullptr || value->tensor() == nullptr) continue;
      const Tensor now = value->tensor()->to(Device::cpu()).contiguous();
      const bool is_same = std::memcmp(now.data(), value->before.data(), now.nbytes()) == 0;
      if (is_same != written) found.push_back(value);
    }
    return found;
  }

  // The function gets what the kernel has read but not written; what it returns stands for what the
  // kernel has written. A kernel that works in place is given what was there before.
  suite::Contender torch_contender(suite::Rivals& rivals, suite::Record& judged) const {
    const auto folder = std::make_shared<TemporaryFolder>();
    suite::Rivals::Function call{function, {}, {}};
    const std::vector<const NamedValue*> outputs = tensors(true);
    std::vector<const NamedValue*> inputs = tensors(false);
    if (inputs.empty()) inputs = outputs;
    for (const NamedValue* input : inputs) {
      const std::string path = folder->path() + "/" + input->name + ".npy";
      save_npy(path, storable(input->before));
      call.inputs.emplace_back(path, name_of(input->before.dtype()));
    }
    for (const NamedValue* output : outputs)
      call.outputs.push_back(folder->path() + "/" + output->name + "_expected.npy");
    suite::Record record = record_for(kernel);
    record.way = function;
    record.lines = record.kernels = 0;
    record.bytes_moved = 0;
    record.note = "reference";
    suite::Contender contender = rivals.contender(call, record);
    if (!contender.measure) return contender;
    compare_with_files(call, outputs, judged);
    // A process that is started again reads the files again.
    contender.measure = [folder, measure = contender.measure](double seconds) {
      return measure(seconds);
    };
    return contender;
  }

  static void compare_with_files(const suite::Rivals::Function& call,
                                 const std::vector<const NamedValue*>& outputs,
                                 suite::Record& judged) {
    std::vector<Compared> all;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& got = *outputs[i]->tensor();
      const Tensor wanted = load_npy(call.outputs[i], Device::cpu()).contiguous();
      if (wanted.numel() != got.numel()) {
        judged.status = suite::Status::Failed;
        judged.reason =
            fmt::format("cannot be checked: '{}' is {}, and the reference returns {}",
                        outputs[i]->name, tensor_type_text(got), tensor_type_text(wanted));
        return;
      }
      all.push_back({outputs[i]->name, got, wanted.view(got.shape())});
    }
    judge(judged, all);
  }

  suite::Contender contender_of(const Side& side, const suite::RunOptions& options) const {
    suite::Contender contender{record_for(side), {}};
    const suite::Prepared prepared = prepared_from(side);
    try {
      prepared.run();
      device.synchronize();
    } catch (const Error& error) {
      contender.record.status = suite::Status::Failed;
      contender.record.reason =
          std::string(error.what()).substr(0, std::string(error.what()).find('\n'));
      return contender;
    }
    const BenchOptions bench{.warmups = options.warmups,
                             .trials = options.trials,
                             .clock = options.clock,
                             .device = device};
    contender.measure = [=](double seconds) {
      return suite::take_turn(prepared, bench, seconds, options.is_interrupted);
    };
    contender.look = suite::look_at(prepared, device, options);
    return contender;
  }
};

std::string torch_reference(const BenchVerbOptions& options) {
  constexpr std::string_view mark = "torch:";
  return options.reference.starts_with(mark) ? options.reference.substr(mark.size())
                                             : std::string();
}

BenchPair::BenchPair(const BenchVerbOptions& options, const std::vector<std::string>& given,
                     Device device)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.device = device;
  s.kernel = load_side(options.operation);
  std::vector<std::string> parameters = s.kernel.kernel.parameters();
  s.function = torch_reference(options);
  if (!options.reference.empty() && s.function.empty()) {
    s.reference = load_side(options.reference);
    if (s.kernel.name == s.reference->name) s.reference->name += " (reference)";
    for (const std::string& name : s.reference->kernel.parameters()) parameters.push_back(name);
  }
  const std::vector<std::string> texts = with_sizes(given, parameters);
  s.check_names(texts);
  give_values(s.kernel, texts, device);
  s.check_tensors();
  set_grid(s.kernel, options.grid);
  if (!s.reference) return;
  give_values(*s.reference, texts, device);
  take_contents(*s.reference, s.kernel);
  s.check_shares();
  set_grid(*s.reference, options.grid);
}

BenchPair::~BenchPair() = default;

bool BenchPair::run(const suite::RunOptions& options, const suite::Ceilings& ceilings,
                    suite::Rivals* rivals, std::vector<suite::Record>& records) {
  State& s = *state_;
  std::vector<suite::Contender> contenders;
  if (s.reference) contenders.push_back(s.contender_of(*s.reference, options));
  if (s.reference) contenders[0].record.note = "reference";
  contenders.push_back(s.contender_of(s.kernel, options));
  const bool both_ran = s.reference && contenders[0].measure && contenders[1].measure;
  if (both_ran) s.judge(contenders[1].record);
  if (!s.function.empty() && contenders[0].measure)
    contenders.push_back(s.torch_contender(*rivals, contenders[0].record));
  const bool is_complete =
      suite::hold_contest(contenders, {.rounds = options.trials ? 1 : 3,
                                       .seconds = options.seconds,
                                       .is_interrupted = options.is_interrupted,
                                       .show = options.show});
  for (suite::Contender& contender : contenders) {
    suite::fill_rate(contender.record, ceilings, false);
    suite::add_evidence(contender);
    records.push_back(std::move(contender.record));
  }
  return is_complete;
}

}  // namespace tilewright::cli
