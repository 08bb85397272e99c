// SPDX-License-Identifier: Apache-2.0
// frontend/python/config_reader.cpp — arguments of decorators by position and name.
#include "frontend/python/config_reader.h"

#include <fmt/format.h>

namespace tilewright::python {
namespace {

// An argument of a decorator, and when it is evaluated.
struct Given {
  const Node* node = nullptr;
  Moment moment;
  explicit operator bool() const { return node != nullptr; }
};

const Node* keyword_of(const Call& call, std::string_view name) {
  for (const Node* node : call.keywords)
    if (cast<Keyword>(node).name == name) return cast<Keyword>(node).value;
  return nullptr;
}

// The argument called `name`, or standing at `position`; empty when it is not given. Arguments of
// functools.partial come first, and keywords of the call go before theirs.
Given argument(const Decorator& decorator, std::string_view name, std::size_t position) {
  if (decorator.call != nullptr)
    if (const Node* node = keyword_of(*decorator.call, name)) return {node, decorator.moment};
  for (auto partial = decorator.partials.rbegin(); partial != decorator.partials.rend(); ++partial)
    if (const Node* node = keyword_of(*partial->call, name)) return {node, partial->moment};
  std::vector<Given> positional;
  for (const Decorator::Partial& partial : decorator.partials)
    for (const Node* node : partial.call->arguments.subspan(1))
      positional.push_back({node, partial.moment});
  if (decorator.call != nullptr)
    for (const Node* node : decorator.call->arguments)
      positional.push_back({node, decorator.moment});
  return position < positional.size() ? positional[position] : Given{};
}

Value value_of(Evaluator& evaluator, const Given& given) {
  return evaluator.evaluate(*given.moment.module, given.node, {}, given.moment);
}

constexpr std::size_t by_name_only = static_cast<std::size_t>(-1);

[[noreturn]] void fail(const Given& given, const std::string& message) {
  fail_at(given.moment.module->tree->source, given.node->span, message);
}

std::vector<Value> read_list(Evaluator& evaluator, const Given& given, std::string_view what) {
  const Value value = value_of(evaluator, given);
  if (value.is_none()) return {};
  if (value.items() == nullptr)
    fail(given, fmt::format("{} must be a list, not {}", what, type_name(value)));
  return *value.items();
}

std::vector<std::string> read_names(Evaluator& evaluator, const Decorator& decorator,
                                    std::string_view what, std::size_t position) {
  const Given given = argument(decorator, what, position);
  std::vector<std::string> names;
  if (!given) return names;
  for (const Value& item : read_list(evaluator, given, what)) {
    const auto* name = item.get_if<std::string>();
    if (name == nullptr)
      fail(given, fmt::format("{} must hold names, not {}", what, type_name(item)));
    names.push_back(*name);
  }
  return names;
}

// Parameters by name or by position, as names.
std::vector<std::string> read_parameters(Evaluator& evaluator, const DecoratedFunction& function,
                                         const Decorator& jit, std::string_view what) {
  const Given given = argument(jit, what, by_name_only);
  std::vector<std::string> names;
  if (!given) return names;
  const NodeList parameters = function.function->parameters;
  for (const Value& item : read_list(evaluator, given, what)) {
    if (const auto* name = item.get_if<std::string>()) {
      names.push_back(*name);
      continue;
    }
    const auto position = item.integer().value_or(-1);
    if (position < 0 || position >= static_cast<std::int64_t>(parameters.size()))
      fail(given, fmt::format("{} holds {}, which is no parameter of '{}'", what, repr(item),
                              function.name));
    names.emplace_back(cast<Parameter>(parameters[static_cast<std::size_t>(position)]).name);
  }
  return names;
}

bool read_flag(Evaluator& evaluator, const Decorator& jit, std::string_view name) {
  const Given given = argument(jit, name, by_name_only);
  return given && truth(value_of(evaluator, given));
}

}  // namespace

JitOptions read_jit_options(Evaluator& evaluator, const DecoratedFunction& function) {
  JitOptions options;
  const Decorator* jit = function.find(Decorator::Kind::Jit);
  if (jit == nullptr) return options;
  options.do_not_specialize = read_parameters(evaluator, function, *jit, "do_not_specialize");
  options.do_not_specialize_on_alignment =
      read_parameters(evaluator, function, *jit, "do_not_specialize_on_alignment");
  options.noinline = read_flag(evaluator, *jit, "noinline");
  options.debug = read_flag(evaluator, *jit, "debug");
  options.has_repr = static_cast<bool>(argument(*jit, "repr", by_name_only));
  options.has_launch_metadata = static_cast<bool>(argument(*jit, "launch_metadata", by_name_only));
  return options;
}

Autotune read_autotune(Evaluator& evaluator, const Decorator& decorator) {
  Autotune result;
  const Given configs = argument(decorator, "configs", 0);
  if (!configs)
    fail({decorator.node, decorator.moment},
         fmt::format("'{}' is given no configs", decorator.name));
  for (const Value& item : read_list(evaluator, configs, "configs")) {
    if (item.config() == nullptr)
      fail(configs, fmt::format("configs must hold triton.Config, not {}", type_name(item)));
    result.configs.push_back(*item.config());
  }
  if (result.configs.empty()) result.configs.emplace_back();  // Triton then tries its defaults
  result.key = read_autotune_key(evaluator, decorator);
  result.reset_to_zero = read_names(evaluator, decorator, "reset_to_zero", by_name_only);
  result.restore_value = read_names(evaluator, decorator, "restore_value", by_name_only);
  if (const Given prune = argument(decorator, "prune_configs_by", by_name_only)) {
    result.prune = prune.node;
    result.prune_moment = prune.moment;
  }
  return result;
}

std::vector<std::string> read_autotune_key(Evaluator& evaluator, const Decorator& decorator) {
  return read_names(evaluator, decorator, "key", 1);
}

std::vector<Heuristic> read_heuristics(Evaluator& evaluator, const Decorator& decorator) {
  const Given given = argument(decorator, "values", 0);
  if (!given) fail({decorator.node, decorator.moment}, "triton.heuristics is given no values");
  const Value values = value_of(evaluator, given);
  if (values.dict() == nullptr)
    fail(given,
         fmt::format("the values of triton.heuristics must be a dict, not {}", type_name(values)));
  std::vector<Heuristic> result;
  for (const auto& [name, function] : values.dict()->items) {
    if (!name.is<std::string>() || !is_function(function))
      fail(given, "the values of triton.heuristics must be functions by name");
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
  if (is_function(grid)) value = evaluator.call(grid, {make_dict(meta.items)});
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
