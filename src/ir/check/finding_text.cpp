// SPDX-License-Identifier: Apache-2.0
// ir/check/finding_text.cpp — a line per finding, its fields between separators.
#include "ir/check/finding_text.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace tilewright::ir {
namespace {

constexpr char field_end = '\x1f';
constexpr char item_end = '\x1e';
constexpr char line_feed = '\x1d';  // stands for one inside of a field

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = line_feed;
  return text;
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += item + item_end;
  return text;
}

std::vector<std::string> parts(std::string_view text, char end) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t at = text.find(end);
    all.emplace_back(text.substr(0, at));
    for (char& c : all.back())
      if (c == line_feed) c = '\n';
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return all;
}

std::int64_t number_in(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

constexpr std::size_t field_count = 15;

std::string line_of(const Finding& f) {
  std::string line;
  const auto add = [&](const auto& value) {
    line += in_one_line(fmt::format("{}", value)) + field_end;
  };
  add(static_cast<int>(f.kind));
  add(f.kernel);
  add(f.place.file);
  add(f.place.line);
  add(f.place.column);
  add(f.message);
  for (const std::int64_t part : f.program) add(part);
  add(static_cast<int>(f.has_program));
  add(f.element);
  add(joined(f.values));
  add(joined(f.notes));
  add(f.remedy);
  add(fmt::format("{}{}{}", f.programs, item_end, f.elements));
  return line;
}

Finding finding_of(const std::vector<std::string>& fields) {
  Finding f;
  f.kind = static_cast<FindingKind>(number_in(fields[0]));
  f.kernel = fields[1];
  f.place = {fields[2], static_cast<int>(number_in(fields[3])),
             static_cast<int>(number_in(fields[4]))};
  f.message = fields[5];
  for (std::size_t d = 0; d < 3; ++d) f.program[d] = number_in(fields[6 + d]);
  f.has_program = number_in(fields[9]) != 0;
  f.element = fields[10];
  f.values = parts(fields[11], item_end);
  f.notes = parts(fields[12], item_end);
  f.remedy = fields[13];
  const std::vector<std::string> counts = parts(fields[14], item_end);
  if (counts.size() == 2) {
    f.programs = number_in(counts[0]);
    f.elements = number_in(counts[1]);
  }
  return f;
}

}  // namespace

std::string text_of(const CheckedProcess& process) {
  std::string text = fmt::format("{}\n", process.launches);
  for (const Finding& finding : process.findings) text += line_of(finding) + "\n";
  return text;
}

CheckedProcess read_checked(std::string_view text) {
  CheckedProcess process;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (std::exchange(is_first, false)) {
      process.launches = number_in(std::string(line));
      continue;
    }
    const std::vector<std::string> fields = parts(line, field_end);
    if (fields.size() == field_count && number_in(fields[0]) >= 0 &&
        number_in(fields[0]) <= static_cast<int>(FindingKind::Stopped))
      process.findings.push_back(finding_of(fields));
  }
  return process;
}

}  // namespace tilewright::ir
