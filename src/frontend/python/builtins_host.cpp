// SPDX-License-Identifier: Apache-2.0
// frontend/python/builtins_host.cpp — what host code asks of the process and of packages: the
// environment, versions, functools.
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/environment.h"
#include "frontend/python/interpreter.h"

namespace tilewright::python {
namespace {

std::string text_argument(const Arguments& arguments, std::size_t most) {
  const bool has_text = !arguments.values.empty() && arguments.values.size() <= most &&
                        arguments.values[0].is<std::string>();
  if (!has_text) throw Unsupported{"a call with these arguments is not evaluated"};
  return *arguments.values[0].get_if<std::string>();
}

// os.getenv(name, default), os.environ.get(name, default)
Value environment_value(const Arguments& arguments) {
  const std::string name = text_argument(arguments, 2);
  if (const std::optional<std::string> value = environment_variable(name)) return *value;
  for (const auto& [known, value] : arguments.keywords)
    if (known == "default") return value;
  return arguments.values.size() == 2 ? arguments.values[1] : Value();
}

// packaging.version.parse("2.3.0+cu121"): pre-releases and local parts are no numbers and end it.
Value parse_version(const Arguments& arguments) {
  VersionValue version{{}, text_argument(arguments, 1)};
  const char* at = version.text.data();
  const char* const end = at + version.text.size();
  if (at != end && *at == 'v') ++at;
  while (at != end) {
    std::int64_t number = 0;
    const auto [next, status] = std::from_chars(at, end, number);
    if (status != std::errc()) break;
    version.release.push_back(number);
    if (next == end || *next != '.') break;
    at = next + 1;
  }
  if (version.release.empty()) throw Unsupported{fmt::format("'{}' is no version", version.text)};
  while (version.release.size() > 1 && version.release.back() == 0) version.release.pop_back();
  return version;
}

Value make_partial(const Arguments& arguments) {
  if (arguments.values.empty()) throw Unsupported{"functools.partial needs a function"};
  auto partial = std::make_shared<PartialValue>();
  partial->function = arguments.values[0];
  partial->arguments.assign(arguments.values.begin() + 1, arguments.values.end());
  partial->keywords = arguments.keywords;
  return partial;
}

}  // namespace

Value environment_dict() {
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [name, value] : environment_variables())
    items.emplace_back(Value(name), Value(value));
  return make_dict(std::move(items));
}

Builtin find_host_builtin(std::string_view name) {
  static const std::map<std::string_view, Builtin> known = {
      {"functools.partial", make_partial},        {"os.environ.get", environment_value},
      {"os.getenv", environment_value},           {"packaging.version.Version", parse_version},
      {"packaging.version.parse", parse_version},
  };
  const auto found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

}  // namespace tilewright::python
