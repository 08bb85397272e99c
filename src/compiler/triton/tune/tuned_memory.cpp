// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/tuned_memory.cpp — from arguments of the compiled kernel to parameters.
#include "compiler/triton/tune/tuned_memory.h"

#include "compiler/memory_use.h"

namespace tilewright {
namespace {

template <class Counts>
std::vector<std::size_t> pointers_where(const KernelDraft& draft, const Counts& counts) {
  const MemoryUse use = memory_use(draft.tiles.lowered.kernel);
  std::vector<std::size_t> parameters;
  for (std::size_t i = 0; i < use.reads.size(); ++i)
    if (counts(use, i)) parameters.push_back(draft.specialization->sources[i].parameter);
  return parameters;
}

void add_values(std::vector<NamedArgument>& values, const std::string& name,
                const TritonArgument& argument) {
  for (const TritonArgument& item : items_of(argument)) add_values(values, name, item);
  if (argument.kind == TritonArgument::Kind::Value) values.push_back({name, &argument.value});
}

}  // namespace

std::vector<std::size_t> written_parameters(const KernelDraft& draft) {
  return pointers_where(draft, [](const MemoryUse& use, std::size_t i) { return use.writes[i]; });
}

std::vector<std::size_t> updated_parameters(const KernelDraft& draft) {
  return pointers_where(
      draft, [](const MemoryUse& use, std::size_t i) { return use.reads[i] && use.writes[i]; });
}

std::vector<NamedArgument> values_of(const LaunchView& view,
                                     const std::vector<std::size_t>& parameters) {
  std::vector<NamedArgument> values;
  for (const std::size_t i : parameters)
    if (view.slots[i] != nullptr)
      add_values(values, view.kernel.parameters[i].name, *view.slots[i]);
  return values;
}

}  // namespace tilewright
