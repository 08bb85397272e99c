// SPDX-License-Identifier: Apache-2.0
// cli/symbolic_sizes.cpp — text to text: what comes out has numbers only.
#include "cli/symbolic_sizes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "bench/suite/sizes.h"
#include "cli/kernel_path.h"
#include "cli/verbs.h"
#include "frontend/python/evaluate.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "1000", "1k", "2M"
std::optional<std::int64_t> whole_number(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits != std::string_view::npos &&
      (digits + 1 != text.size() || std::string_view("kKmM").find(text[digits]) == text.npos))
    return std::nullopt;
  if (text.size() > 15) return std::nullopt;
  if (text.find_first_not_of('0') == std::string_view::npos) return 0;  // a value, though no size
  return suite::parse_sizes(text).front();
}

class SizeReader {
 public:
  explicit SizeReader(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const auto [name, value] = parse_assignment(text, "NAME=VALUE");
      if (const auto number = whole_number(value)) numbers_[name] = *number;
      else others_[name] = value;
    }
  }

  const std::map<std::string, std::int64_t>& numbers() const { return numbers_; }
  const std::set<std::string>& used() const { return used_; }

  // "n, 2 * m" becomes "1000,128".
  std::string list(const std::string& argument, std::string_view sizes) {
    std::string out;
    while (true) {
      const std::size_t comma = end_of_item(sizes);
      out += one(argument, sizes.substr(0, comma));
      if (comma == std::string_view::npos) return out;
      out += ',';
      sizes.remove_prefix(comma + 1);
    }
  }

  std::string one(const std::string& argument, std::string_view size) {
    if (size.find_first_not_of(" 0123456789") == std::string_view::npos) return std::string(size);
    if (const auto number = whole_number(size)) return fmt::format("{}", *number);
    return fmt::format("{}", evaluate(argument, std::string(size)));
  }

 private:
  // The comma that is in no brackets: cdiv(n, 2) is one size.
  static std::size_t end_of_item(std::string_view sizes) {
    int depth = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      depth += sizes[i] == '(' ? 1 : sizes[i] == ')' ? -1 : 0;
      if (sizes[i] == ',' && depth == 0) return i;
    }
    return std::string_view::npos;
  }

  void note_names(const std::string& argument, const python::Node& node) {
    static const std::set<std::string_view> functions = {"triton", "cdiv", "next_power_of_2", "min",
                                                         "max"};
    const auto* name = python::cast_if<python::Name>(&node);
    if (name != nullptr && !functions.contains(name->id)) {
      const std::string wanted(name->id);
      std::vector<std::string> known;
      for (const auto& [each, number] : numbers_) known.push_back(each);
      if (const auto other = others_.find(wanted); other != others_.end())
        throw ArgumentError(
            fmt::format("{}: '{}' is {}, which is no whole number of 15 digits or "
                        "fewer; write {}=1000",
                        argument, wanted, other->second, wanted));
      if (!numbers_.contains(wanted))
        throw ArgumentError(fmt::format("{}: '{}' has no value; write {}=1000 beside it{}",
                                        argument, wanted, wanted,
                                        known.empty() ? "" : suggest_names(wanted, known)));
      used_.insert(wanted);
    }
    python::for_each_child(node, [&](const python::Node& child) { note_names(argument, child); });
  }

  std::int64_t evaluate(const std::string& argument, const std::string& expression) {
    python::ModuleLoader loader;
    try {
      // A sum is a value of its own: `size = n` would be followed to n, which the module lacks.
      const python::LoadedModule& module = loader.load_text(
          "size", "from triton import cdiv, next_power_of_2\nsize = (" + expression + ") + 0\n");
      const python::Node* node = loader.lookup(module, "size").node;
      note_names(argument, *node);
      std::map<std::string, python::Value, std::less<>> names;
      for (const auto& [name, number] : numbers_) names[name] = number;
      python::Evaluator evaluator(loader);
      const auto value = evaluator.evaluate(module, node, names).integer();
      if (value && *value >= 0) return *value;
    } catch (const SyntaxOrTypeError& error) {
      throw ArgumentError(
          fmt::format("{}: '{}' is no size: {}", argument, expression, error.diagnostic().message));
    }
    throw ArgumentError(
        fmt::format("{}: '{}' is no whole number of 0 or more", argument, expression));
  }

  std::map<std::string, std::int64_t> numbers_;
  std::map<std::string, std::string, std::less<>> others_;  // values that are no whole number
  std::set<std::string> used_;
};

// What stands between `open` and `close`, replaced; all else as it is.
void replace_between(SizeReader& reader, const std::string& argument, std::string& text,
                     std::string_view open, char close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string::npos) return;
  const std::size_t first = begin + open.size();
  int depth = 0;
  for (std::size_t end = first; end < text.size(); ++end) {
    if (text[end] == close && depth == 0) {
      const std::string_view inside = std::string_view(text).substr(first, end - first);
      if (!inside.empty()) text.replace(first, end - first, reader.list(argument, inside));
      return;
    }
    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
  }
}

std::string with_numbers(SizeReader& reader, const std::string& argument) {
  const auto [name, value] = parse_assignment(argument, "NAME=VALUE");
  const bool is_view = value.starts_with('@');
  const bool is_made = value.find(':') < value.find('[') && value.find('[') != std::string::npos;
  if (value.starts_with('\'') || value.starts_with('"')) return argument;
  if (const auto number = whole_number(value)) return fmt::format("{}={}", name, *number);
  std::string text = value;
  replace_between(reader, argument, text, "@strides(", ')');
  if (!is_view && !is_made) return name + "=" + text;
  replace_between(reader, argument, text, "[", ']');
  const std::size_t plus = is_view ? text.find('+') : std::string::npos;
  if (plus != std::string::npos) {
    const std::size_t end = std::min(text.find('[', plus), text.find('@', plus));
    const std::size_t count = std::min(end, text.size()) - plus - 1;
    if (count > 0)
      text.replace(plus + 1, count, reader.one(argument, text.substr(plus + 1, count)));
  }
  return name + "=" + text;
}

bool is_sweep(std::string_view value) {
  if (value.empty() || !is_digit(value.front())) return false;
  return value.find_first_not_of("0123456789kKmM.,") == std::string_view::npos &&
         (value.find("..") != std::string_view::npos || value.find(',') != std::string_view::npos);
}

}  // namespace

std::vector<std::string> with_sizes(const std::vector<std::string>& texts,
                                    const std::vector<std::string>& parameters) {
  SizeReader reader(texts);
  std::vector<std::string> plain;
  for (const std::string& text : texts) plain.push_back(with_numbers(reader, text));
  std::erase_if(plain, [&](const std::string& text) {
    const std::string name = text.substr(0, text.find('='));
    return reader.used().contains(name) &&
           std::find(parameters.begin(), parameters.end(), name) == parameters.end();
  });
  return plain;
}

std::set<std::string> names_in_sizes(const std::vector<std::string>& texts) {
  SizeReader reader(texts);
  for (const std::string& text : texts) static_cast<void>(with_numbers(reader, text));
  return reader.used();
}

std::string grid_with_sizes(const std::string& grid, const std::vector<std::string>& texts,
                            const std::vector<std::string>& parameters) {
  const SizeReader reader(texts);
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  std::string out;
  for (std::size_t at = 0; at < grid.size();) {
    std::size_t end = at;
    while (end < grid.size() && is_word(grid[end])) ++end;
    const std::string word = grid.substr(at, std::max<std::size_t>(end - at, 1));
    const auto found = reader.numbers().find(word);
    const bool is_parameter =
        std::find(parameters.begin(), parameters.end(), word) != parameters.end();
    out +=
        found != reader.numbers().end() && !is_parameter ? fmt::format("{}", found->second) : word;
    at += word.size();
  }
  return out;
}

std::vector<std::vector<std::string>> swept(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> sweeps;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string value = parse_assignment(texts[i], "NAME=VALUE").second;
    if (is_sweep(value)) sweeps.emplace_back(i, suite::parse_sizes(value));
  }
  std::vector<std::vector<std::string>> lists = {texts};
  const auto put = [&](std::vector<std::string>& list, std::size_t place, std::int64_t number) {
    list[place] = fmt::format("{}={}", texts[place].substr(0, texts[place].find('=')), number);
  };
  for (const auto& [place, numbers] : sweeps) {
    const bool goes_along = place != sweeps.front().first && numbers.size() == lists.size();
    std::vector<std::vector<std::string>> next;
    for (std::size_t i = 0; i < lists.size(); ++i)
      for (std::size_t k = 0; k < numbers.size(); ++k)
        if (!goes_along || i == k) put(next.emplace_back(lists[i]), place, numbers[k]);
    lists = std::move(next);
  }
  return lists;
}

void refuse_sweeps(const std::vector<std::string>& texts, const std::string& verb) {
  for (const std::string& text : texts)
    if (is_sweep(parse_assignment(text, "NAME=VALUE").second))
      throw UsageError{
          fmt::format("'{}' is a sweep, which goes with tilewright bench; {} takes one "
                      "number",
                      text, verb)};
}

}  // namespace tilewright::cli
