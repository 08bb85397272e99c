// SPDX-License-Identifier: Apache-2.0
// frontend/python/config_reader.cpp — arguments of decorators by position and name.
#include "frontend/python/config_reader.h"

#include <fmt/format.h>

namespace tilewright::python {
namespace {

// The argument called `name`, or standing at `position`; null when it is not given.
const Node* argument(const Decorator& decorator, std::string_view name, std::size_t position) {
  if (decorator.call == nullptr) return nullptr;
  for (const Node* node : decorator.call->keywords)
    if (cast<Keyword>(node).name == name) return cast<Keyword>(node).value;
  const NodeList positional = decorator.call->arguments;
  return position < positional.size() ? positional[position] : nullptr;
}

constexpr std::size_t by_name_only = static_cast<std::size_t>(-1);

[[noreturn]] void fail(const Decorator& decorator, const Node& node, const std::string& message) {
  fail_at(decorator.module->tree->source, node.span, message);
}

std::vector<Value> read_list(Evaluator& evaluator, const Decorator& decorator, const Node* node,
                             std::string_view what) {
  const Value value = evaluator.evaluate(*decorator.module, node);
  if (value.is_none()) return {};
  if (value.items() == nullptr)
    fail(decorator, *node, fmt::format("{} must be a list, not {}", what, type_name(value)));
  return *value.items();
}

std::vector<std::string> read_names(Evaluator& evaluator, const Decorator& decorator,
                                    std::string_view what, std::size_t position) {
  const Node* node = argument(decorator, what, position);
  std::vector<std::string> names;
  if (node == nullptr) return names;
  for (const Value& item : read_list(evaluator, decorator, node, what)) {
    const auto* name = item.get_if<std::string>();
    if (name == nullptr)
      fail(decorator, *node, fmt::format("{} must hold names, not {}", what, type_name(item)));
    names.push_back(*name);
  }
  return names;
}

// Parameters by name or by position, as names.
std::vector<std::string> read_parameters(Evaluator& evaluator, const DecoratedFunction& function,
                                         const Decorator& jit, std::string_view what) {
  const Node* node = argument(jit, what, by_name_only);
  std::vector<std::string> names;
  if (node == nullptr) return names;
  const NodeList parameters = function.function->parameters;
  for (const Value& item : read_list(evaluator, jit, node, what)) {
    if (const auto* name = item.get_if<std::string>()) {
      names.push_back(*name);
      continue;
    }
    const auto position = item.integer().value_or(-1);
    if (position < 0 || position >= static_cast<std::int64_t>(parameters.size()))
      fail(jit, *node,
           fmt::format("{} holds {}, which is no parameter of '{}'", what, repr(item),
                       function.name));
    names.emplace_back(cast<Parameter>(parameters[static_cast<std::size_t>(position)]).name);
  }
  return names;
}

bool read_flag(Evaluator& evaluator, const Decorator& jit, std::string_view name) {
  const Node* node = argument(jit, name, by_name_only);
  return node != nullptr && truth(evaluator.evaluate(*jit.module, node));
}

}  // namespace

JitOptions read_jit_options(Evaluator& evaluator, const DecoratedFunction& function) {
  JitOptions options;
  const Decorator* jit = function.find(Decorator::Kind::Jit);
  if (jit == nullptr || jit->call == nullptr) return options;
  options.do_not_specialize = read_parameters(evaluator, function, *jit, "do_not_specialize");
  options.do_not_specialize_on_alignment =
      read_parameters(evaluator, function, *jit, "do_not_specialize_on_alignment");
  options.noinline = read_flag(evaluator, *jit, "noinline");
  options.debug = read_flag(evaluator, *jit, "debug");
  options.has_repr = argument(*jit, "repr", by_name_only) != nullptr;
  options.has_launch_metadata = argument(*jit, "launch_metadata", by_name_only) != nullptr;
  return options;
}

Autotune read_autotune(Evaluator& evaluator, const Decorator& decorator) {
  Autotune result;
  const Node* configs = argument(decorator, "configs", 0);
  if (configs == nullptr)
    fail(decorator, *decorator.node, fmt::format("'{}' is given no configs", decorator.name));
  for (const Value& item : read_list(evaluator, decorator, configs, "configs")) {
    if (item.config() == nullptr)
      fail(decorator, *configs,
           fmt::format("configs must hold triton.Config, not {}", type_name(item)));
    result.configs.push_back(*item.config());
  }
  if (result.configs.empty()) result.configs.emplace_back();  // Triton then tries its defaults
  result.key = read_autotune_key(evaluator, decorator);
  result.reset_to_zero = read_names(evaluator, decorator, "reset_to_zero", by_name_only);
  result.restore_value = read_names(evaluator, decorator, "restore_value", by_name_only);
  result.prune = argument(decorator, "prune_configs_by", by_name_only);
  return result;
}

std::vector<std::string> read_autotune_key(Evaluator& evaluator, const Decorator& decorator) {
  return read_names(evaluator, decorator, "key", 1);
}

std::vector<Heuristic> read_heuristics(Evaluator& evaluator, const Decorator& decorator) {
  const Node* node = argument(decorator, "values", 0);
  if (node == nullptr) fail(decorator, *decorator.node, "triton.heuristics is given no values");
  const Value values = evaluator.evaluate(*decorator.module, node);
  if (values.dict() == nullptr)
    fail(decorator, *node,
         fmt::format("the values of triton.heuristics must be a dict, not {}", type_name(values)));
  std::vector<Heuristic> result;
  for (const auto& [name, function] : values.dict()->items) {
    if (!name.is<std::string>() || !function.is<FunctionValue>())
      fail(decorator, *node, "the values of triton.heuristics must be functions by name");
    result.push_back({*name.get_if<std::string>(), function});
  }
  return result;
}

void apply_heuristics(Evaluator& evaluator, const std::vector<Heuristic>& heuristics,
                      DictValue& arguments) {
  for (const Heuristic& heuristic : heuristics)
    arguments.set(heuristic.name, evaluator.call(heuristic.function, {make_dict(arguments.items)}));
}

std::array<std::int64_t, 3> read_grid(Evaluator& evaluator, const Value& grid,
                                      const DictValue& meta) {
  Value value = grid;
  if (grid.is<FunctionValue>()) value = evaluator.call(grid, {make_dict(meta.items)});
  std::vector<Value> sizes;
  if (value.integer()) sizes.push_back(value);
  else if (value.items() != nullptr) sizes = *value.items();
  if (sizes.empty() || sizes.size() > 3)
    throw ArgumentError(fmt::format("a grid is a tuple of one to three ints, not {}", repr(value)));
  std::array<std::int64_t, 3> result = {1, 1, 1};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].integer())
      throw ArgumentError(
          fmt::format("a grid is a tuple of one to three ints, not {}", repr(value)));
    result[i] = *sizes[i].integer();
  }
  return result;
}

}  // namespace tilewright::python
