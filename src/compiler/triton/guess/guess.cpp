// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/guess.cpp — one parameter after another, from the surest source to the name alone.
#include "compiler/triton/guess/guess.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/check.h"
#include "compiler/triton/constants.h"
#include "compiler/triton/guess/launches.h"
#include "compiler/triton/guess/names.h"

namespace tilewright {
namespace {

using python::Decorator;
using triton::ParameterType;

// All that is known before names are asked.
struct Sources {
  std::map<std::string, triton::Value> configured;  // by one of the configs
  std::vector<python::Heuristic> heuristics;
  std::map<std::string, triton::Value> launched;  // literals of the file's own launches
};

std::map<std::string, triton::Value> config_values(python::Evaluator& evaluator,
                                                   const python::DecoratedFunction& function,
                                                   bool wants_last) {
  std::map<std::string, triton::Value> values;
  for (const Decorator& decorator : function.decorators) {
    if (decorator.kind != Decorator::Kind::Autotune) continue;
    try {
      const python::Autotune autotune = read_autotune(evaluator, decorator);
      const python::ConfigValue& config =
          wants_last ? autotune.configs.back() : autotune.configs.front();
      for (const auto& [name, value] : config.meta.items)
        if (const auto constant = constant_of(value))
          values.emplace(*name.get_if<std::string>(), *constant);
      values.emplace("num_warps", triton::Value::integer(config.num_warps));
      values.emplace("num_stages", triton::Value::integer(config.num_stages));
    } catch (const UserError&) {
      // A list that other Python makes; names must do.
    }
  }
  return values;
}

std::vector<python::Heuristic> all_heuristics(python::Evaluator& evaluator,
                                              const python::DecoratedFunction& function) {
  std::vector<python::Heuristic> all;
  for (const Decorator& decorator : function.decorators) {
    if (decorator.kind != Decorator::Kind::Heuristics) continue;
    try {
      const auto some = read_heuristics(evaluator, decorator);
      all.insert(all.end(), some.begin(), some.end());
    } catch (const UserError&) {
      // As above.
    }
  }
  return all;
}

std::map<std::string, triton::Value> launch_literals(python::Evaluator& evaluator,
                                                     const python::DecoratedFunction& function) {
  std::map<std::string, triton::Value> values;
  std::vector<std::string_view> names;
  for (const python::Node* node : function.function->parameters)
    names.push_back(python::cast<python::Parameter>(node).name);
  names.insert(names.end(), {"num_warps", "num_stages"});
  for (const KernelLaunch& launch : find_launches(*function.module, function.name)) {
    std::size_t position = 0;
    for (const std::string_view name : names) {
      const python::Node* given = launch.argument(name, position++);
      if (given == nullptr || values.contains(std::string(name))) continue;
      const bool is_literal =
          python::is<python::IntLiteral>(given) || python::is<python::FloatLiteral>(given) ||
          python::is<python::BoolLiteral>(given) || python::is<python::StrLiteral>(given) ||
          python::is<python::NoneLiteral>(given) || python::is<python::Attribute>(given);
      if (!is_literal) continue;
      try {
        if (const auto constant = constant_of(evaluator.evaluate(*launch.module, given)))
          values.emplace(name, *constant);
      } catch (const UserError&) {
        // x.shape and the like
      }
    }
  }
  return values;
}

ParameterType guess_runtime(const TritonParameter& parameter, const ParameterUse& use,
                            const GuessChoices& choices) {
  if (use.is_tuple && !parameter.type) {
    ParameterType tuple{.kind = ParameterType::Kind::Tuple};
    tuple.items.assign(
        2, use.is_pointer ? pointer_parameter(choices.floats, 16) : scalar_parameter(DType::Int32));
    return tuple;
  }
  if (parameter.type) {
    ParameterType type;
    type.type = *parameter.type;
    return type;
  }
  if (use.is_pointer && use.holds_flags && !use.holds_indices)
    return pointer_parameter(DType::Bool, 16);
  if (use.is_pointer || (looks_like_pointer_name(parameter.name) && !use.is_integer)) {
    const bool is_index =
        (use.holds_indices && choices.indices_win) || (use.holds_integers && choices.integers_win);
    const bool integers = is_index || (!choices.floats_everywhere && !use.holds_floats &&
                                       (use.holds_integers || looks_like_integers(parameter.name)));
    return pointer_parameter(integers ? choices.integers : choices.floats, 16);
  }
  const bool is_float = !use.is_integer && (use.is_float || looks_like_float(parameter.name));
  return scalar_parameter(is_float ? DType::Float32 : DType::Int32);
}

triton::Value guess_constant(const TritonParameter& parameter, const ParameterUse& use,
                             const GuessChoices& choices) {
  if (use.is_type) return triton::TypeValue{ir::Type::scalar(choices.floats)};
  if (!use.texts.empty()) return triton::Value::text(use.texts[choices.text % use.texts.size()]);
  // One of several kinds: `if KIND == 0: ... elif KIND == 1: ...`.
  if (use.numbers.size() > 1 && !use.is_size && !use.is_unrolled) {
    const auto which = static_cast<std::ptrdiff_t>(choices.text % use.numbers.size());
    return triton::Value::integer(*std::next(use.numbers.begin(), which));
  }
  const bool is_number = use.is_size || use.is_integer || use.is_unrolled;
  if (use.is_optional && choices.optionals_are_none && !is_number) return {};
  if (use.is_flag && !is_number) return triton::Value::boolean(choices.flags);
  if (!is_number && looks_like_flag(parameter.name)) return triton::Value::boolean(choices.flags);
  if (!is_number && looks_like_type(parameter.name))
    return triton::TypeValue{ir::Type::scalar(choices.floats)};
  // Each round of an unrolled loop is code, so that such numbers are small in practice.
  if (use.is_unrolled) return triton::Value::integer(use.is_size ? choices.unrolled : 2);
  if (!is_number && looks_like_float(parameter.name)) return triton::Value::number(0.5);
  return triton::Value::integer(plausible_number(parameter.name, choices.size, choices.extent));
}

// The host makes a descriptor of blocks that are as far apart as the kernel's accesses. A dimension
// without such steps is read whole when it is the last one, else element by element.
ParameterType guess_descriptor(const std::vector<TritonParameter>& parameters,
                               const TritonSignature& signature, const ParameterUse& use,
                               const GuessChoices& choices) {
  ParameterType type = pointer_parameter(choices.floats, 16);
  type.kind = ParameterType::Kind::Descriptor;
  for (const int step : use.block_steps) {
    const auto found = step < 0 ? signature.end()
                                : signature.find(parameters[static_cast<std::size_t>(step)].name);
    const auto* constant =
        found == signature.end() ? nullptr : found->second.constant.get_if<triton::Constant>();
    const auto* number = constant ? std::get_if<triton::Int128>(&constant->value) : nullptr;
    const bool is_size = number != nullptr && *number > 0 && *number <= 1 << 16;
    const bool is_last = type.block_shape.size() + 1 == use.block_steps.size();
    const std::int64_t size =
        is_size ? static_cast<std::int64_t>(*number) : (is_last ? choices.extent : 1);
    type.block_shape.push_back(
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size))));
  }
  return type;
}

// What heuristics see of the arguments: tensors of one shape, numbers that fit it.
python::Value seen_by_heuristics(const ParameterType& type) {
  if (type.kind == ParameterType::Kind::Constant) return host_value_of(type.constant);
  if (type.type.is_pointer)
    return python::TensorValue{
        fmt::format("torch.{}", name_of(type.type.dtype)), {64, 64}, {64, 1}};
  if (type.type.is_float()) return 0.5;
  return 64;
}

void apply(python::Evaluator& evaluator, const std::vector<python::Heuristic>& heuristics,
           TritonSignature& signature) {
  python::DictValue arguments;
  for (const auto& [name, type] : signature) arguments.set(name, seen_by_heuristics(type));
  for (const python::Heuristic& heuristic : heuristics) {
    try {
      apply_heuristics(evaluator, {heuristic}, arguments);
      const python::Value* value = arguments.find(heuristic.name);
      // A heuristic may also set num_warps, which is no parameter.
      if (value == nullptr || !signature.contains(heuristic.name)) continue;
      if (const auto constant = constant_of(*value))
        signature[heuristic.name] = constant_parameter(*constant);
    } catch (const UserError&) {
      // The guess by name stays.
    }
  }
}

// Launch options come from the config, else from the file's own launches.
void set_option(const Sources& sources, const std::string& name, int& option) {
  for (const auto* values : {&sources.configured, &sources.launched}) {
    const auto found = values->find(name);
    const auto* constant =
        found == values->end() ? nullptr : found->second.get_if<triton::Constant>();
    const auto* number = constant ? std::get_if<triton::Int128>(&constant->value) : nullptr;
    if (number == nullptr) continue;
    option = static_cast<int>(*number);
    return;
  }
}

// A default may ask something of a machine that nobody can tell here: then it is guessed too.
bool is_default_enough(const TritonParameter& parameter, const ParameterUse& use) {
  return parameter.default_value && (parameter.is_constexpr || !use.is_pointer);
}

}  // namespace

const std::vector<GuessChoices>& guess_choices() {
  static const std::vector<GuessChoices> choices = {
      {.name = "float32"},
      {.last_config = true, .name = "the last config"},
      {.indices_win = true, .name = "indices"},
      {.flags = true, .name = "flags on"},
      {.integers = DType::Int32, .indices_win = true, .name = "int32 indices"},
      {.floats = DType::Float16, .name = "float16"},
      {.optionals_are_none = true, .name = "optional arguments absent"},
      {.size = 16, .name = "small blocks"},
      {.size = 128, .extent = 128, .name = "large blocks"},
      {.size = 32, .extent = 1024, .name = "long dimensions"},
      {.size = 16, .extent = 16, .unrolled = 16, .text = 1, .name = "the second literal"},
      {.flags = true, .text = 2, .name = "the third literal"},
      {.integers_win = true, .name = "integers"},
      {.integers = DType::Int32, .extent = 1024, .integers_win = true, .name = "int32"},
      {.floats = DType::Int8, .integers = DType::Int32, .extent = 1024, .name = "int8"},
      {.floats_everywhere = true, .name = "no integer tensors"},
      {.floats = DType::Int32, .integers = DType::Int32, .name = "integers only"},
      {.floats = DType::UInt8, .integers = DType::Int32, .name = "bytes"},
      {.floats = DType::Float16,
       .integers = DType::Int32,
       .flags = true,
       .size = 16,
       .indices_win = true,
       .name = "float16, flags on, small blocks"},
  };
  return choices;
}

Guess Guesser::guess(const python::DecoratedFunction& function, const GuessChoices& choices,
                     const python::Facts& facts) {
  python::Evaluator evaluator(loader_, {.facts = facts});
  const Sources sources{config_values(evaluator, function, choices.last_config),
                        all_heuristics(evaluator, function), launch_literals(evaluator, function)};
  std::set<std::string> by_heuristics;
  for (const python::Heuristic& heuristic : sources.heuristics)
    by_heuristics.insert(heuristic.name);
  const FunctionUse& uses = usage_.read(*function.module, *function.function);
  TritonSignature signature;
  const auto parameters = read_parameters(loader_, evaluator, function);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const TritonParameter& parameter = parameters[i];
    const ParameterUse& use = uses.parameters[i];
    if (const auto found = sources.configured.find(parameter.name);
        found != sources.configured.end() && parameter.is_constexpr)
      signature[parameter.name] = constant_parameter(found->second);
    else if (const auto launched = sources.launched.find(parameter.name);
             parameter.is_constexpr && launched != sources.launched.end() &&
             !by_heuristics.contains(parameter.name))
      signature[parameter.name] = constant_parameter(launched->second);
    else if (is_default_enough(parameter, use)) continue;
    else if (use.is_one) signature[parameter.name] = constant_parameter(triton::Value::integer(1));
    else if (parameter.is_constexpr)
      signature[parameter.name] = constant_parameter(guess_constant(parameter, use, choices));
    else if (choices.optionals_are_none && use.is_optional)
      signature[parameter.name] = constant_parameter(triton::Value());
    else signature[parameter.name] = guess_runtime(parameter, use, choices);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterUse& use = uses.parameters[i];
    const auto found = signature.find(parameters[i].name);
    if (use.is_pointer || use.block_steps.empty() || found == signature.end()) continue;
    if (found->second.kind == ParameterType::Kind::Tensor)
      found->second = guess_descriptor(parameters, signature, use, choices);
  }
  apply(evaluator, sources.heuristics, signature);
  Guess guess{std::move(signature)};
  set_option(sources, "num_warps", guess.num_warps);
  set_option(sources, "num_stages", guess.num_stages);
  return guess;
}

std::vector<python::DecoratedFunction> Guesser::entries(
    const std::vector<const python::LoadedModule*>& modules) {
  std::vector<python::DecoratedFunction> all;
  std::set<const python::Node*> called;
  for (const python::LoadedModule* module : modules)
    for (python::DecoratedFunction& function : jit_functions(loader_, *module)) {
      const FunctionUse& use = usage_.read(*module, *function.function);
      called.insert(use.called.begin(), use.called.end());
      if (!use.returns_value) all.push_back(std::move(function));
    }
  std::erase_if(all, [&](const python::DecoratedFunction& function) {
    return called.contains(function.function) &&
           find_launches(*function.module, function.name).empty();
  });
  return all;
}

}  // namespace tilewright
