// SPDX-License-Identifier: Apache-2.0
// cli/kernel_arguments.cpp — reads what `run` and `tune` are given.
#include "cli/kernel_arguments.h"

#include <map>

#include "cli/kernel_path.h"
#include "compiler/grid_text.h"
#include "compiler/guess/guess.h"
#include "compiler/triton_state.h"

namespace tilewright::cli {

TritonKernel load_kernel(const std::string& text) {
  const KernelPath path = parse_kernel_path(text);
  if (!path.kernel.empty()) return load_triton(path.file, path.kernel);
  python::ModuleLoader loader;
  Guesser guesser(loader, {});
  std::vector<std::string> names;
  for (const auto& function : guesser.entries({&loader.load(path.file)}))
    names.push_back(function.name);
  return load_triton(path.file, chosen_kernel(path, names));
}

std::vector<NamedValue> read_values(const std::vector<std::string>& texts,
                                    const TritonKernel& kernel, Device device, std::uint64_t seed) {
  std::vector<NamedValue> values;
  for (const std::string& text : texts) {
    const auto [name, value] = parse_assignment(text, "NAME=VALUE");
    static_cast<void>(parameter_named(kernel.name(), kernel.state()->parameters, name));
    // Tensors of one launch differ although they share the seed.
    values.push_back({name, read_value(name, value, {.device = device, .seed = seed++}), {}});
    if (const Tensor* tensor = values.back().tensor())
      values.back().before = tensor->to(Device::cpu()).clone();
  }
  return values;
}

TritonArgument to_argument(const NamedValue& named) {
  if (const Tensor* tensor = named.tensor()) return constant(named.name, *tensor);
  const auto& value = std::get<triton::Value>(named.value);
  if (const auto* type = value.get_if<triton::TypeValue>())
    return constant(named.name, type->type.dtype);
  const auto& content = value.get_if<triton::Constant>()->value;
  if (const auto* flag = std::get_if<bool>(&content)) return constant(named.name, *flag);
  if (const auto* number = std::get_if<double>(&content)) return constant(named.name, *number);
  if (const auto* text = std::get_if<std::string>(&content)) return constant(named.name, *text);
  if (const auto* integer = std::get_if<triton::Int128>(&content))
    return constant(named.name, static_cast<std::int64_t>(*integer));
  return constant(named.name, none);
}

Grid grid_for(const std::string& text, const TritonKernel& kernel,
              const std::vector<NamedValue>& values) {
  if (!text.empty()) return grid_from_text(kernel, text);
  std::map<std::string, Tensor> tensors;
  for (const NamedValue& value : values)
    if (value.tensor() != nullptr) tensors.emplace(value.name, *value.tensor());
  return grid_from_file(kernel, std::move(tensors));
}

}  // namespace tilewright::cli
