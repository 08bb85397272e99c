// SPDX-License-Identifier: Apache-2.0
// bench/suite/user_kernel.cpp — loads a user's kernel and launches it on a problem.
#include "bench/suite/user_kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/input_file.h"
#include "base/nearest.h"
#include "bench/suite/sizes.h"
#include "compiler/numba/numba_state.h"
#include "compiler/triton/grid_text.h"
#include "compiler/triton/guess/usage.h"
#include "compiler/triton/triton_state.h"
#include "tilewright/error.h"
#include "tilewright/load_inline.h"
#include "tilewright/numba.h"
#include "tilewright/triton.h"

namespace tilewright::suite {
namespace {

void check_argument_names(const UserKernel& kernel, const std::vector<Slot>& slots) {
  std::vector<std::string> names;
  for (const Slot& slot : slots) names.push_back(slot.name);
  for (const auto& [name, value] : kernel.arguments)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw ArgumentError(fmt::format("kernel '{}' has no parameter '{}'{}", kernel.kernel, name,
                                      suggest_names(name, names)));
}

// ---- Triton.

std::vector<Slot> slots_of(const TritonKernel& kernel) {
  TritonKernel::State& state = *kernel.state();
  UsageReader reader(state.loader);
  const FunctionUse& use = reader.read(*state.function.module, *state.function.function);
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < state.parameters.size(); ++i)
    slots.push_back(
        {state.parameters[i].name, use.parameters[i].is_pointer, state.parameters[i].is_constexpr});
  return slots;
}

bool has_configs(const TritonKernel& kernel) {
  using Kind = python::Decorator::Kind;
  const python::DecoratedFunction& function = kernel.state()->function;
  return function.find(Kind::Autotune) != nullptr || function.find(Kind::Heuristics) != nullptr;
}

TritonArgument argument_of(const Slot& slot, const Bound& bound) {
  if (const auto* tensor = std::get_if<Tensor>(&bound)) return constant(slot.name, *tensor);
  if (const auto* number = std::get_if<std::int64_t>(&bound)) return constant(slot.name, *number);
  if (const auto* number = std::get_if<double>(&bound)) return constant(slot.name, *number);
  return constant(slot.name, std::get<std::string>(bound));
}

// As the operation is usually split; a kernel of another kind says so by --grid.
std::string usual_grid(const Operation& operation, const std::vector<Slot>& slots) {
  const auto block = [&](std::string_view end) -> std::string {
    for (const Slot& slot : slots) {
      const std::string& name = slot.name;
      const bool is_block =
          name.find("BLOCK") != std::string::npos || name.find("block") != std::string::npos;
      if (slot.is_constexpr && is_block && name.ends_with(end)) return name;
    }
    return {};
  };
  const std::string_view name = operation.name;
  if (name == "matmul" && !block("M").empty() && !block("N").empty())
    return fmt::format("@cdiv(@M, {}) * cdiv(@N, {})", block("M"), block("N"));
  if (name == "add" || name == "gelu" || name == "dropout")
    return block("").empty() ? "" : fmt::format("@cdiv(@n, {})", block(""));
  return operation.is_arithmetic ? "" : "@rows";
}

Grid grid_of(const UserKernel& user, const TritonKernel& kernel, const Problem& problem,
             const std::vector<Slot>& slots) {
  if (!user.grid.empty()) return grid_from_text(kernel, user.grid);
  std::string text = usual_grid(*problem.operation, slots);
  if (text.empty()) return grid_from_file(kernel, {});
  const auto put = [&](std::string_view word, std::int64_t value) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word))
      text.replace(at, word.size(), fmt::format("{}", value));
  };
  put("@M", problem.shape[0]);
  put("@N", problem.shape[1]);
  put("@rows", problem.rows());
  put("@n", problem.elements());
  std::erase(text, '@');
  return grid_from_text(kernel, text);
}

Prepared prepare_triton(const UserKernel& user, const TritonKernel& kernel,
                        const Problem& problem) {
  const std::vector<Slot> slots = slots_of(kernel);
  const std::vector<Bound> bound = bind_slots(slots, problem, user, has_configs(kernel));
  // Otherwise the evaluation of a grid as text would be timed.
  const TritonLaunch launch{.grid = once_per_config(grid_of(user, kernel, problem, slots))};
  const auto arguments = [slots, bound] {
    std::vector<TritonArgument> made;
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (!std::holds_alternative<std::monostate>(bound[i]))
        made.push_back(argument_of(slots[i], bound[i]));
    return made;
  };
  return {.run = [kernel, launch, arguments] { kernel.launch(launch, arguments()); },
          .launches = {
              [kernel, launch, arguments] { return launch_facts(kernel, launch, arguments()); }}};
}

// ---- CUDA and C++.

Argument argument_for(const Parameter& parameter, const Bound& bound) {
  if (const auto* tensor = std::get_if<Tensor>(&bound)) return *tensor;
  const auto* integer = std::get_if<std::int64_t>(&bound);
  const auto* real = std::get_if<double>(&bound);
  if (integer == nullptr && real == nullptr)
    throw ArgumentError(
        fmt::format("parameter '{}' of a CUDA kernel cannot be text", parameter.name));
  const double value = integer != nullptr ? static_cast<double>(*integer) : *real;
  switch (parameter.dtype) {
    case DType::Float32:
      return static_cast<float>(value);
    case DType::Float64:
      return value;
    case DType::Int64:
      return static_cast<std::int64_t>(integer ? *integer : std::int64_t(value));
    case DType::UInt64:
      return static_cast<std::uint64_t>(value);
    case DType::UInt32:
      return static_cast<std::uint32_t>(value);
    case DType::Bool:
      return value != 0;
    default:
      return static_cast<std::int32_t>(value);
  }
}

// C++ for the CPU: one call per program.
bool is_cpp(const UserKernel& user) {
  return user.file.ends_with(".cpp") || user.file.ends_with(".cc");
}

Dim3 sizes_of(const std::string& text, const char* option) {
  std::vector<std::int64_t> sizes;
  try {
    sizes = parse_sizes(text);
  } catch (const ArgumentError&) {
  }
  if (sizes.empty() || sizes.size() > 3)
    throw ArgumentError(fmt::format("{} of a CUDA kernel is X[,Y[,Z]], not '{}'", option, text));
  sizes.resize(3, 1);
  return {sizes[0], sizes[1], sizes[2]};
}

LaunchConfig config_of(const UserKernel& user, const Problem& problem) {
  LaunchConfig config;
  if (!is_cpp(user))
    config.block = user.block.empty() ? Dim3(256) : sizes_of(user.block, "--block");
  if (!user.grid.empty()) {
    config.grid = sizes_of(user.grid, "--grid");
    return config;
  }
  if (problem.operation->is_arithmetic)
    throw ArgumentError(fmt::format("a {} kernel for {} needs --grid{}",
                                    is_cpp(user) ? "C++" : "CUDA", problem.operation->name,
                                    is_cpp(user) ? "" : " and --block"));
  const std::string_view name = problem.operation->name;
  const bool by_element = name == "add" || name == "gelu" || name == "dropout";
  const std::int64_t part = is_cpp(user) ? 1 << 16 : config.block.count();
  config.grid = by_element ? cdiv(problem.elements(), part) : problem.rows();
  return config;
}

Prepared prepare_cuda(const UserKernel& user, const std::string& text, const Problem& problem) {
  InlineOptions options{.name = user.file, .device = problem.device};
  (is_cpp(user) ? options.cpp_sources : options.cuda_sources).push_back(text);
  const InlineModule module = load_inline(options);
  const Function function = module.kernel(user.kernel);
  std::vector<Slot> slots;
  for (const Parameter& parameter : function.parameters())
    slots.push_back({parameter.name, parameter.kind == Parameter::Kind::Pointer, false});
  check_argument_names(user, slots);
  const std::vector<Bound> bound = bind_slots(slots, problem, user, false);
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < slots.size(); ++i)
    arguments.push_back(argument_for(function.parameters()[i], bound[i]));
  const LaunchConfig config = config_of(user, problem);
  Prepared prepared{.run = [module, function, config, arguments, tensors = problem.tensors] {
    function.launch(config, arguments);
  }};
  if (module.is_emulated()) prepared.note = "emulated";
  prepared.launches = {
      [options, function, config] { return launch_facts(options, function, config); }};
  return prepared;
}

// ---- Thread-level Python.

// How many indices the kernel gives an array parameter; 0: it is no array.
int dimensions_in(const python::Node& node, std::string_view parameter) {
  int most = 0;
  if (const auto* item = python::cast_if<python::Subscript>(&node);
      item != nullptr && python::dotted_name(item->value) == parameter) {
    const auto* indices = python::cast_if<python::Tuple>(item->index);
    most = indices == nullptr ? 1 : static_cast<int>(indices->elements.size());
  }
  python::for_each_child(node, [&](const python::Node& child) {
    most = std::max(most, dimensions_in(child, parameter));
  });
  return most;
}

// Operands of elements are flat for a kernel with one index.
Tensor with_dimensions(const Tensor& tensor, int dimensions) {
  if (tensor.rank() == dimensions) return tensor;
  return dimensions == 1 ? tensor.view({-1}) : tensor.view({-1, tensor.size(-1)});
}

Prepared prepare_numba(const UserKernel& user, const NumbaKernel& kernel, const Problem& problem) {
  const python::FunctionDef& function = *kernel.state()->function;
  std::vector<Slot> slots;
  std::vector<int> dimensions;
  for (const std::string& name : kernel.parameters()) {
    dimensions.push_back(dimensions_in(function, name));
    slots.push_back({name, dimensions.back() > 0, false});
  }
  check_argument_names(user, slots);
  const std::vector<Bound> bound = bind_slots(slots, problem, user, false);
  auto tensors = std::make_shared<std::vector<Tensor>>(slots.size());
  std::vector<NumbaArgument> arguments;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (const auto* tensor = std::get_if<Tensor>(&bound[i])) {
      (*tensors)[i] = with_dimensions(*tensor, dimensions[i]);
      arguments.emplace_back((*tensors)[i]);
    } else {
      const bool is_real = std::holds_alternative<double>(bound[i]);
      arguments.emplace_back(
          argument_for({.dtype = is_real ? DType::Float64 : DType::Int64}, bound[i]));
    }
  }
  const LaunchConfig config = config_of(user, problem);
  const NumbaLaunch launch{.grid = config.grid, .block = config.block};
  return {.run = [kernel, launch, arguments, tensors] { kernel.launch(launch, arguments); }};
}

// Lines `first` to `last`, counted from 1.
std::string_view lines_between(std::string_view text, int first, int last) {
  std::size_t begin = 0, end = 0;
  for (int line = 1; line <= last && end < text.size(); ++line) {
    if (line == first) begin = end;
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return text.substr(begin, end - begin);
}

int lines_of_function(const python::FunctionDef& function, std::string_view text) {
  const int first =
      function.decorators.empty() ? function.span.line : function.decorators.front()->span.line;
  return lines_of_code(lines_between(text, first, function.end_line));
}

}  // namespace

int lines_of_kernel(const TritonKernel& kernel) {
  const python::DecoratedFunction& decorated = kernel.state()->function;
  return lines_of_function(*decorated.function, decorated.module->tree->source.text);
}

int lines_of_kernel(const NumbaKernel& kernel) {
  const NumbaKernel::State& state = *kernel.state();
  return lines_of_function(*state.function, state.module->tree->source.text);
}

Entry user_entry(const UserKernel& kernel) {
  Entry entry{.name = kernel.kernel, .prepare = {}, .lines = 0, .roundings = 8};
  if (kernel.file.ends_with(".py") && is_numba_kernel(kernel.file, kernel.kernel)) {
    const NumbaKernel loaded = load_numba(kernel.file, kernel.kernel);
    entry.lines = lines_of_kernel(loaded);
    entry.prepare = [=](const Problem& problem) { return prepare_numba(kernel, loaded, problem); };
  } else if (kernel.file.ends_with(".py")) {
    const TritonKernel loaded = load_triton(kernel.file, kernel.kernel);
    check_argument_names(kernel, slots_of(loaded));
    entry.lines = lines_of_kernel(loaded);
    entry.prepare = [=](const Problem& problem) { return prepare_triton(kernel, loaded, problem); };
  } else {
    const std::string text = read_input(kernel.file);
    entry.lines = lines_of_code(text);
    entry.prepare = [=](const Problem& problem) { return prepare_cuda(kernel, text, problem); };
  }
  return entry;
}

}  // namespace tilewright::suite
