// SPDX-License-Identifier: Apache-2.0
// cli/bench_pair.cpp — both kernels get tensors of their own with the same contents; what differs
// afterwards is the error.
#include "cli/bench_pair.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "bench/suite/user_kernel.h"
#include "cli/cuda_call.h"
#include "cli/kernel_arguments.h"
#include "cli/kernel_path.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

struct Side {
  std::string name;
  std::vector<std::string> parameters;
  TritonKernel kernel;
  std::shared_ptr<CudaCall> cuda;                                     // instead, of a .cu file
  std::shared_ptr<HostValue> result = std::make_shared<HostValue>();  // of a host function
  std::vector<NamedValue> values;
  TritonLaunch launch;
  int lines = 0;

  const NamedValue* find(const std::string& name_of_value) const {
    for (const NamedValue& value : values)
      if (value.name == name_of_value) return &value;
    return nullptr;
  }
};

// Of "ptrs.0" the parameter is "ptrs".
bool has_parameter(const Side& side, const std::string& name) {
  const std::vector<std::string>& names = side.parameters;
  return std::find(names.begin(), names.end(), name.substr(0, name.find('.'))) != names.end();
}

Side load_side(const std::string& path, Device device) {
  Side side;
  if (is_cuda_path(path)) {
    const CudaFile file = read_cuda_file(path);
    side.cuda = std::make_shared<CudaCall>(file, device);
    side.name = side.cuda->name();
    side.parameters = side.cuda->parameters();
    side.lines = suite::lines_of_code(file.source.text);
    return side;
  }
  side.kernel = load_kernel(path);
  side.name = side.kernel.name();
  side.parameters = side.kernel.parameters();
  side.lines = suite::lines_of_kernel(side.kernel);
  return side;
}

std::vector<NamedValue> read_side_value(const Side& side, const std::string& text, Device device) {
  const std::uint64_t seed = side.values.size();
  if (!side.cuda) return read_values({text}, side.kernel, device, seed);
  return values_for({text}, side.name, side.parameters, {.device = device, .seed = seed});
}

// The other side's values where it has them, so that both see the same numbers.
void give_values(Side& side, const Side* other, const std::vector<std::string>& texts,
                 Device device) {
  for (const std::string& text : texts) {
    const std::string name = parse_assignment(text, "NAME=VALUE").first;
    if (!has_parameter(side, name)) continue;
    const NamedValue* known = other ? other->find(name) : nullptr;
    if (!known) {
      for (NamedValue& value : read_side_value(side, text, device))
        side.values.push_back(std::move(value));
    } else if (known->tensor()) {
      side.values.push_back({name, known->before.to(device).clone(), known->before});
    } else {
      side.values.push_back(*known);
    }
  }
}

// Whole numbers among all arguments: the grid of a CUDA kernel may name one that only the other
// side takes.
std::map<std::string, std::int64_t> whole_numbers(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> numbers;
  for (const std::string& text : texts) {
    const auto [name, value] = parse_assignment(text, "NAME=VALUE");
    std::int64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [last, error] = std::from_chars(value.data(), end, number);
    if (error == std::errc() && last == end) numbers[name] = number;
  }
  return numbers;
}

// A grid as text is evaluated once; in the loop it would be timed.
void fix_grid(Side& side, const BenchVerbOptions& options) {
  const std::string& text = options.grid;
  if (side.cuda) {
    const bool is_kernel = side.cuda->is_kernel();
    return side.cuda->bind(side.values, {.grid = is_kernel ? text : "",
                                         .block = is_kernel ? options.block : "",
                                         .numbers = whole_numbers(options.arguments)});
  }
  const Grid grid = grid_for(text, side.kernel, side.values);
  auto sizes = std::make_shared<std::optional<Dim3>>();
  side.launch.grid = Grid([grid, sizes](const Meta& meta) {
    if (!*sizes) *sizes = grid.sizes(meta);
    return **sizes;
  });
}

suite::Prepared prepared_cuda(const Side& side) {
  suite::Prepared prepared{.run = [side] { *side.result = side.cuda->run(); }};
  if (side.cuda->device().is_cpu()) prepared.note = "emulated";
  if (side.cuda->is_kernel())
    prepared.launches = {[cuda = side.cuda] {
      return launch_facts(cuda->options(), cuda->kernel(), cuda->config());
    }};
  return prepared;
}

suite::Prepared prepared_from(const Side& side) {
  if (side.cuda) return prepared_cuda(side);
  const auto arguments = std::make_shared<const LaunchArguments>(side.values);
  return {.run = [side, arguments] { side.kernel.launch(side.launch, arguments->get()); },
          .launches = {[side, arguments] {
            return launch_facts(side.kernel, side.launch, arguments->get());
          }}};
}

// Of sums in another order, relative to the largest value.
double tolerance_of(DType dtype) {
  if (!is_floating(dtype)) return 0;
  if (dtype == DType::Float64) return 1e-10;
  if (dtype == DType::Float32) return 1e-4;
  if (dtype == DType::Float16) return 4e-3;
  return dtype == DType::BFloat16 ? 3e-2 : 0.25;
}

struct Difference {
  double error = 0;
  double tolerance = 0;
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
      return {0, 0, fmt::format("cannot be checked: '{}' of the reference is not finite", name)};
    largest = std::max(largest, std::abs(a[i]));
    const double off = std::abs(a[i] - b[i]);
    most = std::isnan(off) ? INFINITY : std::max(most, off);
  }
  return {largest > 0 ? most / largest : most, tolerance_of(wanted.dtype()), {}};
}

}  // namespace

struct BenchPair::State {
  Device device;
  Side reference, kernel;

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

  // What a side made: what its host function returned, else the tensors that it changed.
  static std::vector<Tensor> outputs_of(const Side& side) {
    if (const auto* tensor = std::get_if<Tensor>(side.result.get())) return {*tensor};
    if (const auto* list = std::get_if<std::vector<Tensor>>(side.result.get())) return *list;
    std::vector<Tensor> changed;
    for (const NamedValue& value : side.values)
      if (value.tensor() && !bytes_equal(value.before, value.tensor()->to(Device::cpu())))
        changed.push_back(*value.tensor());
    return changed;
  }

  static bool bytes_equal(const Tensor& a, const Tensor& b) {
    const Tensor x = a.contiguous(), y = b.contiguous();
    return std::memcmp(x.data(), y.data(), x.nbytes()) == 0;
  }

  // Host functions have their results, which no name of the other side stands for.
  void judge_results(suite::Record& record) const {
    const std::vector<Tensor> wanted = outputs_of(reference), got = outputs_of(kernel);
    bool fits = wanted.size() == got.size() && !got.empty();
    for (std::size_t i = 0; fits && i < got.size(); ++i)
      fits = got[i].is_defined() && wanted[i].is_defined() && got[i].numel() == wanted[i].numel();
    if (!fits) {
      record.status = suite::Status::Failed;
      record.reason = fmt::format(
          "cannot be checked: {} gives {} tensors and {} gives {}, or their sizes differ",
          reference.name, wanted.size(), kernel.name, got.size());
      return;
    }
    for (std::size_t i = 0; i < got.size(); ++i)
      judge_tensor(wanted[i], got[i], fmt::format("result {}", i), record);
  }

  // Every tensor that both have is compared; the worst counts.
  void judge(suite::Record& record) const {
    record.error = 0.0;
    const auto returns = [](const Side& side) {
      return side.cuda && !side.cuda->is_kernel() &&
             !std::holds_alternative<std::monostate>(*side.result);
    };
    if (returns(kernel) || returns(reference)) return judge_results(record);
    for (const NamedValue& value : kernel.values) {
      const NamedValue* wanted = reference.find(value.name);
      if (!value.tensor() || !wanted || !wanted->tensor()) continue;
      judge_tensor(*wanted->tensor(), *value.tensor(), value.name, record);
    }
  }

  static void judge_tensor(const Tensor& wanted, const Tensor& got, const std::string& name,
                           suite::Record& record) {
    const Difference d = difference(wanted, got, name);
    if (!d.problem.empty()) {
      record.status = suite::Status::Failed;
      record.reason = d.problem;
      return;
    }
    record.error = std::max(*record.error, d.error);
    record.tolerance = std::max(record.tolerance, d.tolerance);
    if (d.error <= d.tolerance || record.status == suite::Status::Failed) return;
    record.status = suite::Status::Wrong;
    record.reason = fmt::format(
        "'{}' is off by {:.1e} of the reference's largest value, {:.1e} "
        "is allowed",
        name, d.error, d.tolerance);
  }

  suite::Contender contender_of(const Side& side, const suite::RunOptions& options) const {
    suite::Contender contender{record_for(side), {}};
    const suite::Prepared prepared = prepared_from(side);
    contender.record.note = prepared.note;
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

BenchPair::BenchPair(const BenchVerbOptions& options, Device device)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.device = device;
  s.kernel = load_side(options.operation, device);
  s.reference = load_side(options.reference, device);
  if (s.kernel.name == s.reference.name) s.reference.name += " (reference)";
  for (const std::string& text : options.arguments) {
    const std::string name = parse_assignment(text, "NAME=VALUE").first;
    if (!has_parameter(s.kernel, name) && !has_parameter(s.reference, name))
      throw ArgumentError(fmt::format("neither '{}' nor '{}' has a parameter '{}'", s.kernel.name,
                                      s.reference.name, name));
  }
  give_values(s.kernel, nullptr, options.arguments, device);
  give_values(s.reference, &s.kernel, options.arguments, device);
  const bool shares =
      std::any_of(s.kernel.values.begin(), s.kernel.values.end(),
                  [&](const auto& v) { return v.tensor() && s.reference.find(v.name); });
  if (!shares)
    throw ArgumentError(fmt::format(
        "'{}' and '{}' share no tensor that could be compared; give one as NAME=randn:f32[1024] "
        "under a name that both have",
        s.kernel.name, s.reference.name));
  fix_grid(s.kernel, options);
  fix_grid(s.reference, options);
}

BenchPair::~BenchPair() = default;

bool BenchPair::run(const suite::RunOptions& options, const suite::Ceilings& ceilings,
                    std::vector<suite::Record>& records) {
  State& s = *state_;
  std::vector<suite::Contender> contenders = {s.contender_of(s.reference, options),
                                              s.contender_of(s.kernel, options)};
  std::string& note = contenders[0].record.note;
  note = note.empty() ? "reference" : "reference, " + note;
  const bool both_ran = contenders[0].measure && contenders[1].measure;
  if (both_ran) s.judge(contenders[1].record);
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
