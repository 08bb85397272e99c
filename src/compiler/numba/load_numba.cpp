// SPDX-License-Identifier: Apache-2.0
// compiler/numba/load_numba.cpp — finding a @cuda.jit kernel in a file.
#include <fmt/format.h>

#include "base/input_file.h"
#include "base/nearest.h"
#include "compiler/numba/numba_state.h"
#include "frontend/numba/program.h"
#include "tilewright/error.h"

namespace tilewright {

std::vector<std::string> numba_kernels(python::ModuleLoader& loader,
                                       const python::LoadedModule& module) {
  std::vector<std::string> names;
  for (const python::Node* node : module.tree->root->body) {
    const auto* function = python::cast_if<python::FunctionDef>(node);
    if (function == nullptr) continue;
    const numba::JitKind kind = numba::jit_kind(loader, module, *function);
    if (kind.is_cuda && !kind.is_device) names.emplace_back(function->name);
  }
  return names;
}

bool is_numba_kernel(const std::string& file, const std::string& kernel) {
  // Most files are none; one that cannot be read is for the caller to complain about.
  try {
    if (read_input(file).find("numba") == std::string::npos) return false;
  } catch (const EnvironmentError&) {
    return false;
  }
  python::ModuleLoader loader;
  const python::LoadedModule& module = loader.load(file);
  for (const python::Node* node : module.tree->root->body) {
    const auto* function = python::cast_if<python::FunctionDef>(node);
    if (function == nullptr || (!kernel.empty() && function->name != kernel)) continue;
    if (numba::jit_kind(loader, module, *function).is_cuda) return true;
  }
  return false;
}

namespace {

NumbaKernel made_kernel(std::shared_ptr<NumbaKernel::State> state, std::string_view kernel) {
  const python::Binding found = state->loader.lookup(*state->module, kernel);
  const std::string& file = state->module->file;
  if (found.kind != python::Binding::Kind::Function)
    throw ArgumentError(fmt::format(
        "{} has no kernel '{}'{}", file, kernel,
        suggest_names(std::string(kernel), numba_kernels(state->loader, *state->module))));
  state->module = found.module;
  state->function = &python::cast<python::FunctionDef>(found.node);
  const numba::JitKind kind = numba::jit_kind(state->loader, *state->module, *state->function);
  if (!kind.is_cuda)
    throw ArgumentError(fmt::format("'{}' of {} is not decorated with @cuda.jit", kernel, file));
  if (kind.is_device)
    throw ArgumentError(fmt::format(
        "'{}' of {} is a device function; it is called by kernels and not launched", kernel, file));
  state->name = kernel;
  for (const python::Node* node : state->function->parameters)
    state->parameters.emplace_back(python::cast<python::Parameter>(node).name);
  if (state->parameters.size() > most_numba_arguments)
    throw ArgumentError(fmt::format("kernel '{}' has {} parameters; {} is the most", kernel,
                                    state->parameters.size(), most_numba_arguments));
  state->signature = decorator_signature(state->loader, *state->module, *state->function);
  if (state->signature && state->signature->size() != state->parameters.size())
    throw ArgumentError(fmt::format("the decorator of kernel '{}' has {} types for {} parameters",
                                    kernel, state->signature->size(), state->parameters.size()));
  return NumbaKernel(std::move(state));
}

}  // namespace

NumbaKernel load_numba(const std::string& file, std::string_view kernel) {
  auto state = std::make_shared<NumbaKernel::State>();
  state->module = &state->loader.load(file);
  return made_kernel(std::move(state), kernel);
}

NumbaKernel load_numba_source(std::string_view text, std::string_view kernel) {
  auto state = std::make_shared<NumbaKernel::State>();
  state->module = &state->loader.load_text("<source>", text);
  return made_kernel(std::move(state), kernel);
}

}  // namespace tilewright
