// SPDX-License-Identifier: Apache-2.0
// graph/lower/template.cpp — Triton source of the library, for the types of a call.
#include "graph/lower/template.h"

#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/embedded.h"
#include "compiler/triton/triton_state.h"
#include "graph/launch.h"

namespace tilewright::graph {
namespace {

IrKernel make_template(std::string_view file, std::string_view kernel,
                       const std::string& signature) {
  const TritonKernel loaded = load_triton_source(embedded_file(file), kernel);
  TritonKernel::State& state = *loaded.state();
  const triton::LowerOptions options{.facts = python::nvidia_facts(9, 0)};
  triton::LoweredKernel lowered = triton::lower(
      state.loader, state.function, parse_signature(kernel, state.parameters, signature), options);
  return load_ir(std::move(lowered.kernel), false);
}

}  // namespace

const IrKernel& template_kernel(std::string_view file, std::string_view kernel,
                                const std::string& signature) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, IrKernel>;  // outlives static tensors
  const std::string key = fmt::format("{} {}", kernel, signature);
  const std::lock_guard lock(mutex);
  auto found = known.find(key);
  if (found == known.end())
    found = known.emplace(key, make_template(file, kernel, signature)).first;
  return found->second;
}

std::string type_text(DType dtype) { return signature_item(scalar_parameter(dtype)); }

std::string pointer_text(DType dtype, bool is_const) {
  return signature_item(pointer_parameter(dtype, 1, is_const));
}

void run_template(const TemplateLaunch& launch, std::span<const Argument> arguments) {
  if (auto* const observed = observed_launches())
    observed->push_back({std::string(launch.kernel), launch.grid.x * launch.grid.y});
  template_kernel(launch.file, launch.kernel, launch.signature)
      .launch({.grid = launch.grid, .emulate = emulated_target()}, arguments);
}

}  // namespace tilewright::graph
