// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/propose.cpp — which constants are free, and what they may be.
#include "compiler/triton/tune/propose.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/triton/guess/launches.h"
#include "compiler/triton/guess/usage.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using Names = std::set<std::string, std::less<>>;

constexpr std::size_t most_proposals = 40;

void add_names(const python::Node& node, Names& names) {
  if (const auto* name = python::cast_if<python::Name>(&node)) names.emplace(name->id);
  if (const auto* text = python::cast_if<python::StrLiteral>(&node)) names.emplace(text->value);
  python::for_each_child(node, [&](const python::Node& child) { add_names(child, names); });
}

std::string_view called_name(const python::Call& call) {
  if (const auto* name = python::cast_if<python::Name>(call.function)) return name->id;
  if (const auto* attribute = python::cast_if<python::Attribute>(call.function))
    return attribute->name;
  return {};
}

// Names that something is divided by, rounded up or down, or that a range steps by: BLOCK of
// cdiv(n, BLOCK), n // meta["BLOCK"], range(0, n, BLOCK).
void add_divisors(const python::Node& node, Names& names) {
  if (const auto* call = python::cast_if<python::Call>(&node)) {
    if (called_name(*call) == "cdiv" && call->arguments.size() == 2)
      add_names(*call->arguments[1], names);
    if (called_name(*call) == "range" && call->arguments.size() >= 3)
      add_names(*call->arguments[2], names);
  }
  if (const auto* division = python::cast_if<python::BinOp>(&node);
      division != nullptr && python::text_of(division->op) == "//")
    add_names(*division->right, names);
  python::for_each_child(node, [&](const python::Node& child) { add_divisors(child, names); });
}

void add_grid_divisors(const TritonKernel::State& state, const std::string& grid, Names& names) {
  if (grid.empty()) {
    for (const KernelLaunch& launch : find_launches(*state.function.module, state.name))
      add_divisors(*followed_grid(launch), names);
    return;
  }
  python::ModuleLoader loader;
  add_divisors(*loader.load_text("grid", fmt::format("grid = ({},)\n", grid)).tree->root, names);
}

std::vector<std::string> free_sizes(const LaunchRequest& request, const std::string& grid) {
  const TritonKernel::State& state = request.state;
  Names divisors;
  add_grid_divisors(state, grid, divisors);
  add_divisors(*state.function.function, divisors);
  UsageReader reader(request.state.loader);
  const FunctionUse& use = reader.read(*state.function.module, *state.function.function);
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const TritonParameter& parameter = state.parameters[i];
    if (!parameter.is_constexpr || request.given.contains(parameter.name)) continue;
    const bool is_size = i < use.parameters.size() && use.parameters[i].is_size;
    if (is_size && divisors.contains(parameter.name)) sizes.push_back(parameter.name);
    else if (!parameter.has_default)
      throw ArgumentError(fmt::format(
          "no values can be proposed for '{}' of kernel '{}', because other values may give other "
          "results; give {}=VALUE, or a list with --configs",
          parameter.name, state.name, parameter.name));
  }
  return sizes;
}

bool has_dot(const LaunchRequest& request, const std::vector<std::string>& sizes) {
  python::ConfigValue trial;
  for (const std::string& name : sizes) trial.meta.set(name, 32);
  trial.num_stages = 1;
  try {
    return tilewright::has_dot(draft(request, resolve(request, &trial)).tiles.lowered.kernel);
  } catch (const UserError&) {
    return false;  // then every config tells its own reason
  }
}

// Values of one size: the last of three is what products add up over.
std::vector<int> values_of(const ProposalFacts& facts, std::size_t index) {
  if (facts.has_dot) {
    if (facts.sizes.size() > 2 && index + 1 == facts.sizes.size()) return {32, 64};
    return facts.is_cuda ? std::vector<int>{64, 128, 256} : std::vector<int>{32, 64, 128};
  }
  if (facts.sizes.size() == 1)
    return facts.is_cuda ? std::vector<int>{256, 512, 1024, 2048, 4096}
                         : std::vector<int>{256, 1024, 4096, 16384};
  return {16, 32, 64, 128};
}

// Larger tiles than these spill.
bool is_sensible(const ProposalFacts& facts, const python::ConfigValue& config) {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < std::min<std::size_t>(facts.sizes.size(), 2); ++i)
    elements *= *config.meta.items[i].second.integer();
  return elements <= config.num_warps * 32 * 128 && elements <= (facts.has_dot ? 32768 : 16384);
}

}  // namespace

std::vector<python::ConfigValue> propose_configs(const ProposalFacts& facts) {
  std::vector<python::ConfigValue> configs(1);
  for (std::size_t i = 0; i < facts.sizes.size(); ++i) {
    std::vector<python::ConfigValue> wider;
    for (const python::ConfigValue& config : configs)
      for (const int value : values_of(facts, i)) {
        wider.push_back(config);
        wider.back().meta.set(facts.sizes[i], value);
      }
    configs = std::move(wider);
  }
  std::vector<python::ConfigValue> all;
  for (const python::ConfigValue& config : configs)
    for (const int warps : facts.is_cuda ? std::vector<int>{4, 8} : std::vector<int>{4})
      for (const int stages :
           facts.is_cuda&& facts.has_dot ? std::vector<int>{3, 4} : std::vector<int>{3}) {
        all.push_back(config);
        all.back().num_warps = warps;
        all.back().num_stages = stages;
        if (facts.is_cuda && !is_sensible(facts, all.back())) all.pop_back();
      }
  // Thinned out evenly, so that every size stays.
  std::vector<python::ConfigValue> chosen;
  const std::size_t count = std::min(all.size(), most_proposals);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  return chosen;
}

std::vector<python::ConfigValue> propose_configs(const LaunchRequest& request,
                                                 const std::string& grid) {
  const std::lock_guard lock(request.state.mutex);
  ProposalFacts facts{.sizes = free_sizes(request, grid), .is_cuda = request.target().is_cuda()};
  facts.has_dot = has_dot(request, facts.sizes);
  return propose_configs(facts);
}

}  // namespace tilewright
