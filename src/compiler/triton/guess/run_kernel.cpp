// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/run_kernel.cpp — guesses become a launch; the interpreter is the judge.
#include "compiler/triton/guess/run_kernel.h"
#include "compiler/pack_blocks.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/log.h"
#include "codegen/cuda/emit.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/guess/agreement.h"
#include "compiler/triton/guess/inputs.h"
#include "compiler/triton/guess/keep_launch.h"
#include "compiler/triton/guess/try_kernel.h"
#include "compiler/triton/value_text.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/order.h"
#include "runtime/cpu/launch_memory.h"
#include "tilewright/module.h"

namespace tilewright {
namespace {

using triton::ParameterType;

// A lowered kernel and the values of its arguments, in its order.
struct Launch {
  TileKernel tiles;
  KernelOptions options;
  TritonSignature types;
  std::vector<GeneratedValue> values;
  Dim3 grid;
  std::string signature;
  std::string arguments;  // as text, without the grid

  std::string text() const {
    return fmt::format("grid={},{},{}{}", grid.x, grid.y, grid.z, arguments);
  }
};

// As a launch would: 1 is a constant, multiples of 16 are known as such.
TritonSignature specialized(TritonSignature signature,
                            const std::map<std::string, std::int64_t>& integers) {
  for (const auto& [name, value] : integers) {
    const auto found = signature.find(name);
    if (found == signature.end()) continue;  // a part of a descriptor
    ParameterType& type = found->second;
    if (type.kind == ParameterType::Kind::Constant || value == 1)
      type = constant_parameter(triton::Value::integer(value));
    else if (value % 16 == 0) type.divisible = 16;
  }
  return signature;
}

std::int64_t largest_dimension(const ir::Kernel& kernel) {
  std::int64_t largest = 1;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (const ir::Value value : op.results)
      for (int d = 0; d < kernel.type(value).rank; ++d)
        largest = std::max<std::int64_t>(largest, kernel.type(value).size(d));
  });
  return largest;
}

// Two programs along every axis that the kernel asks for; fewer where those write to the same
// places with the guessed strides, in the end one.
std::vector<Dim3> grids_for(const ir::Kernel& kernel) {
  bool is_used[3] = {};
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == ir::OpKind::ProgramId) is_used[op.integer("axis")] = true;
  });
  const Dim3 all{is_used[0] ? 2 : 1, is_used[1] ? 2 : 1, is_used[2] ? 2 : 1};
  std::vector<Dim3> grids = {all};
  if (is_used[0] && (is_used[1] || is_used[2])) grids.push_back({2, 1, 1});
  if (is_used[0] || is_used[1] || is_used[2]) grids.push_back({1, 1, 1});
  return grids;
}

class Trial {
 public:
  Trial(python::ModuleLoader& loader, Guesser& guesser, const python::DecoratedFunction& function,
        const RunDevice& device)
      : loader_(loader),
        function_(function),
        device_(device),
        uses_(guesser.uses(function)),
        evaluator_(loader, {.facts = facts_of(device.target())}),
        parameters_(read_parameters(loader, evaluator_, function)) {}

  // Throws what the front end says of the guess.
  Launch lower(const Guess& guess, const InputSizes& sizes) {
    const auto integers = generate_integers(parameters_, guess.signature, sizes);
    const TritonSignature signature = specialized(guess.signature, integers);
    Launch launch;
    launch.options = {.num_warps = guess.num_warps, .num_stages = guess.num_stages};
    launch.tiles = lower_to_tiles(loader_, function_, signature, device_.target(), launch.options);
    launch.signature = signature_text(parameters_, signature);
    std::uint64_t seed = 0;
    for (std::size_t i = 0; i < launch.tiles.lowered.argument_names.size(); ++i)
      launch.values.push_back(value_of(launch, i, integers, sizes, seed++));
    launch.arguments = arguments_text(launch, signature);
    launch.types = signature;
    return launch;
  }

  std::vector<Tensor> interpret(const Launch& launch, ir::InterpretOptions options) const {
    const ir::Kernel& kernel = launch.tiles.lowered.kernel;
    std::vector<Tensor> tensors = fresh(launch);
    std::vector<ir::InterpretBuffer> buffers;
    std::vector<ir::InterpretArgument> arguments;
    std::size_t next = 0;
    for (std::size_t i = 0; i < launch.values.size(); ++i) {
      if (const auto* integer = std::get_if<std::int64_t>(&launch.values[i])) {
        arguments.emplace_back(*integer);
      } else if (const auto* number = std::get_if<double>(&launch.values[i])) {
        arguments.emplace_back(*number);
      } else {
        const Tensor& tensor = tensors[next++];
        arguments.emplace_back(
            ir::InterpretPointer{.buffer = static_cast<int>(buffers.size()), .byte_offset = 0});
        buffers.push_back(
            {.name = kernel.name_of(kernel.arguments[i].value),
             .data = const_cast<void*>(tensor.data()),
             .bytes = static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype())});
      }
    }
    const std::int64_t sizes[] = {launch.grid.x, launch.grid.y, launch.grid.z};
    std::copy(sizes, sizes + 3, options.grid);
    options.max_ops = 2'000'000;
    options.print = [](const std::string&) {};
    ir::interpret(kernel, buffers, arguments, options);
    return tensors;
  }

  Function load(const Launch& launch) const {
    KernelSource source = emit_source(loader_, launch.tiles, device_.target(), launch.options);
    if (device_.emulate != nullptr) source = emulate_source(source);
    source = packed_source(launch.tiles.lowered.kernel, std::move(source), device_.target());
    return Module::load(source, device_.device).function(source.kernels.front().name);
  }

  std::vector<Tensor> on_device(const Launch& launch, const Function& function) const {
    const Device device = device_.device;
    std::vector<Tensor> tensors = fresh(launch);
    for (Tensor& tensor : tensors) tensor = tensor.to(device);
    const ir::Kernel& kernel = launch.tiles.lowered.kernel;
    std::vector<Argument> arguments;
    std::size_t next = 0;
    for (std::size_t i = 0; i < launch.values.size(); ++i) {
      const DType type = kernel.type(kernel.arguments[i].value).dtype;
      if (const auto* integer = std::get_if<std::int64_t>(&launch.values[i]))
        arguments.push_back(scalar(type, static_cast<double>(*integer), *integer));
      else if (const auto* number = std::get_if<double>(&launch.values[i]))
        arguments.push_back(scalar(type, *number, 0));
      else arguments.emplace_back(tensors[next++]);
    }
    std::vector<TwMemory> memory;
    const std::vector<std::string> names = tensor_names(launch);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      memory.push_back(
          {.name = names[i].c_str(),
           .address = reinterpret_cast<std::uintptr_t>(tensors[i].data()),
           .bytes = static_cast<std::size_t>(tensors[i].numel()) * size_of(tensors[i].dtype())});
    const LaunchMemoryScope scope(device_.emulate != nullptr ? std::span<const TwMemory>(memory)
                                                             : std::span<const TwMemory>());
    function.launch({.grid = launch.grid}, arguments);
    device.synchronize();
    for (Tensor& tensor : tensors) tensor = tensor.to(Device::cpu());
    return tensors;
  }

  // Whether launches are written instead of being run on the device.
  bool keeps() const { return !device_.keep.empty(); }

  void keep(const Launch& launch, const std::vector<Tensor>& after) const {
    KeptLaunch kept{.file = function_.module->tree->source.file,
                    .kernel = function_.name,
                    .grid = launch.grid,
                    .num_warps = launch.options.num_warps,
                    .parameters = parameters_,
                    .signature = launch.types,
                    .arguments = launch.tiles.lowered.argument_names,
                    .values = launch.values,
                    .after = after,
                    .rounded = rounded(launch)};
    keep_launch(device_.keep, kept);
  }

  // What runs with roundings by chance leave. One that rounding leads out of bounds says nothing of
  // how far results may be off.
  std::vector<std::vector<Tensor>> rounded(const Launch& launch) const {
    constexpr std::uint64_t runs = 4;
    std::vector<std::vector<Tensor>> all;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
      try {
        all.push_back(interpret(launch, {.jitter = seed}));
      } catch (const UserError& error) {
        log_line("guess", fmt::format("with roundings by chance: {}", one_line(error)));
      }
    }
    return all;
  }

  // Copies of the tensors as they are before the launch.
  static std::vector<Tensor> fresh(const Launch& launch) {
    std::vector<Tensor> tensors;
    for (const GeneratedValue& value : launch.values)
      if (const auto* tensor = std::get_if<Tensor>(&value)) tensors.push_back(tensor->clone());
    return tensors;
  }

  std::vector<std::string> tensor_names(const Launch& launch) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < launch.values.size(); ++i)
      if (std::holds_alternative<Tensor>(launch.values[i]))
        names.push_back(launch.tiles.lowered.argument_names[i]);
    return names;
  }

 private:
  GeneratedValue value_of(const Launch& launch, std::size_t i,
                          const std::map<std::string, std::int64_t>& integers,
                          const InputSizes& sizes, std::uint64_t seed) const {
    const ir::Kernel& kernel = launch.tiles.lowered.kernel;
    const std::string& name = launch.tiles.lowered.argument_names[i];
    const ir::Type& type = kernel.type(kernel.arguments[i].value);
    if (type.is_pointer) return generate_tensor(name, type.dtype, use_of(name), sizes, seed);
    if (type.is_float()) return generate_float(name);
    const auto found = integers.find(name);
    return found == integers.end() ? std::int64_t{2} : found->second;
  }

  std::string arguments_text(const Launch& launch, const TritonSignature& signature) const {
    std::string text;
    for (std::size_t i = 0; i < launch.values.size(); ++i) {
      text += fmt::format(" {}=", launch.tiles.lowered.argument_names[i]);
      if (const auto* integer = std::get_if<std::int64_t>(&launch.values[i]))
        text += fmt::format("{}", *integer);
      else if (const auto* number = std::get_if<double>(&launch.values[i]))
        text += fmt::format("{}", *number);
      else text += tensor_type_text(std::get<Tensor>(launch.values[i]));
    }
    for (const auto& [name, type] : signature)
      if (type.kind == ParameterType::Kind::Constant)
        text += fmt::format(" {}={}", name, signature_item(type));
    return text;
  }

  ParameterUse use_of(const std::string& name) const {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i].name == name.substr(0, name.find('.'))) return uses_.parameters[i];
    return {};
  }

  static Argument scalar(DType type, double number, std::int64_t integer) {
    switch (type) {
      case DType::Float32:
        return static_cast<float>(number);
      case DType::Float64:
        return number;
      case DType::Int64:
        return integer;
      case DType::Bool:
        return integer != 0;
      default: {
        Argument argument(static_cast<std::int32_t>(integer));
        argument.dtype = type;
        return argument;
      }
    }
  }

  python::ModuleLoader& loader_;
  const python::DecoratedFunction& function_;
  RunDevice device_;
  const FunctionUse& uses_;
  python::Evaluator evaluator_;
  std::vector<TritonParameter> parameters_;
};

// Why the interpreter does not accept a launch.
struct Refusal {
  RunOutcome::Kind kind = RunOutcome::Kind::CannotRun;
  std::string reason;
};

constexpr std::string_view no_change = "no guess changes a tensor, so that nothing is compared";
constexpr std::string_view order_matters = "its result depends on the order in which programs run";

// Compares runs of one launch with what the interpreter leaves. Only where a few units in the last
// place do not suffice it finds out how far rounding alone goes.
class Judge {
 public:
  Judge(const Trial& trial, const Launch& launch, const std::vector<Tensor>& expected)
      : trial_(trial),
        launch_(launch),
        expected_(expected),
        names_(trial.tensor_names(launch)),
        before_(Trial::fresh(launch)) {}

  std::string difference_of(const std::vector<Tensor>& got) {
    const std::string problem = difference({names_, before_, expected_, got, rounded_});
    if (problem.empty() || !rounded_.empty()) return problem;
    rounded_ = trial_.rounded(launch_);
    return difference({names_, before_, expected_, got, rounded_});
  }

 private:
  const Trial& trial_;
  const Launch& launch_;
  const std::vector<Tensor>& expected_;
  const std::vector<std::string> names_;
  const std::vector<Tensor> before_;
  std::vector<std::vector<Tensor>> rounded_;
};

// What the launch leaves in memory; nothing when the interpreter does not accept it.
std::optional<std::vector<Tensor>> accepted(const Trial& trial, const Launch& launch,
                                            Refusal& refusal) {
  try {
    ir::OrderWatch order(launch.tiles.lowered.kernel);
    std::vector<Tensor> expected = trial.interpret(launch, {.order = &order});
    if (!order.finding().empty()) {
      refusal = {RunOutcome::Kind::OrderDependent, order.finding()};
      return std::nullopt;
    }
    const std::vector<Tensor> other = trial.interpret(launch, {.reversed = true});
    if (Judge(trial, launch, expected).difference_of(other).empty()) return expected;
    refusal = {RunOutcome::Kind::OrderDependent, std::string(order_matters)};
  } catch (const UserError& error) {
    refusal = {RunOutcome::Kind::CannotRun, one_line(error)};
  }
  return std::nullopt;
}

// A launch on the device beside what the interpreter leaves.
RunOutcome compare(Trial& trial, const Launch& launch, const std::vector<Tensor>& expected) {
  RunOutcome outcome{.kind = RunOutcome::Kind::DoesNotCompile,
                     .reason = "",
                     .signature = launch.signature,
                     .arguments = launch.text()};
  try {
    if (trial.keeps()) {
      trial.keep(launch, expected);
      outcome.kind = RunOutcome::Kind::Kept;
      return outcome;
    }
    const Function function = trial.load(launch);
    outcome.kind = RunOutcome::Kind::Fails;
    const std::vector<Tensor> got = trial.on_device(launch, function);
    outcome.reason = Judge(trial, launch, expected).difference_of(got);
    outcome.kind = outcome.reason.empty() ? RunOutcome::Kind::Agrees : RunOutcome::Kind::Disagrees;
  } catch (const std::exception& error) {
    outcome.reason = one_line(error);
  }
  return outcome;
}

// One guess at one size and grid: nothing when the interpreter does not accept it, or it changes no
// tensor.
std::optional<RunOutcome> run_once(Trial& trial, const Launch& launch, Refusal& refusal) {
  const std::optional<std::vector<Tensor>> expected = accepted(trial, launch, refusal);
  if (!expected) return std::nullopt;
  if (changes_memory(Trial::fresh(launch), *expected)) return compare(trial, launch, *expected);
  refusal = {RunOutcome::Kind::ChangesNothing, std::string(no_change)};
  return std::nullopt;
}

// Of a kernel for which nothing better was found: it must run to its end and change nothing there,
// either.
RunOutcome run_without_change(Trial& trial, const Launch& launch) {
  RunOutcome outcome = compare(trial, launch, Trial::fresh(launch));
  if (outcome.kind == RunOutcome::Kind::Agrees) {
    outcome.kind = RunOutcome::Kind::ChangesNothing;
    outcome.reason = no_change;
  }
  return outcome;
}

// Fewer programs go out of bounds seldom where more do: that is tried at the last size only. The
// refusal is that of the first grid.
std::optional<RunOutcome> run_grids(Trial& trial, Launch& launch, bool is_last_size,
                                    Refusal& refusal) {
  for (const Dim3& grid : grids_for(launch.tiles.lowered.kernel)) {
    launch.grid = grid;
    Refusal latest;
    if (auto done = run_once(trial, launch, latest)) return done;
    if (refusal.reason.empty()) refusal = latest;
    if (latest.kind != RunOutcome::Kind::OrderDependent && !is_last_size) break;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(RunOutcome::Kind kind) {
  switch (kind) {
    case RunOutcome::Kind::Agrees:
      return "agrees";
    case RunOutcome::Kind::Disagrees:
      return "disagrees";
    case RunOutcome::Kind::Kept:
      return "kept";
    case RunOutcome::Kind::Fails:
      return "fails on the device";
    case RunOutcome::Kind::OrderDependent:
      return "order-dependent input";
    case RunOutcome::Kind::ChangesNothing:
      return "changes nothing";
    case RunOutcome::Kind::CannotRun:
      return "cannot be run with generated inputs";
    case RunOutcome::Kind::DoesNotCompile:
      return "does not compile";
  }
  return "";
}

RunOutcome run_kernel(python::ModuleLoader& loader, Guesser& guesser,
                      const python::DecoratedFunction& function, const RunDevice& device) {
  RunOutcome outcome;
  try {
    Trial trial(loader, guesser, function, device);
    std::optional<Launch> without_change;
    int lowered = 0;
    for (const GuessChoices& choices : guess_choices()) {
      if (lowered == 3) break;  // the same reason each time
      const Guess guess = guesser.guess(function, choices, facts_of(device.target()));
      std::vector<InputSizes> sizes = {InputSizes{}};
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::optional<Launch> launch;
        try {
          launch = trial.lower(guess, sizes[i]);
        } catch (const std::exception& error) {
          if (outcome.reason.empty()) outcome.reason = one_line(error);
          break;
        }
        if (i == 0) {  // only now is it known how big the tiles are
          ++lowered;
          sizes = input_sizes(largest_dimension(launch->tiles.lowered.kernel));
          launch = trial.lower(guess, sizes[0]);
        }
        Refusal refusal;
        if (const auto done = run_grids(trial, *launch, i + 1 == sizes.size(), refusal))
          return *done;
        log_line("guess",
                 fmt::format("{} with {}: {}", function.name, choices.name, refusal.reason));
        if (refusal.kind == RunOutcome::Kind::ChangesNothing && !without_change)
          without_change = std::move(launch);
        else if (outcome.kind == RunOutcome::Kind::DoesNotCompile)
          outcome = {refusal.kind, refusal.reason, launch->signature, launch->text()};
      }
    }
    if (without_change) return run_without_change(trial, *without_change);
  } catch (const std::exception& error) {
    outcome.reason = one_line(error);
  }
  return outcome;
}

}  // namespace tilewright
