// SPDX-License-Identifier: Apache-2.0
// compiler/triton/launch_values.cpp — each argument of the launch as text.
#include "compiler/triton/launch_values.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "compiler/triton/constants.h"
#include "compiler/triton/guess/host_run.h"
#include "compiler/triton/triton_state.h"

namespace tilewright {
namespace {

using Given = std::map<std::string, python::Value>;

struct Reader {
  const TritonKernel::State& state;
  const KernelLaunch& launch;
  const Given& given;
  HostRun run;
  // Which parameter is the tensor that host code calls so.
  std::map<std::string, std::string> owners;

  const python::Node* argument(std::size_t i) const {
    return launch.argument(state.parameters[i].name, i);
  }

  std::string tensor_text(const WrapperValue& value, const std::string& name) {
    const python::TensorValue& tensor = *value.tensor();
    const std::string dtype = tensor.dtype.substr(tensor.dtype.rfind('.') + 1);
    std::string text =
        fmt::format("{}={}:{}[{}]", name, value.maker, dtype, fmt::join(tensor.shape, ","));
    if (value.maker == "full") text += fmt::format("={}", value.fill);
    if (tensor.strides != dense_strides(tensor.shape))
      text += fmt::format("@strides({})", fmt::join(tensor.strides, ","));
    return text;
  }

  // Throws UserError for what is unknown.
  std::string text_of(std::size_t i) {
    const std::string& name = state.parameters[i].name;
    const WrapperValue value = run.value(argument(i));
    const std::string host_name(tensor_name(argument(i)));
    if (value.tensor() == nullptr) {
      const auto constant = constant_of(value.value);
      const bool is_plain = constant && constant->get_if<triton::Function>() == nullptr &&
                            constant->tuple() == nullptr;
      if (!is_plain) throw ArgumentError("its value has no form on a command line");
      return fmt::format("{}={}", name, constant_text(*constant));
    }
    if (const auto owner = owners.find(host_name); owner != owners.end())
      return fmt::format("{}=@{}", name, owner->second);
    if (value.maker.empty()) throw ArgumentError("it is a tensor that nothing makes");
    if (!host_name.empty()) owners[host_name] = name;
    return tensor_text(value, name);
  }
};

std::optional<int> launch_option(HostRun& run, const KernelLaunch& launch, const char* name) {
  const python::Node* node = launch.argument(name, launch.call->arguments.size());
  if (node == nullptr) return std::nullopt;
  try {
    const auto number = run.value(node).value.integer();
    if (number && *number > 0 && *number < 1024) return static_cast<int>(*number);
  } catch (const UserError&) {
    // Then the default.
  }
  return std::nullopt;
}

std::string problem_of(const UserError& error) {
  if (const auto* located = dynamic_cast<const SyntaxOrTypeError*>(&error))
    return located->diagnostic().message;
  return error.what();
}

LaunchValues read_launch(const TritonKernel& kernel, const KernelLaunch& launch,
                         const Given& given) {
  const TritonKernel::State& state = *kernel.state();
  auto& loader = const_cast<python::ModuleLoader&>(state.loader);
  python::Evaluator evaluator(loader, {.facts = python::nvidia_facts(9, 0)});
  Reader reader{state,
                launch,
                given,
                HostRun(loader, evaluator, launch, names_at_launch(launch, kernel, given)),
                {}};
  const std::string& file = launch.module->tree->source.file;
  LaunchValues result{.launch = launch,
                      .place = fmt::format("{}:{}", std::filesystem::path(file).filename().string(),
                                           launch.call->span.line)};
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const std::string host_name(tensor_name(reader.argument(i)));
    const bool is_given = given.contains(state.parameters[i].name);
    if (is_given && !host_name.empty()) reader.owners[host_name] = state.parameters[i].name;
  }
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const std::string& name = state.parameters[i].name;
    if (given.contains(name) || reader.argument(i) == nullptr) continue;
    try {
      result.texts.push_back(reader.text_of(i));
    } catch (const UserError& error) {
      result.problems[name] = problem_of(error);
    }
  }
  result.num_warps = launch_option(reader.run, launch, "num_warps");
  result.num_stages = launch_option(reader.run, launch, "num_stages");
  return result;
}

}  // namespace

python::Value described(const Tensor& tensor) {
  return python::TensorValue{fmt::format("torch.{}", name_of(tensor.dtype())), tensor.shape(),
                             tensor.strides()};
}

Given names_at_launch(const KernelLaunch& launch, const TritonKernel& kernel, const Given& given) {
  const TritonKernel::State& state = *kernel.state();
  Given names;
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const auto value = given.find(state.parameters[i].name);
    if (value == given.end()) continue;
    const std::string name(tensor_name(launch.argument(state.parameters[i].name, i)));
    if (!name.empty()) names.emplace(name, value->second);
  }
  return names;
}

std::optional<LaunchValues> values_of_launch(const TritonKernel& kernel, const Given& given) {
  const TritonKernel::State& state = *kernel.state();
  const std::lock_guard lock(state.mutex);
  std::optional<LaunchValues> best;
  for (const KernelLaunch& launch : find_launches(*state.function.module, state.name)) {
    LaunchValues values = read_launch(kernel, launch, given);
    if (!best || values.problems.size() < best->problems.size()) best = std::move(values);
  }
  return best;
}

}  // namespace tilewright
