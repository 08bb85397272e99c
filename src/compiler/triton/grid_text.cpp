// SPDX-License-Identifier: Apache-2.0
// compiler/triton/grid_text.cpp — grids by the little evaluator of host code.
#include "compiler/triton/grid_text.h"

#include <set>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "compiler/triton/guess/host_run.h"
#include "compiler/triton/launch_values.h"
#include "compiler/triton/triton_state.h"

namespace tilewright {
namespace {

using Names = std::map<std::string, python::Value, std::less<>>;

Dim3 to_sizes(const std::array<std::int64_t, 3>& grid) { return {grid[0], grid[1], grid[2]}; }

std::string sentence(const Error& error) {
  if (const auto* located = dynamic_cast<const SyntaxOrTypeError*>(&error))
    return located->diagnostic().message;
  return error.what();
}

Names names_of(const python::DictValue& values) {
  Names names;
  for (const auto& [name, value] : values.items) names[*name.get_if<std::string>()] = value;
  return names;
}

// The text is written by a person at a command line: what it names must be an argument.
void check_names(const std::string& kernel, const std::string& text, const python::Node& node,
                 const Names& names) {
  static const std::set<std::string_view> known = {
      "triton", "cdiv", "next_power_of_2", "min", "max", "len", "int", "range", "sum"};
  if (python::is<python::Lambda>(&node)) return;  // it has names of its own
  if (const auto* name = python::cast_if<python::Name>(&node);
      name != nullptr && !names.contains(name->id) && !known.contains(name->id)) {
    std::vector<std::string> all;
    for (const auto& [argument, value] : names) all.push_back(argument);
    throw ArgumentError(
        fmt::format("the grid '{}' of kernel '{}' names '{}', which is no argument{}", text, kernel,
                    name->id, suggest_names(name->id, all)));
  }
  python::for_each_child(
      node, [&](const python::Node& child) { check_names(kernel, text, child, names); });
}

Dim3 evaluate_text(const std::string& kernel, const std::string& text,
                   const python::DictValue& values) {
  python::ModuleLoader loader;
  const std::string module_text =
      fmt::format("import triton\nfrom triton import cdiv, next_power_of_2\ngrid = ({},)\n", text);
  try {
    const python::LoadedModule& module = loader.load_text("grid", module_text);
    python::Evaluator evaluator(loader);
    const python::Binding grid = loader.lookup(module, "grid");
    check_names(kernel, text, *grid.node, names_of(values));
    python::Value value = evaluator.evaluate(module, grid.node, names_of(values));
    // "(4, 5)" in brackets of its own
    if (value.items() != nullptr && value.items()->size() == 1 &&
        value.items()->front().items() != nullptr)
      value = python::Value(value.items()->front());
    return to_sizes(python::read_grid(evaluator, value, values));
  } catch (const ArgumentError&) {
    throw;
  } catch (const UserError& error) {
    throw ArgumentError(fmt::format("the grid '{}' of kernel '{}' cannot be computed: {}", text,
                                    kernel, sentence(error)));
  }
}

// Host code has names of its own: those that it computes up to the launch.
Dim3 evaluate_launch(const TritonKernel& kernel, const KernelLaunch& launch,
                     const python::DictValue& values) {
  const TritonKernel::State& state = *kernel.state();
  python::ModuleLoader& loader = const_cast<python::ModuleLoader&>(state.loader);
  const std::lock_guard lock(state.mutex);
  python::Evaluator evaluator(loader, {.facts = python::nvidia_facts(9, 0)});
  std::map<std::string, python::Value> given;
  for (const auto& [name, value] : values.items) given[*name.get_if<std::string>()] = value;
  const Names names =
      HostRun(loader, evaluator, launch, names_at_launch(launch, kernel, given)).names();
  const python::Node* node = followed_grid(launch);
  if (python::is<python::FunctionDef>(node)) {
    python::Scope scope;
    scope.names = names;
    return to_sizes(
        python::read_grid(evaluator, python::FunctionValue{launch.module, node, &scope}, values));
  }
  return to_sizes(
      python::read_grid(evaluator, evaluator.evaluate(*launch.module, node, names), values));
}

}  // namespace

Grid grid_from_text(const TritonKernel& kernel, std::string text) {
  const TritonKernel::State& state = *kernel.state();
  return [&state, text = std::move(text)](const Meta& meta) {
    return evaluate_text(state.name, text, meta_values(meta.view()));
  };
}

Dim3 grid_from_numbers(const std::string& kernel, const std::string& text,
                       const std::map<std::string, std::int64_t>& numbers) {
  python::DictValue values;
  for (const auto& [name, number] : numbers)
    values.items.push_back({python::Value(name), python::Value(number)});
  return evaluate_text(kernel, text, values);
}

Grid grid_from_file(const TritonKernel& kernel, std::map<std::string, Tensor> tensors,
                    const KernelLaunch* chosen) {
  const TritonKernel::State& state = *kernel.state();
  const auto launches = find_launches(*state.function.module, state.name);
  if (launches.empty())
    throw ArgumentError(fmt::format("{} does not launch '{}', so its grid must be given (--grid)",
                                    state.function.module->tree->source.file, state.name));
  return [kernel, launch = chosen != nullptr ? *chosen : launches.front(),
          tensors = std::move(tensors)](const Meta& meta) {
    python::DictValue values = meta_values(meta.view());
    for (const auto& [name, tensor] : tensors) values.set(name, described(tensor));
    try {
      return evaluate_launch(kernel, launch, values);
    } catch (const UserError& error) {
      throw ArgumentError(
          fmt::format("the grid of the launch at {}:{} cannot be read ({}); it must be given",
                      launch.module->tree->source.file, launch.call->span.line, sentence(error)));
    }
  };
}

Grid once_per_config(Grid grid) {
  auto known = std::make_shared<std::map<std::uint64_t, Dim3>>();
  return [grid = std::move(grid), known](const Meta& meta) {
    const std::uint64_t number = meta.view().specialization->number;
    auto found = known->find(number);
    if (found == known->end()) found = known->emplace(number, grid.sizes(meta)).first;
    return found->second;
  };
}

}  // namespace tilewright
