// SPDX-License-Identifier: Apache-2.0
// cli/kernel_arguments.cpp — reads what `run` and `tune` are given.
#include "cli/kernel_arguments.h"

#include <charconv>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/argument_views.h"
#include "cli/kernel_path.h"
#include "cli/scalar_types.h"
#include "cli/symbolic_sizes.h"
#include "compiler/triton/constants.h"
#include "compiler/triton/grid_text.h"
#include "compiler/triton/guess/guess.h"
#include "compiler/triton/triton_state.h"

namespace tilewright::cli {

TritonKernel load_kernel(const std::string& text) {
  const KernelPath path = parse_kernel_path(text);
  if (!path.kernel.empty()) return load_triton(path.file, path.kernel);
  python::ModuleLoader loader;
  Guesser guesser(loader);
  std::vector<std::string> names;
  for (const auto& function : guesser.entries({&loader.load(path.file)}))
    names.push_back(function.name);
  return load_triton(path.file, chosen_kernel(path, names));
}

namespace {

// ieee for 'ieee', where only a constant can stand.
bool is_bare_word(const TritonParameter& parameter, const std::string& text) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-";
  return parameter.is_constexpr && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         text.find_first_not_of(letters) == std::string::npos && !parse_constant(text);
}

}  // namespace

std::vector<NamedValue> read_values(const std::vector<std::string>& texts,
                                    const TritonKernel& kernel, Device device, std::uint64_t seed) {
  std::vector<NamedValue> values;
  std::vector<std::string> views;
  for (const std::string& text : with_sizes(texts, kernel.parameters())) {
    auto [name, value] = parse_assignment(text, "NAME=VALUE");
    const std::string parameter = name.substr(0, name.find('.'));
    const TritonParameter& declared =
        parameter_named(kernel.name(), kernel.state()->parameters, parameter);
    if (name == parameter + ".block") {
      values.push_back({name, triton::Value::text(value), {}});
      continue;
    }
    if (is_view_text(value)) {
      views.push_back(text);
      continue;
    }
    value = take_scalar_type(kernel, name, value);
    if (!value.empty() && is_bare_word(declared, value)) {
      values.push_back({name, triton::Value::text(value), {}});
      continue;
    }
    // Tensors of one launch differ although they share the seed.
    values.push_back({name, read_value(name, value, {.device = device, .seed = seed++}), {}});
    if (const Tensor* tensor = values.back().tensor())
      values.back().before = tensor->to(Device::cpu()).clone();
  }
  add_views(views, values);
  return values;
}

void mark_unwritten(const std::vector<std::string>& texts, std::vector<NamedValue>& values) {
  std::set<std::string> names;
  for (const std::string& text : texts) {
    const auto [name, value] = parse_assignment(text, "NAME=VALUE");
    if (value.starts_with("empty:")) names.insert(name);
  }
  if (names.empty()) return;
  for (const NamedValue& value : values) {
    if (!names.contains(value.name) || value.tensor() == nullptr) continue;
    const Tensor& tensor = *value.tensor();
    const Tensor mark = empty(tensor.shape(), {tensor.dtype(), Device::cpu()});
    std::memset(mark.data(), tensor.dtype() == DType::Bool ? 0 : 0xff, mark.nbytes());
    tensor.copy_from(mark);
  }
  for (NamedValue& value : values)  // others may lie in the same memory
    if (const Tensor* tensor = value.tensor()) value.before = tensor->to(Device::cpu()).clone();
}

namespace {

std::map<std::string, python::Value> seen_by_host(const std::vector<NamedValue>& values) {
  std::map<std::string, python::Value> seen;
  for (const NamedValue& value : values) {
    const std::string parameter = value.name.substr(0, value.name.find('.'));
    const Tensor* tensor = value.tensor();
    seen[parameter] = tensor != nullptr ? described(*tensor)
                                        : host_value_of(std::get<triton::Value>(value.value));
  }
  return seen;
}

bool is_integer_constant(const TritonKernel& kernel, const std::string& text) {
  const auto [name, value] = parse_assignment(text, "NAME=VALUE");
  return parameter_named(kernel.name(), kernel.state()->parameters, name).is_constexpr &&
         value.find_first_not_of("0123456789") == std::string::npos;
}

// A runtime parameter comes from nobody else: configs, heuristics and defaults set constants.
void check_open_parameters(const TritonKernel& kernel, const LaunchValues& launch) {
  for (const TritonParameter& parameter : kernel.state()->parameters) {
    const auto problem = launch.problems.find(parameter.name);
    if (problem == launch.problems.end() || parameter.is_constexpr || parameter.has_default)
      continue;
    throw ArgumentError(
        fmt::format("kernel '{0}' needs an argument for '{1}'; add {1}=VALUE, since the launch at "
                    "{2} does not tell: {3}",
                    kernel.name(), parameter.name, launch.place, problem->second));
  }
}

}  // namespace

KernelArguments read_arguments(const std::vector<std::string>& texts, const TritonKernel& kernel,
                               const ReadOptions& options) {
  KernelArguments arguments{read_values(texts, kernel, options.device, options.seed), std::nullopt};
  const std::map<std::string, python::Value> given = seen_by_host(arguments.values);
  if (given.size() == kernel.parameters().size()) return arguments;
  arguments.launch = values_of_launch(kernel, given);
  if (!arguments.launch) return arguments;
  check_open_parameters(kernel, *arguments.launch);
  std::vector<std::string>& added = arguments.launch->texts;
  if (options.leaves_sizes)
    std::erase_if(added,
                  [&](const std::string& text) { return is_integer_constant(kernel, text); });
  std::vector<std::string> views;
  std::uint64_t seed = options.seed + texts.size();
  for (const std::string& text : added) {
    if (is_view_text(parse_assignment(text, "NAME=VALUE").second)) {
      views.push_back(text);
      continue;
    }
    for (NamedValue& value : read_values({text}, kernel, options.device, seed++))
      arguments.values.push_back(std::move(value));
  }
  add_views(views, arguments.values);
  return arguments;
}

namespace {

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

// "64x32"
std::vector<std::int64_t> block_of(const NamedValue& named) {
  const auto& content = std::get<triton::Value>(named.value).get_if<triton::Constant>()->value;
  const std::string& text = std::get<std::string>(content);
  std::vector<std::int64_t> sizes;
  for (const char* at = text.data(); at <= text.data() + text.size();) {
    const char* const end = text.data() + text.size();
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || (next != end && *next != 'x'))
      throw ArgumentError(
          fmt::format("'{}={}' is no block: write sizes such as 64x32", named.name, text));
    sizes.push_back(size);
    at = next + 1;
  }
  return sizes;
}

// The number behind the dot.
std::size_t item_number(const std::string& name) {
  const std::string_view text = std::string_view(name).substr(name.find('.') + 1);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > 255)
    throw ArgumentError(fmt::format(
        "'{}' names no item of a tuple: write NAME.0, NAME.1, ..., or NAME.block for a descriptor",
        name));
  return number;
}

std::vector<TritonArgument> in_order(const std::string& parameter,
                                     const std::map<std::size_t, TritonArgument>& items) {
  std::vector<TritonArgument> result;
  for (const auto& [number, item] : items) {
    if (number != result.size())
      throw ArgumentError(fmt::format("the tuple '{0}' has an item {0}.{1} but no {0}.{2}",
                                      parameter, number, result.size()));
    result.push_back(item);
    result.back().name = {};
  }
  return result;
}

}  // namespace

LaunchArguments::LaunchArguments(const std::vector<NamedValue>& values) {
  std::map<std::string, std::map<std::size_t, TritonArgument>> tuples;
  std::map<std::string, const NamedValue*> blocks;
  for (const NamedValue& value : values) {
    const std::size_t dot = value.name.find('.');
    const std::string parameter = value.name.substr(0, dot);
    if (dot == std::string::npos) continue;
    if (value.name == parameter + ".block") blocks[parameter] = &value;
    else tuples[parameter][item_number(value.name)] = to_argument(value);
  }
  for (const NamedValue& value : values) {
    const auto block = blocks.find(value.name);
    if (value.name.find('.') != std::string::npos) continue;
    if (block == blocks.end() || value.tensor() == nullptr) {
      arguments_.push_back(to_argument(value));
      continue;
    }
    descriptors_.emplace_back(*value.tensor(), block_of(*block->second));
    arguments_.push_back(constant(value.name, descriptors_.back()));
    blocks.erase(block);
  }
  if (!blocks.empty())
    throw ArgumentError(fmt::format("'{0}.block' describes the tensor '{0}', which is not given",
                                    blocks.begin()->first));
  for (const auto& [parameter, items] : tuples) {
    tuples_.emplace_back(in_order(parameter, items));
    arguments_.push_back(constant(names_.emplace_back(parameter), tuples_.back()));
  }
}

Grid grid_for(const std::string& text, const TritonKernel& kernel,
              const KernelArguments& arguments) {
  if (!text.empty()) return grid_from_text(kernel, text);
  std::map<std::string, Tensor> tensors;
  for (const NamedValue& value : arguments.values)
    if (value.tensor() != nullptr) tensors.emplace(value.name, *value.tensor());
  return grid_from_file(kernel, std::move(tensors),
                        arguments.launch ? &arguments.launch->launch : nullptr);
}

}  // namespace tilewright::cli
