// SPDX-License-Identifier: Apache-2.0
// cli/wrong_arguments.cpp — which complaint of the parser is which sentence.
#include "cli/wrong_arguments.h"

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "cli/verbs.h"

namespace tilewright::cli {

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : "tilewright";
}

namespace {

std::vector<std::string> names_of(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (options) {
    for (const CLI::Option* option : app.get_options({}))
      if (!option->get_positional())
        names.push_back(option->get_lnames().empty() ? option->get_name()
                                                     : "--" + option->get_lnames().front());
  } else
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(sub->get_name());
  return names;
}

[[noreturn]] void throw_usage(const CLI::App& app, const std::string& sentence) {
  throw UsageError{fmt::format("{} (see {} --help)", sentence, full_name(app))};
}

std::string lower_first(std::string text) {
  const bool is_name = text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1]));
  if (!text.empty() && !is_name)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

// "Could not convert: --trials = abc"
std::string conversion_sentence(std::string text) {
  text = text.substr(text.find(": ") + 2);
  const std::size_t equals = text.find(" = ");
  return fmt::format("{} takes a number, and '{}' is none or too large", text.substr(0, equals),
                     text.substr(equals + 3));
}

}  // namespace

const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> taken = app.get_subcommands();
  return taken.empty() ? app : innermost(*taken.front());
}

void throw_unknown(const CLI::App& root) {
  const CLI::App& app = innermost(root);
  const std::vector<std::string> rest = root.remaining(true);
  const std::string& wanted = rest.front();
  const bool is_option = wanted.starts_with("-");
  if (is_option && app.get_name() == "profile" &&
      nearest_names(wanted, names_of(app, true)).empty())
    throw_usage(app, fmt::format("{0} has no option '{1}'; what is for the program goes behind "
                                 "--, as in {0} -- gelu --dim 1024",
                                 full_name(app), wanted));
  if (!is_option && names_of(app, false).empty())
    throw_usage(app, fmt::format("{} takes no argument '{}'", full_name(app), wanted));
  throw_usage(app, fmt::format("{} has no {} '{}'{}", full_name(app), is_option ? "option" : "verb",
                               wanted, suggest_names(wanted, names_of(app, is_option))));
}

void throw_parse_error(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = innermost(root);
  if (dynamic_cast<const CLI::ConversionError*>(&error) &&
      std::string_view(error.what()).find(" = ") != std::string_view::npos)
    throw_usage(app, conversion_sentence(error.what()));
  const bool is_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr;
  if (!is_value && !root.remaining(true).empty()) throw_unknown(root);
  if (dynamic_cast<const CLI::RequiredError*>(&error) && !names_of(app, false).empty())
    throw_usage(app, fmt::format("{} needs a verb: {}", full_name(app),
                                 fmt::join(names_of(app, false), ", ")));
  throw_usage(app, lower_first(error.what()));
}

// An empty value would mean the same as none at all, which nobody who gives one wants.
void check_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options({}))
    if (!option->get_positional() && option->get_items_expected_min() > 0)
      for (const std::string& value : option->results())
        if (value.empty())
          throw_usage(app, fmt::format("the value of {} is empty", option->get_name()));
}

}  // namespace tilewright::cli
