// SPDX-License-Identifier: Apache-2.0
// cli/config_file.cpp — JSON values to constants, each with its place in the message.
#include "cli/config_file.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/input_file.h"
#include "base/nearest.h"
#include "bench/json.h"
#include "compiler/triton/tune/config_text.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

Json parse(const std::string& path) {
  const std::string text = read_input(path);
  try {
    return parse_json(text);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const auto line = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n') + 1;
    const std::size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1);
    const std::size_t column = at - (begin == std::string::npos || at == 0 ? 0 : begin + 1) + 1;
    throw FormatError(
        fmt::format("{}:{}:{}: this is no JSON; a list of configs looks like "
                    "[{{\"BLOCK\": 64, \"num_warps\": 4}}]",
                    path, line, column));
  } catch (const Json::out_of_range& error) {
    // "... number overflow parsing '1e400'"
    const std::string what = error.what();
    const std::size_t quote = std::min(what.find('\''), what.size());
    throw FormatError(fmt::format("{}: the number {} is beyond what float64 holds (up to 1.8e308)",
                                  path, what.substr(quote)));
  }
}

class Reader {
 public:
  Reader(const std::string& path, const TritonKernel& kernel)
      : path_(path), kernel_(kernel), names_(kernel.parameters()) {
    for (const char* option : {"num_warps", "num_stages", "num_ctas", "maxnreg"})
      names_.emplace_back(option);
  }

  python::ConfigValue config(const Json& item, std::size_t number) {
    place_ = fmt::format("{}: config {}", path_, number);
    if (!item.is_object())
      fail(fmt::format("must be an object of names and values, not {}", item.type_name()));
    python::ConfigValue config;
    for (const auto& [name, value] : item.items()) add(config, name, value);
    return config;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw FormatError(fmt::format("{} {}", place_, why));
  }

  void add(python::ConfigValue& config, const std::string& name, const Json& value) const {
    if (std::find(names_.begin(), names_.end(), name) == names_.end())
      fail(fmt::format("names '{}', which is neither a parameter of kernel '{}' nor an option{}",
                       name, kernel_.name(), suggest_names(name, names_)));
    python::ConfigValue option;
    if (set_config_option(option, name, 0)) {
      if (!value.is_number_integer())
        fail(fmt::format("sets {} to {}, not to a whole number", name, value.dump()));
      set_config_option(config, name, integer(name, value));
      return;
    }
    config.meta.set(name, constant(name, value));
  }

  std::int64_t integer(const std::string& name, const Json& value) const {
    const bool is_beyond = value.is_number_unsigned() &&
                           value.get<std::uint64_t>() >
                               static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (is_beyond)
      fail(fmt::format("sets '{}' to {}, which has more than 64 bits with its sign", name,
                       value.dump()));
    return value.get<std::int64_t>();
  }

  python::Value constant(const std::string& name, const Json& value) const {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return integer(name, value);
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    if (value.is_null()) return {};
    fail(fmt::format("sets '{}' to {}, which is no constant", name, value.dump()));
  }

  const std::string& path_;
  const TritonKernel& kernel_;
  std::vector<std::string> names_;
  std::string place_;
};

}  // namespace

std::vector<python::ConfigValue> read_configs(const std::string& path, const TritonKernel& kernel) {
  const Json list = parse(path);
  if (!list.is_array())
    throw FormatError(fmt::format(
        "{}: this holds no list of configs (it is of JSON's type {}); a list looks like "
        "[{{\"BLOCK\": 64, \"num_warps\": 4}}]",
        path, list.type_name()));
  if (list.empty())
    throw FormatError(fmt::format("{}: the list of configs is empty; give at least one", path));
  Reader reader(path, kernel);
  std::vector<python::ConfigValue> configs;
  for (std::size_t i = 0; i < list.size(); ++i) configs.push_back(reader.config(list[i], i + 1));
  return configs;
}

}  // namespace tilewright::cli
