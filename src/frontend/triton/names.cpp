// SPDX-License-Identifier: Apache-2.0
// frontend/triton/names.cpp — tables of names.
#include "frontend/triton/names.h"

#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "frontend/triton/types.h"

namespace tilewright::triton {
namespace {

constexpr std::string_view language_prefix = "triton.language.";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Longer prefixes first: the first that matches is replaced.
struct Alias {
  std::string_view from;
  std::string_view to;
};
constexpr Alias prefixes[] = {
    {"triton.language.core.PropagateNan", "triton.language.PropagateNan"},
    {"triton.language.extra.hip.libdevice", "triton.language.extra.libdevice"},
    {"triton.language.extra.intel.libdevice", "triton.language.extra.libdevice"},
    {"triton.language.core.extra", "triton.language.extra"},
    {"triton.language.core.math", "triton.language.math"},
    {"tl", "triton.language"},
};

constexpr Alias names[] = {
    {"triton.language.tanh", "triton.language.extra.libdevice.tanh"},
    {"triton.language.math.abs", "triton.language.abs"},
    {"triton.language.core.tanh", "triton.language.extra.libdevice.tanh"},
    {"triton.language._experimental_make_tensor_descriptor",
     "triton.language.make_tensor_descriptor"},
};

struct Refusal {
  std::string_view name;  // after "triton.language."
  std::string_view what;
  std::string_view hint;
};
constexpr Refusal refusals[] = {
    {"static", "tl.static does not exist in Triton",
     "use tl.static_assert, tl.static_print, tl.static_range or tl.constexpr"},
    {"barrier", "tl.barrier does not exist in Triton", "use tl.debug_barrier()"},
    {"atomic_poll", "tl.atomic_poll is not supported", "use a loop around tl.atomic_cas"},
    {"extern_elementwise", "tl.extern_elementwise is not supported", "use a libdevice function"},
    {"_experimental_descriptor_load", "tl._experimental_descriptor_load is not supported",
     "use tl.make_tensor_descriptor and desc.load"},
    {"_experimental_descriptor_store", "tl._experimental_descriptor_store is not supported",
     "use tl.make_tensor_descriptor and desc.store"},
    {"globaltimer", "tl.extra.cuda.globaltimer is not supported",
     "time launches from outside: tilewright bench or profile"},
    {"smid", "tl.extra.cuda.smid is not supported",
     "take tl.program_id: which multiprocessor runs a program is not known"},
    {"float8e4b15", "the type float8e4b15 is not supported", "use tl.float8e4nv or tl.float8e5"},
    {"float8e4b8", "the type float8e4b8 of AMD GPUs is not supported", "use tl.float8e4nv"},
    {"float8e5b16", "the type float8e5b16 of AMD GPUs is not supported", "use tl.float8e5"},
};

const std::map<std::string_view, double>& math_constants() {
  static const std::map<std::string_view, double> table = {
      {"math.pi", 3.141592653589793},
      {"math.e", 2.718281828459045},
      {"math.tau", 6.283185307179586},
      {"math.inf", std::numeric_limits<double>::infinity()},
      {"math.nan", std::numeric_limits<double>::quiet_NaN()},
  };
  return table;
}

}  // namespace

std::string canonical_name(std::string_view full_name) {
  std::string full(full_name);
  for (const Alias& alias : prefixes)
    if (full == alias.from || starts_with(full, fmt::format("{}.", alias.from))) {
      full = std::string(alias.to) + full.substr(alias.from.size());
      break;
    }
  for (const Alias& alias : names)
    if (full == alias.from) return std::string(alias.to);
  return full;
}

std::optional<Value> constant_named(std::string_view full_name) {
  if (const auto found = math_constants().find(full_name); found != math_constants().end())
    return Value::number(found->second);
  constexpr std::string_view nan_mode = "triton.language.PropagateNan.";
  if (full_name == "triton.language.PropagateNan.ALL" ||
      full_name == "triton.language.PropagateNan.NONE")
    return Value::text(fmt::format("PropagateNan.{}", full_name.substr(nan_mode.size())));
  if (!starts_with(full_name, language_prefix)) return {};
  const std::string_view name = full_name.substr(full_name.rfind('.') + 1);
  if (name == "TRITON_MAX_TENSOR_NUMEL") return Value::integer(1048576);
  if (name == "CONSTEXPR_0") return Value::integer(0);
  // Users write the long names; pi32_t and int_ are no types of tl.
  if (const std::optional<DType> dtype = dtype_named(name))
    if (starts_with(triton_name(*dtype), "fp") ? !starts_with(name, "fp") : name != "bf16")
      return TypeValue{ir::Type::scalar(*dtype)};
  return {};
}

std::optional<Mistake> refused_name(std::string_view full_name) {
  if (!starts_with(full_name, language_prefix)) return {};
  const std::string_view name = full_name.substr(full_name.rfind('.') + 1);
  for (const Refusal& refusal : refusals)
    if (refusal.name == name) return Mistake{std::string(refusal.what), std::string(refusal.hint)};
  return {};
}

}  // namespace tilewright::triton
