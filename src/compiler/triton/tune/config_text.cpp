// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/config_text.cpp — writes and reads items with equal signs.
#include "compiler/triton/tune/config_text.h"

#include <fmt/format.h>

#include "compiler/triton/constants.h"

namespace tilewright {
namespace {

// The first item of a list by ", ", which quotes protect.
std::string_view first_item(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != 0) quote = text[i] == quote ? 0 : quote;
    else if (text[i] == '\'' || text[i] == '"') quote = text[i];
    else if (text[i] == ',') return text.substr(0, i);
  }
  return text;
}

std::string options_text(const python::ConfigValue& config) {
  std::string text =
      fmt::format("num_warps={}, num_stages={}", config.num_warps, config.num_stages);
  if (config.num_ctas != 1) text += fmt::format(", num_ctas={}", config.num_ctas);
  if (config.maxnreg) text += fmt::format(", maxnreg={}", *config.maxnreg);
  return text;
}

bool add_item(python::ConfigValue& config, std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  const std::string name(item.substr(0, equals));
  const std::optional<triton::Value> constant = parse_constant(item.substr(equals + 1));
  if (!constant) return false;
  const python::Value value = host_value_of(*constant);
  if (const auto integer = value.integer(); integer && set_config_option(config, name, *integer))
    return true;
  config.meta.set(name, value);
  return true;
}

}  // namespace

bool set_config_option(python::ConfigValue& config, std::string_view name, std::int64_t value) {
  if (name == "num_warps") config.num_warps = value;
  else if (name == "num_stages") config.num_stages = value;
  else if (name == "num_ctas") config.num_ctas = value;
  else if (name == "maxnreg") config.maxnreg = value;
  else return false;
  return true;
}

std::string config_text(const python::ConfigValue& config) {
  std::string text;
  for (const auto& [name, value] : config.meta.items) {
    const std::optional<triton::Value> constant = constant_of(value);
    text += fmt::format("{}={}, ", python::str(name), constant ? constant_text(*constant) : "?");
  }
  return text + options_text(config);
}

std::optional<python::ConfigValue> parse_config_text(std::string_view text) {
  python::ConfigValue config;
  while (!text.empty()) {
    const std::string_view item = first_item(text);
    if (!add_item(config, item)) return std::nullopt;
    text.remove_prefix(item.size());
    if (text.empty()) break;
    if (!text.starts_with(", ") || text.size() == 2) return std::nullopt;
    text.remove_prefix(2);
  }
  return config;
}

std::string config_as_python(const python::ConfigValue& config) {
  std::string meta;
  for (const auto& [name, value] : config.meta.items)
    meta +=
        fmt::format("{}{}: {}", meta.empty() ? "" : ", ", python::repr(name), python::repr(value));
  return fmt::format("triton.Config({{{}}}, {})", meta, options_text(config));
}

}  // namespace tilewright
