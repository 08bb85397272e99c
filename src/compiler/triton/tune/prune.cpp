// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/prune.cpp — calls the kernel author's functions with configs and arguments.
#include "compiler/triton/tune/prune.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/triton/guess/try_kernel.h"

namespace tilewright {
namespace {

using python::Value;

std::vector<Value> as_values(const std::vector<python::ConfigValue>& configs) {
  std::vector<Value> values;
  for (const python::ConfigValue& config : configs)
    values.push_back(Value(std::make_shared<python::ConfigValue>(config)));
  return values;
}

class Pruner {
 public:
  explicit Pruner(const LaunchRequest& request)
      : request_(request), evaluator_(evaluator_of(request)) {}

  // The dict's functions, one after the other, over the list.
  std::vector<Value> prune(const KernelAutotune& autotune, std::vector<Value> configs) {
    const Value rules =
        evaluator_.evaluate(*autotune.content.prune_moment.module, autotune.content.prune, {},
                            autotune.content.prune_moment);
    if (rules.is_none()) return configs;
    if (rules.dict() == nullptr)
      throw ArgumentError(
          fmt::format("prune_configs_by must be a dict, not {}", python::type_name(rules)));
    if (const Value* early = rules.dict()->find(std::string("early_config_prune")); is_given(early))
      configs = call_early(*early, configs);
    const Value* model = rules.dict()->find(std::string("perf_model"));
    const Value* top = rules.dict()->find(std::string("top_k"));
    return is_given(model) ? best_by(*model, top, std::move(configs)) : configs;
  }

 private:
  static bool is_given(const Value* value) { return value != nullptr && !value->is_none(); }

  std::vector<Value> call_early(const Value& early, const std::vector<Value>& configs) {
    const Value left = evaluator_.call(
        early, {python::make_list(configs), python::make_dict(request_.arguments.items)},
        keywords());
    if (left.items() == nullptr)
      throw ArgumentError(
          fmt::format("early_config_prune must return a list, not {}", python::type_name(left)));
    return *left.items();
  }

  // What a launch in Python may give by keyword: it is not known which of the numbers it does.
  python::Keywords keywords() const {
    python::Keywords all;
    for (const TritonParameter& parameter : request_.state.parameters)
      if (const Value* value = request_.arguments.find(parameter.name);
          value != nullptr && !value->is<python::TensorValue>())
        all.emplace_back(parameter.name, *value);
    return all;
  }

  double estimate(const Value& model, const python::ConfigValue& config) {
    python::Keywords all;
    for (const auto& [name, value] : request_.arguments.items)
      all.emplace_back(*name.get_if<std::string>(), value);
    for (const auto& [name, value] : config.meta.items)
      all.emplace_back(*name.get_if<std::string>(), value);
    all.emplace_back("num_warps", config.num_warps);
    all.emplace_back("num_stages", config.num_stages);
    all.emplace_back("num_ctas", config.num_ctas);
    const std::optional<double> seconds = evaluator_.call(model, {}, all).number();
    if (!seconds) throw ArgumentError("perf_model must return a number");
    return *seconds;
  }

  // A whole top_k is a count, 1.0 or less a share of the list.
  std::vector<Value> best_by(const Value& model, const Value* top, std::vector<Value> configs) {
    double wanted = static_cast<double>(configs.size());
    if (is_given(top) && top->get_if<double>() != nullptr && *top->number() <= 1)
      wanted *= *top->number();
    else if (is_given(top) && top->number()) wanted = *top->number();
    const auto count = static_cast<std::size_t>(std::max(wanted, 0.0));
    if (count >= configs.size()) return configs;
    std::vector<double> estimates;
    for (const Value& config : configs) estimates.push_back(estimate(model, *config.config()));
    std::vector<std::size_t> order(configs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return estimates[a] < estimates[b]; });
    order.resize(count);
    std::sort(order.begin(), order.end());
    std::vector<Value> left;
    for (const std::size_t i : order) left.push_back(configs[i]);
    return left;
  }

  const LaunchRequest& request_;
  python::Evaluator evaluator_;
};

}  // namespace

Pruned prune_configs(const LaunchRequest& request, const KernelAutotune& autotune) {
  Pruned result{autotune.content.configs, {}, {}};
  if (autotune.content.prune == nullptr) return result;
  const std::vector<Value> all = as_values(result.configs);
  std::vector<Value> left;
  try {
    left = Pruner(request).prune(autotune, all);
    for (const Value& value : left)
      if (value.config() == nullptr)
        throw ArgumentError(fmt::format("prune_configs_by must leave triton.Config, not {}",
                                        python::type_name(value)));
  } catch (const UserError& error) {
    result.note =
        fmt::format("prune_configs_by of kernel '{}' cannot be read, so every config is tried: {}",
                    request.state.name, one_line(error));
    return result;
  }
  if (left.empty())
    throw ArgumentError(fmt::format(
        "prune_configs_by of kernel '{}' leaves none of the {} configs; it must keep one",
        request.state.name, all.size()));
  result.configs.clear();
  for (const Value& value : left) result.configs.push_back(*value.config());
  for (const Value& value : all) {
    const auto is_it = [&](const Value& other) { return other.config() == value.config(); };
    if (std::none_of(left.begin(), left.end(), is_it)) result.dropped.push_back(*value.config());
  }
  return result;
}

}  // namespace tilewright
