// SPDX-License-Identifier: Apache-2.0
// compiler/make_specialization.cpp — the long way of a first launch: arguments, configs and
// heuristics to a signature, and that to code.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/log.h"
#include "base/settings.h"
#include "compiler/constants.h"
#include "compiler/triton_state.h"

namespace tilewright {
namespace {

using python::Decorator;
using triton::ParameterType;

// What heuristics see of an argument.
python::Value seen(const TritonArgument* argument, const ParameterType& type) {
  if (type.kind == ParameterType::Kind::Constant) return host_value_of(type.constant);
  if (type.type.is_pointer)
    return python::TensorValue{fmt::format("torch.{}", name_of(type.type.dtype)), {}, {}};
  if (argument == nullptr) return 1;  // precompiled by its type alone
  const Argument& value = argument->value;
  TritonParameter constant{.is_constexpr = true};
  return host_value_of(parameter_type(specialize("", constant, TritonArgument(value))).constant);
}

// A signature while it is being filled in.
struct Resolution {
  TritonKernel::State& state;
  python::Evaluator evaluator;
  TritonSignature signature;
  python::DictValue arguments;  // as heuristics see them
  KernelOptions options;
  std::size_t config = 0;  // the number of the config to take

  void set(const std::string& name, const python::Value& value, std::string_view by) {
    const std::optional<triton::Value> constant = constant_of(value);
    if (!constant)
      throw ArgumentError(fmt::format("{} of kernel '{}' sets '{}' to {}, which is no constant", by,
                                      state.name, name, python::repr(value)));
    static_cast<void>(parameter_named(state.name, state.parameters, name));
    signature[name] = constant_parameter(*constant);
    arguments.set(name, value);
  }

  bool has_parameter(std::string_view name) const {
    return std::any_of(state.parameters.begin(), state.parameters.end(),
                       [&](const TritonParameter& parameter) { return parameter.name == name; });
  }
};

struct OptionName {
  std::string_view name;
  int KernelOptions::*option;
  std::optional<int> TritonLaunch::*given;
};

// Launch options that configs, heuristics and the kernel itself may name.
constexpr OptionName option_names[] = {
    {"num_warps", &KernelOptions::num_warps, &TritonLaunch::num_warps},
    {"num_stages", &KernelOptions::num_stages, &TritonLaunch::num_stages},
    {"num_ctas", &KernelOptions::num_ctas, &TritonLaunch::num_ctas},
};

// The number of configs that could be taken.
std::size_t take_config(Resolution& r, const Decorator& decorator, const TritonLaunch& launch) {
  const python::Autotune autotune = read_autotune(r.evaluator, decorator);
  const python::ConfigValue& config =
      autotune.configs[std::min(r.config, autotune.configs.size() - 1)];
  for (const auto& [name, value] : config.meta.items) {
    const std::string& parameter = *name.get_if<std::string>();
    if (r.signature.contains(parameter))
      throw ArgumentError(
          fmt::format("'{}' is set by the triton.autotune of kernel '{}' and "
                      "cannot be given at the launch as well",
                      parameter, r.state.name));
    r.set(parameter, value, "a config");
  }
  if (!launch.num_warps) r.options.num_warps = static_cast<int>(config.num_warps);
  if (!launch.num_stages) r.options.num_stages = static_cast<int>(config.num_stages);
  if (!launch.num_ctas) r.options.num_ctas = static_cast<int>(config.num_ctas);
  if (!launch.maxnreg && config.maxnreg) r.options.maxnreg = static_cast<int>(*config.maxnreg);
  return autotune.configs.size();
}

// True when a heuristic's result is an option of the launch rather than an argument.
bool set_option(Resolution& r, const TritonLaunch& launch, const std::string& name,
                const python::Value& value) {
  for (const OptionName& entry : option_names) {
    if (entry.name != name) continue;
    const std::optional<std::int64_t> number = value.integer();
    if (!number)
      throw ArgumentError(
          fmt::format("a heuristic of kernel '{}' sets '{}' to {}, not to an integer", r.state.name,
                      name, python::repr(value)));
    if (!(launch.*entry.given)) r.options.*entry.option = static_cast<int>(*number);
    return true;
  }
  return false;
}

void apply_heuristics_of(Resolution& r, const Decorator& decorator, const TritonLaunch& launch) {
  for (const python::Heuristic& heuristic : read_heuristics(r.evaluator, decorator)) {
    python::apply_heuristics(r.evaluator, {heuristic}, r.arguments);
    const python::Value& value = *r.arguments.find(heuristic.name);
    if (!set_option(r, launch, heuristic.name, value)) r.set(heuristic.name, value, "a heuristic");
  }
}

// A kernel may have options of the launch as constants: num_warps: tl.constexpr.
void pass_options(Resolution& r) {
  for (const OptionName& entry : option_names) {
    const std::string name(entry.name);
    if (r.has_parameter(name) && !r.signature.contains(name))
      r.set(name, static_cast<std::int64_t>(r.options.*entry.option), "the launch");
  }
}

void check_complete(const Resolution& r) {
  for (const TritonParameter& parameter : r.state.parameters) {
    if (parameter.has_default || r.signature.contains(parameter.name)) continue;
    throw ArgumentError(
        parameter.is_constexpr
            ? fmt::format("kernel '{}' needs a value for '{}', a tl.constexpr; pass "
                          "tw::constant(\"{}\", ...)",
                          r.state.name, parameter.name, parameter.name)
            : fmt::format("kernel '{}' needs an argument for '{}'", r.state.name, parameter.name));
  }
}

KernelOptions options_of(const TritonLaunch& launch) {
  return {.num_warps = launch.num_warps.value_or(4),
          .num_stages = launch.num_stages.value_or(3),
          .num_ctas = launch.num_ctas.value_or(1),
          .maxnreg = launch.maxnreg,
          .fp_fusion = launch.fp_fusion,
          .flush_to_zero = launch.flush_to_zero,
          .debug = launch.debug || settings().debug};
}

// Outermost decorators run first, so that stacking decides what heuristics see. Returns how many
// configs there are.
std::size_t fill_in(Resolution& r, const TritonLaunch& launch) {
  std::size_t configs = 1;
  for (const Decorator& decorator : r.state.function.decorators) {
    if (launch.bare) break;
    if (decorator.kind == Decorator::Kind::Autotune) configs = take_config(r, decorator, launch);
    if (decorator.kind == Decorator::Kind::Heuristics) apply_heuristics_of(r, decorator, launch);
  }
  pass_options(r);
  check_complete(r);
  return configs;
}

std::vector<std::size_t> parameters_of(const TritonKernel::State& state,
                                       const std::vector<std::string>& argument_names) {
  std::vector<std::size_t> indices;
  for (const std::string& name : argument_names) {
    const auto found =
        std::find_if(state.parameters.begin(), state.parameters.end(),
                     [&](const TritonParameter& parameter) { return parameter.name == name; });
    if (found == state.parameters.end())
      throw ArgumentError(
          fmt::format("kernel '{}' takes a tuple for '{}', which cannot be passed "
                      "from C++; pass its parts as parameters of their own",
                      state.name, name.substr(0, name.find('.'))));
    indices.push_back(static_cast<std::size_t>(found - state.parameters.begin()));
  }
  return indices;
}

const Target& target_of(const LaunchPlace& place) {
  return place.interpret ? Target::host() : place.device.target();
}

std::unique_ptr<Specialization> compile_one(Resolution& r, const LaunchPlace& place) {
  check_options(r.state.name, r.options);
  auto result = std::make_unique<Specialization>();
  TileKernel tiles =
      lower_to_tiles(r.state.loader, r.state.function, r.signature, target_of(place), r.options);
  for (const std::string& note : tiles.lowered.notes) log_line("compile", note);
  result->argument_parameters = parameters_of(r.state, tiles.lowered.argument_names);
  result->signature = r.signature;
  result->options = r.options;
  if (place.interpret) {
    result->tiles = std::move(tiles);
    return result;
  }
  const KernelSource source = emit_source(r.state.loader, tiles, target_of(place), r.options);
  result->function = Module::load(source, place.device).function(source.kernels.front().name);
  return result;
}

std::string code_key(const Resolution& r, const LaunchPlace& place) {
  const KernelOptions& o = r.options;
  return fmt::format("{} {} | {} {} {} {} {}{}{} | {}", place.device.name(), place.interpret,
                     o.num_warps, o.num_stages, o.num_ctas, o.maxnreg.value_or(0), o.fp_fusion,
                     o.flush_to_zero, o.debug, signature_text(r.state.parameters, r.signature));
}

// The first config that compiles; the error of the first when none does.
const Specialization& resolve(TritonKernel::State& state, const TritonSignature& given,
                              const python::DictValue& arguments, const TritonLaunch& launch,
                              const LaunchPlace& place) {
  std::exception_ptr first_error;
  std::size_t configs = 1;
  for (std::size_t config = 0; config < configs; ++config) {
    Resolution r{state,
                 python::Evaluator(state.loader, {.facts = facts_of(target_of(place))}),
                 given,
                 arguments,
                 options_of(launch),
                 config};
    configs = fill_in(r, launch);
    std::unique_ptr<Specialization>& known = state.compiled[code_key(r, place)];
    if (known) return *known;
    try {
      known = compile_one(r, place);
      return *known;
    } catch (const UserError&) {
      if (!first_error) first_error = std::current_exception();
      state.compiled.erase(code_key(r, place));
    }
  }
  std::rethrow_exception(first_error);
}

bool asks_only_for_none(const python::Node* node) {
  if (const auto* both = python::cast_if<python::BoolOp>(node))
    return std::all_of(both->values.begin(), both->values.end(), asks_only_for_none);
  const auto* compare = python::cast_if<python::Compare>(node);
  return compare != nullptr && python::is<python::Subscript>(compare->left) &&
         compare->comparators.size() == 1 &&
         python::is<python::NoneLiteral>(compare->comparators[0]);
}

}  // namespace

const Specialization& make_specialization(TritonKernel::State& state, const Hash128& key,
                                          const TritonArgument* const* slots,
                                          const TritonLaunch& launch, const LaunchPlace& place) {
  const std::lock_guard lock(state.mutex);
  if (const Specialization* found = state.table.find(key)) return *found;
  TritonSignature signature;
  python::DictValue arguments;
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const TritonParameter& parameter = state.parameters[i];
    if (slots[i] == nullptr) continue;
    const ParameterType type = parameter_type(specialize(state.name, parameter, *slots[i]));
    arguments.set(parameter.name, seen(slots[i], type));
    signature[parameter.name] = type;
  }
  const Specialization& made = resolve(state, signature, arguments, launch, place);
  state.table.add(key, &made);
  return made;
}

const Specialization& make_specialization(TritonKernel::State& state, std::string_view text,
                                          const TritonLaunch& launch, const LaunchPlace& place) {
  const std::lock_guard lock(state.mutex);
  // What configs and heuristics set may be left out.
  std::vector<TritonParameter> parameters = state.parameters;
  for (TritonParameter& parameter : parameters)
    parameter.has_default = parameter.has_default || parameter.is_constexpr;
  const TritonSignature signature = parse_signature(state.name, parameters, text);
  python::DictValue arguments;
  for (const auto& [name, type] : signature) arguments.set(name, seen(nullptr, type));
  return resolve(state, signature, arguments, launch, place);
}

bool heuristics_read_values(const python::DecoratedFunction& function) {
  for (const Decorator& decorator : function.decorators) {
    if (decorator.kind != Decorator::Kind::Heuristics) continue;
    const python::Node* values = decorator.call == nullptr || decorator.call->arguments.empty()
                                     ? nullptr
                                     : decorator.call->arguments[0];
    const auto* dict = python::cast_if<python::Dict>(values);
    if (dict == nullptr) return true;
    for (const python::Node* value : dict->values) {
      const auto* lambda = python::cast_if<python::Lambda>(value);
      if (lambda == nullptr || !asks_only_for_none(lambda->body)) return true;
    }
  }
  return false;
}

}  // namespace tilewright
