// SPDX-License-Identifier: Apache-2.0
// compiler/triton/resolve.cpp — arguments, a config and heuristics to a signature, and that to
// source.
#include "compiler/pack_blocks.h"
#include "compiler/triton/resolve.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/diagnostic.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "compiler/launch_watch.h"
#include "compiler/triton/argument_key.h"
#include "compiler/triton/constants.h"

namespace tilewright {
namespace {

using python::Decorator;
using triton::ParameterType;

// What heuristics see of an argument.
python::Value seen(const TritonArgument* argument, const ParameterType& type) {
  if (type.kind == ParameterType::Kind::Constant) return host_value_of(type.constant);
  if (type.type.is_pointer)
    return python::TensorValue{.dtype = fmt::format("torch.{}", name_of(type.type.dtype)),
                               .shape = {},
                               .strides = {},
                               .has_shape = false,
                               .is_descriptor = type.kind == ParameterType::Kind::Descriptor};
  if (type.kind == ParameterType::Kind::Tuple) {
    std::vector<python::Value> items;
    for (std::size_t i = 0; i < type.items.size(); ++i)
      items.push_back(seen(argument ? &items_of(*argument)[i] : nullptr, type.items[i]));
    return python::make_tuple(std::move(items));
  }
  if (argument == nullptr) return 1;  // precompiled by its type alone
  const Argument& value = argument->value;
  TritonParameter constant{.is_constexpr = true};
  return host_value_of(parameter_type(specialize("", constant, TritonArgument(value))).constant);
}

// A signature while it is being filled in.
struct Resolution {
  const LaunchRequest& request;
  const python::ConfigValue* config;
  python::Evaluator evaluator;
  TritonSignature signature;
  python::DictValue arguments;  // as heuristics see them
  KernelOptions options;

  const std::string& kernel() const { return request.state.name; }

  void set(const std::string& name, const python::Value& value, std::string_view by) {
    const std::optional<triton::Value> constant = constant_of(value);
    if (!constant)
      throw ArgumentError(fmt::format("{} of kernel '{}' sets '{}' to {}, which is no constant", by,
                                      kernel(), name, python::repr(value)));
    static_cast<void>(parameter_named(kernel(), request.state.parameters, name));
    signature[name] = constant_parameter(*constant);
    arguments.set(name, value);
  }

  bool has_parameter(std::string_view name) const {
    return std::any_of(request.state.parameters.begin(), request.state.parameters.end(),
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

// Which numbers are good ones check_options says; they must not wrap on the way there.
int option_number(const Resolution& r, std::string_view by, std::string_view name,
                  std::int64_t number) {
  if (number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max())
    return static_cast<int>(number);
  throw ArgumentError(fmt::format("{} of kernel '{}' sets {} to {}, which is out of all range", by,
                                  r.kernel(), name, number));
}

// The dict of a launch for a pre_hook, which may change its tensors; they are in `effects`.
python::Value arguments_for_hook(
    const Resolution& r, std::map<std::string, std::shared_ptr<python::TensorEffects>>& effects) {
  python::DictValue given;
  for (const auto& [name, value] : r.arguments.items) {
    python::Value copy = value;
    if (const auto* tensor = value.get_if<python::TensorValue>()) {
      python::TensorValue changeable = *tensor;
      changeable.effects = std::make_shared<python::TensorEffects>();
      effects[*name.get_if<std::string>()] = changeable.effects;
      copy = python::Value(changeable);
    }
    given.set(name, copy);
  }
  return python::make_dict(given.items);
}

[[noreturn]] void fail_hook(const Resolution& r, const std::string& why) {
  throw ArgumentError(fmt::format(
      "the pre_hook of a config of kernel '{}' cannot be run: {}; a pre_hook may set the "
      "block_shape of descriptors, else do before the launch what it does and take it away",
      r.kernel(), why));
}

// A hook runs before every launch with its config. What it does to blocks of descriptors is the
// same each time and becomes a part of the signature.
void run_pre_hook(Resolution& r, const python::ConfigValue& config) {
  if (config.pre_hook == nullptr) return;
  const auto* function = config.pre_hook->get_if<python::FunctionValue>();
  if (function == nullptr || function->scope != nullptr)
    fail_hook(r, "it is no function of the module");
  std::map<std::string, std::shared_ptr<python::TensorEffects>> effects;
  const python::Value given = arguments_for_hook(r, effects);
  try {
    r.evaluator.call(*config.pre_hook, {given});
  } catch (const SyntaxOrTypeError& error) {
    fail_hook(r,
              fmt::format("line {}: {}", error.diagnostic().span.line, error.diagnostic().message));
  }
  for (const auto& [name, effect] : effects) {
    if (effect->is_zeroed) fail_hook(r, fmt::format("it sets '{}' to zero", name));
    if (!effect->block_shape) continue;
    ParameterType& type = r.signature.at(name);
    if (type.kind != ParameterType::Kind::Descriptor ||
        type.block_shape.size() != effect->block_shape->size())
      fail_hook(r, fmt::format("'{}' is no descriptor of {} dimensions", name,
                               effect->block_shape->size()));
    type.block_shape = *effect->block_shape;
  }
}

void apply_config(Resolution& r, const python::ConfigValue& config) {
  const TritonLaunch& launch = r.request.launch;
  for (const auto& [name, value] : config.meta.items) {
    const std::string& parameter = *name.get_if<std::string>();
    if (r.signature.contains(parameter))
      throw ArgumentError(fmt::format(
          "'{}' is set by {} of kernel '{}' and cannot be given at the "
          "launch as well",
          parameter, r.request.state.is_autotuned() ? "the triton.autotune" : "the configs",
          r.kernel()));
    r.set(parameter, value, "a config");
  }
  r.options.chooses_warps = false;
  const auto number = [&](std::string_view name, std::int64_t value) {
    return option_number(r, "a config", name, value);
  };
  if (!launch.num_warps) r.options.num_warps = number("num_warps", config.num_warps);
  if (!launch.num_stages) r.options.num_stages = number("num_stages", config.num_stages);
  if (!launch.num_ctas) r.options.num_ctas = number("num_ctas", config.num_ctas);
  if (!launch.maxnreg && config.maxnreg) r.options.maxnreg = number("maxnreg", *config.maxnreg);
  run_pre_hook(r, config);
}

// True when a heuristic's result is an option of the launch rather than an argument.
bool set_option(Resolution& r, const std::string& name, const python::Value& value) {
  for (const OptionName& entry : option_names) {
    if (entry.name != name) continue;
    const std::optional<std::int64_t> number = value.integer();
    if (!number)
      throw ArgumentError(
          fmt::format("a heuristic of kernel '{}' sets '{}' to {}, not to an integer", r.kernel(),
                      name, python::repr(value)));
    r.options.chooses_warps = false;
    if (!(r.request.launch.*entry.given))
      r.options.*entry.option = option_number(r, "a heuristic", name, *number);
    return true;
  }
  return false;
}

void apply_heuristics_of(Resolution& r, const Decorator& decorator) {
  for (const python::Heuristic& heuristic : read_heuristics(r.evaluator, decorator)) {
    python::apply_heuristics(r.evaluator, {heuristic}, r.arguments);
    const python::Value& value = *r.arguments.find(heuristic.name);
    if (!set_option(r, heuristic.name, value)) r.set(heuristic.name, value, "a heuristic");
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
  for (const TritonParameter& parameter : r.request.state.parameters) {
    if (parameter.has_default || r.signature.contains(parameter.name)) continue;
    throw ArgumentError(
        parameter.is_constexpr
            ? fmt::format("kernel '{0}' needs a value for '{1}', a tl.constexpr; pass "
                          "tw::constant(\"{1}\", ...), on the command line {1}=...",
                          r.kernel(), parameter.name)
            : fmt::format("kernel '{}' needs an argument for '{}'", r.kernel(), parameter.name));
  }
}

KernelOptions options_of(const TritonLaunch& launch) {
  return {.num_warps = launch.num_warps.value_or(4),
          .num_stages = launch.num_stages.value_or(3),
          .num_ctas = launch.num_ctas.value_or(1),
          .chooses_warps = !launch.num_warps && !launch.num_ctas,
          .maxnreg = launch.maxnreg,
          .fp_fusion = launch.fp_fusion,
          .flush_to_zero = launch.flush_to_zero,
          .debug = launch.debug || settings().debug};
}

// Outermost decorators run first, so that stacking decides what heuristics see.
void fill_in(Resolution& r) {
  const python::ConfigValue* config = r.config;
  const bool is_autotuned = r.request.state.is_autotuned() && !r.request.launch.bare;
  if (config != nullptr && !is_autotuned) apply_config(r, *config);
  for (const Decorator& decorator : r.request.state.function.decorators) {
    if (r.request.launch.bare) break;
    if (decorator.kind == Decorator::Kind::Autotune) {
      // A second list below the tuned one is not searched.
      apply_config(
          r, config != nullptr ? *config : read_autotune(r.evaluator, decorator).configs.front());
      config = nullptr;
    }
    if (decorator.kind == Decorator::Kind::Heuristics) apply_heuristics_of(r, decorator);
  }
  pass_options(r);
  check_complete(r);
}

// "x"; "ptrs.1" of a tuple; "desc.shape.0" and "desc.strides.0" of a descriptor.
ArgumentSource source_of(const LaunchRequest& request, const ResolvedLaunch& resolved,
                         const std::string& name) {
  const TritonKernel::State& state = request.state;
  const std::string base = name.substr(0, name.find('.'));
  const auto found =
      std::find_if(state.parameters.begin(), state.parameters.end(),
                   [&](const TritonParameter& parameter) { return parameter.name == base; });
  TW_CHECK(found != state.parameters.end(), "the argument '{}' comes from no parameter", name);
  ArgumentSource source{static_cast<std::size_t>(found - state.parameters.begin())};
  const ParameterType& type = resolved.signature.at(base);
  if (type.kind != ParameterType::Kind::Tuple && type.kind != ParameterType::Kind::Descriptor)
    return source;
  source.item = name == base ? 0 : std::stoi(name.substr(name.rfind('.') + 1));
  if (name.find(".shape.") != std::string::npos) source.item += 1;
  if (name.find(".strides.") != std::string::npos)
    source.item += 1 + static_cast<int>(type.block_shape.size());
  return source;
}

void check_keys(const LaunchRequest& request, const Decorator& decorator,
                const python::Autotune& autotune) {
  const std::vector<std::string> names = names_of(request.state.parameters);
  for (const std::string& key : autotune.key)
    if (std::find(names.begin(), names.end(), key) == names.end())
      python::fail_at(
          decorator.module->tree->source, decorator.node->span,
          fmt::format("the key '{}' of triton.autotune is no parameter of kernel '{}'{}", key,
                      request.state.name, suggest_names(key, names)));
}

}  // namespace

namespace {

// Tells the types of pointers which of them lie in the same memory.
void set_overlaps(LaunchRequest& request, const TritonArgument* const* slots) {
  const std::vector<TritonParameter>& parameters = request.state.parameters;
  Overlaps found;
  add_pointers(found, {slots, parameters.size()});
  const auto set = [&](ParameterType& type, const TritonArgument& argument) {
    for (const PointerMemory& pointer : found.pointers()) {
      if (pointer.argument != &argument.value) continue;
      type.memory = pointer.memory;
      type.address = pointer.address;
    }
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (slots[i] == nullptr) continue;
    ParameterType& type = request.given[parameters[i].name];
    const std::span<const TritonArgument> items = items_of(*slots[i]);
    if (type.kind == ParameterType::Kind::Descriptor) set(type, items[0]);
    else if (type.kind == ParameterType::Kind::Tuple)
      for (std::size_t k = 0; k < items.size(); ++k) set(type.items[k], items[k]);
    else set(type, *slots[i]);
  }
}

}  // namespace

LaunchRequest request_of(TritonKernel::State& state, const TritonArgument* const* slots,
                         const TritonLaunch& launch, const LaunchPlace& place) {
  LaunchRequest request{state, {}, {}, launch, place};
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const TritonParameter& parameter = state.parameters[i];
    if (slots[i] == nullptr) continue;
    const ParameterType type = specialized_type(state.name, parameter, *slots[i]);
    request.arguments.set(parameter.name, seen(slots[i], type));
    request.given[parameter.name] = type;
  }
  set_overlaps(request, slots);
  return request;
}

LaunchRequest request_of(TritonKernel::State& state, std::string_view text,
                         const TritonLaunch& launch, const LaunchPlace& place) {
  // What configs and heuristics set may be left out.
  std::vector<TritonParameter> parameters = state.parameters;
  for (TritonParameter& parameter : parameters)
    parameter.has_default = parameter.has_default || parameter.is_constexpr;
  LaunchRequest request{state, parse_signature(state.name, parameters, text), {}, launch, place};
  for (const auto& [name, type] : request.given) request.arguments.set(name, seen(nullptr, type));
  return request;
}

python::Evaluator evaluator_of(const LaunchRequest& request) {
  return python::Evaluator(request.state.loader, {.facts = facts_of(request.target())});
}

std::optional<KernelAutotune> autotune_of(const LaunchRequest& request) {
  const Decorator* decorator = request.state.function.find(Decorator::Kind::Autotune);
  if (decorator == nullptr || request.launch.bare) return std::nullopt;
  python::Evaluator evaluator = evaluator_of(request);
  KernelAutotune result{decorator, read_autotune(evaluator, *decorator)};
  check_keys(request, *decorator, result.content);
  return result;
}

ResolvedLaunch resolve(const LaunchRequest& request, const python::ConfigValue* config) {
  Resolution r{request,
               config,
               evaluator_of(request),
               request.given,
               request.arguments,
               options_of(request.launch)};
  fill_in(r);
  return {std::move(r.signature), r.options};
}

std::string code_key(const LaunchRequest& request, const ResolvedLaunch& resolved) {
  const KernelOptions& o = resolved.options;
  return fmt::format("{} {} {} | {}{} {} {} {} {}{}{} | {}", request.place.device.name(),
                     request.place.interpret + is_watched(request.place),
                     request.place.emulate != nullptr ? request.place.emulate->name : "-",
                     o.chooses_warps ? "~" : "", o.num_warps, o.num_stages, o.num_ctas,
                     o.maxnreg.value_or(0), o.fp_fusion, o.flush_to_zero, o.debug,
                     signature_text(request.state.parameters, resolved.signature));
}

KernelDraft draft(const LaunchRequest& request, const ResolvedLaunch& resolved) {
  TritonKernel::State& state = request.state;
  check_options(state.name, resolved.options);
  KernelDraft result;
  result.specialization = std::make_unique<TritonSpecialization>();
  TritonSpecialization& made = *result.specialization;
  result.tiles = is_watched(request.place)
                     ? lower_to_source(state.loader, state.function, resolved.signature,
                                       request.target(), resolved.options)
                     : lower_to_tiles(state.loader, state.function, resolved.signature,
                                      request.target(), resolved.options);
  for (const std::string& note : result.tiles.lowered.notes) log_line("compile", note);
  for (const std::string& line : result.tiles.lowered.printed) fmt::print("{}\n", line);
  for (const std::string& name : result.tiles.lowered.argument_names) {
    made.sources.push_back(source_of(request, resolved, name));
    made.takes_items |= made.sources.back().item >= 0;
  }
  made.names = result.tiles.lowered.argument_names;
  made.signature = resolved.signature;
  made.options = resolved.options;
  if (request.place.interpret) {
    made.tiles = std::move(result.tiles.lowered.kernel);
    return result;
  }
  made.is_emulated = request.place.emulate != nullptr;
  result.source = place_source(
      emit_source(state.loader, result.tiles, request.target(), resolved.options), request.place);
  return result;
}

void load_draft(KernelDraft& draft, Device device) {
  if (draft.specialization->tiles) return;  // interpreted
  draft.source =
      packed_source(draft.tiles.lowered.kernel, std::move(draft.source), device.target());
  draft.specialization->function = load_function(draft.source, device);
}

}  // namespace tilewright
