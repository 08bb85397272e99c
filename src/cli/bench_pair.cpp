// SPDX-License-Identifier: Apache-2.0
// cli/bench_pair.cpp — a kernel, and a reference with tensors of its own and the same contents;
// what differs afterwards is the error.
#include "cli/bench_pair.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/nearest.h"
#include "cli/bench_side.h"
#include "cli/differences.h"
#include "cli/kernel_arguments.h"
#include "cli/kernel_path.h"
#include "cli/symbolic_sizes.h"
#include "compiler/triton/triton_state.h"
#include "runtime/cpu/temporary_folder.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

// As .npy can hold it.
Tensor storable(const Tensor& tensor) {
  const bool is_known = !is_floating(tensor.dtype()) || size_of(tensor.dtype()) > 2 ||
                        tensor.dtype() == DType::Float16;
  return is_known ? tensor : tensor.to(DType::Float32);
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
  std::optional<BenchSide> reference;
  std::string function;  // in Python, instead of a reference
  BenchSide kernel;

  void check_names(const std::vector<std::string>& texts) const {
    for (const std::string& text : texts) {
      const std::string name = parse_assignment(text, "NAME=VALUE").first;
      if (kernel.has_parameter(name)) continue;
      if (!reference && (kernel.cuda || kernel.is_numba()))
        throw ArgumentError(fmt::format("'{}' has no parameter '{}'{}", kernel.name, name,
                                        suggest_names(name, kernel.parameters)));
      if (!reference)
        static_cast<void>(parameter_named(kernel.name, kernel.kernel.state()->parameters,
                                          name.substr(0, name.find('.'))));
      else if (!reference->has_parameter(name))
        throw ArgumentError(fmt::format("neither '{}' nor '{}' has a parameter '{}'", kernel.name,
                                        reference->name, name));
    }
  }

  void check_tensors() const {
    const bool has_tensor = std::any_of(kernel.values.begin(), kernel.values.end(),
                                        [](const auto& value) { return value.tensor(); });
    if (has_tensor) return;
    if (reference) throw nothing_shared();
    throw ArgumentError(fmt::format(
        "'{}' is given no tensor; write its arguments as NAME=randn:f32[1024]", kernel.name));
  }

  void check_shares() const {
    const bool shares = std::any_of(
        kernel.values.begin(), kernel.values.end(),
        [&](const auto& value) { return value.tensor() && reference->find(value.name); });
    if (!shares) throw nothing_shared();
  }

  ArgumentError nothing_shared() const {
    return ArgumentError(fmt::format(
        "'{}' and '{}' share no tensor that could be compared; give one as NAME=randn:f32[1024] "
        "under a name that both have",
        kernel.name, reference->name));
  }

  suite::Record record_for(const BenchSide& side) const {
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

  static bool returns(const BenchSide& side) {
    return side.cuda && !side.cuda->is_kernel() &&
           !std::holds_alternative<std::monostate>(*side.result);
  }

  // What a host function has allocated and returned is written as well.
  static void add_results(suite::Record& record, const BenchSide& side) {
    if (!returns(side)) return;
    for (const Tensor& made : outputs_of(side)) {
      if (!made.is_defined()) continue;
      const bool is_argument =
          std::any_of(side.values.begin(), side.values.end(), [&](const NamedValue& value) {
            return value.tensor() && value.tensor()->buffer().data() == made.buffer().data();
          });
      if (!is_argument) record.bytes += static_cast<double>(made.nbytes());
    }
    record.bytes_moved = record.bytes;
  }

  // What a side made: what its host function returned, else the tensors that it changed.
  static std::vector<Tensor> outputs_of(const BenchSide& side) {
    if (const auto* tensor = std::get_if<Tensor>(side.result.get())) return {*tensor};
    if (const auto* list = std::get_if<std::vector<Tensor>>(side.result.get())) return *list;
    std::vector<Tensor> changed;
    for (const NamedValue& value : side.values)
      if (value.tensor() && !is_unchanged(value)) changed.push_back(*value.tensor());
    return changed;
  }

  static bool is_unchanged(const NamedValue& value) {
    const Tensor now = value.tensor()->to(Device::cpu()).contiguous();
    const Tensor before = value.before.contiguous();
    return std::memcmp(now.data(), before.data(), now.nbytes()) == 0;
  }

  static bool fits(const std::vector<Tensor>& wanted, const std::vector<Tensor>& got) {
    if (wanted.size() != got.size() || got.empty()) return false;
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!got[i].is_defined() || !wanted[i].is_defined() || got[i].numel() != wanted[i].numel())
        return false;
    return true;
  }

  void cannot_check(suite::Record& record, std::size_t wanted, std::size_t got) const {
    record.status = suite::Status::Failed;
    record.reason =
        fmt::format("cannot be checked: {} gives {} tensors and {} gives {}, or their sizes differ",
                    reference->name, wanted, kernel.name, got);
  }

  // Every tensor that both have is compared; the worst counts. Host functions have their results,
  // which no name of the other side stands for.
  void judge(suite::Record& record) const {
    std::vector<Compared> all;
    if (returns(kernel) || returns(*reference)) {
      const std::vector<Tensor> wanted = outputs_of(*reference), got = outputs_of(kernel);
      if (!fits(wanted, got)) return cannot_check(record, wanted.size(), got.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        all.push_back(
            {fmt::format("result {}", i), got[i], wanted[i].contiguous().view(got[i].shape())});
      return judge(record, all);
    }
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
    for (const std::string& name : kernel.parameters) {
      const NamedValue* value = kernel.find(name);
      if (value == nullptr || value->tensor() == nullptr) continue;
      if (is_unchanged(*value) != written) found.push_back(value);
    }
    return found;
  }

  // What a function of PyTorch is compared with; `wanted` comes later.
  std::vector<Compared> torch_outputs() const {
    std::vector<Compared> outputs;
    if (returns(kernel)) {
      for (const Tensor& tensor : outputs_of(kernel))
        if (tensor.is_defined())
          outputs.push_back({fmt::format("result {}", outputs.size()), tensor, {}});
      return outputs;
    }
    for (const NamedValue* value : tensors(true))
      outputs.push_back({value->name, *value->tensor(), {}});
    return outputs;
  }

  // The function gets what the kernel has read but not written; what it returns stands for what the
  // kernel has written. A kernel that works in place is given what was there before.
  suite::Contender torch_contender(suite::Rivals& rivals, suite::Record& judged) const {
    const auto folder = std::make_shared<TemporaryFolder>();
    suite::Rivals::Function call{function, {}, {}};
    const std::vector<Compared> outputs = torch_outputs();
    std::vector<const NamedValue*> inputs = tensors(false);
    if (inputs.empty()) inputs = tensors(true);
    for (const NamedValue* input : inputs) {
      const std::string path = folder->path() + "/" + input->name + ".npy";
      save_npy(path, storable(input->before));
      call.inputs.emplace_back(path, name_of(input->before.dtype()));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      call.outputs.push_back(fmt::format("{}/expected_{}.npy", folder->path(), i));
    suite::Record record = record_for(kernel);
    record.way = function;
    record.lines = record.kernels = 0;
    record.bytes_moved = 0;
    record.note = "reference";
    suite::Contender contender = rivals.contender(call, record);
    if (!contender.measure) {
      contender.record.note.clear();  // the reason says everything
      return contender;
    }
    compare_with_files(call, outputs, judged);
    // A process that is started again reads the files again.
    contender.measure = [folder, measure = contender.measure](double seconds) {
      return measure(seconds);
    };
    return contender;
  }

  static void compare_with_files(const suite::Rivals::Function& call, std::vector<Compared> outputs,
                                 suite::Record& judged) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& got = outputs[i].got;
      const Tensor wanted = load_npy(call.outputs[i], Device::cpu()).contiguous();
      if (wanted.numel() != got.numel()) {
        judged.status = suite::Status::Failed;
        judged.reason =
            fmt::format("cannot be checked: '{}' is {}, and the reference returns {}",
                        outputs[i].name, tensor_type_text(got), tensor_type_text(wanted));
        return;
      }
      outputs[i].wanted = wanted.view(got.shape());
    }
    judge(judged, outputs);
  }

  suite::Contender contender_of(const BenchSide& side, const suite::RunOptions& options) const {
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
    add_results(contender.record, side);
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
  s.kernel = load_side(options.operation, device);
  std::vector<std::string> parameters = s.kernel.parameters;
  s.function = torch_reference(options);
  if (!options.reference.empty() && s.function.empty()) {
    s.reference = load_side(options.reference, device);
    if (s.kernel.name == s.reference->name) s.reference->name += " (reference)";
    for (const std::string& name : s.reference->parameters) parameters.push_back(name);
  }
  const std::vector<std::string> texts = with_sizes(given, parameters);
  s.check_names(texts);
  give_values(s.kernel, options, texts, given, device);
  s.check_tensors();
  set_grid(s.kernel, options, given);
  if (!s.reference) return;
  give_values(*s.reference, options, texts, given, device);
  take_contents(*s.reference, s.kernel);
  s.check_shares();
  set_grid(*s.reference, options, given);
}

BenchPair::~BenchPair() = default;

bool BenchPair::run(const suite::RunOptions& options, const suite::Ceilings& ceilings,
                    suite::Rivals* rivals, std::vector<suite::Record>& records) {
  State& s = *state_;
  std::vector<suite::Contender> contenders;
  if (s.reference) {
    contenders.push_back(s.contender_of(*s.reference, options));
    std::string& note = contenders[0].record.note;
    note = note.empty() ? "reference" : "reference, " + note;
  }
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
    suite::note_cache(contender.record, s.device);
    suite::add_evidence(contender);
    records.push_back(std::move(contender.record));
  }
  return is_complete;
}

}  // namespace tilewright::cli
