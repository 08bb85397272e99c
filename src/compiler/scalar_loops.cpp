// SPDX-License-Identifier: Apache-2.0
// compiler/scalar_loops.cpp — reads g++'s report of loops.
#include "compiler/scalar_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "runtime/compile.h"

namespace tilewright {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view text) {
  Lines out;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) out.push_back(std::move(line));
  return out;
}

struct Report {  // of all loops at one line of one file
  bool is_vector = false;
  bool is_scalar = false;
  std::string reason;
};
using Reports = std::map<std::pair<std::string, std::size_t>, Report>;

// The function that "statement clobbers memory: x = tw::exp (y)" calls; empty when it is none.
std::string called_in(const std::string& message) {
  static constexpr std::string_view words = "statement clobbers memory: ";
  const std::size_t at = message.find(words);
  const std::size_t open = message.find('(', at);
  if (at == std::string::npos || open == std::string::npos) return "";
  std::string name = message.substr(at + words.size(), open - at - words.size());
  if (const std::size_t result = name.find(" = "); result != std::string::npos)
    name.erase(0, result + 3);
  if (name.ends_with(' ')) name.pop_back();
  if (name.starts_with("tw::")) name.erase(0, 4);
  return name.find(' ') == std::string::npos ? name : "";
}

// What a call or a condition is called in the message; nothing for messages of no use.
std::string reason_of(const std::string& message) {
  if (const std::string function = called_in(message); !function.empty())
    return fmt::format("it calls {}", function);
  static constexpr std::string_view words = "not vectorized: ";
  const std::size_t at = message.find(words);
  // The last thing that it tried, vectors of 4 bytes, fails for want of a type: that says nothing.
  if (at == std::string::npos || message.find("no vectype") != std::string::npos) return "";
  std::string reason = message.substr(at + words.size());
  while (reason.ends_with('.')) reason.pop_back();
  return reason;
}

// A number at this place of a text, and the place behind it; none: no digit is there.
std::optional<std::size_t> read_number(std::string_view text, std::size_t& at) {
  const std::size_t first = at;
  std::size_t number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && at - first < 9; ++at)
    number = number * 10 + static_cast<std::size_t>(text[at] - '0');
  return at == first ? std::nullopt : std::optional(number);
}

// "file:12:3: missed: message".
struct ReportLine {
  std::string file;
  std::size_t line = 0;
  bool is_optimized = false;
  std::string message;
};

std::optional<ReportLine> read_line(const std::string& text) {
  for (const bool is_optimized : {false, true}) {
    const std::string_view mark = is_optimized ? ": optimized: " : ": missed: ";
    const std::size_t end = text.find(mark);
    if (end == std::string::npos) continue;
    const std::size_t column = text.rfind(':', end - 1);
    const std::size_t line = column == std::string::npos ? column : text.rfind(':', column - 1);
    if (line == std::string::npos) continue;
    std::size_t at = line + 1;
    const auto number = read_number(text, at);
    if (!number || at != column) continue;
    return ReportLine{text.substr(0, line), *number, is_optimized, text.substr(end + mark.size())};
  }
  return std::nullopt;
}

Reports read_reports(std::string_view log) {
  Reports out;
  Report* current = nullptr;  // the loop that reasons are given for
  for (const std::string& text : lines_of(log)) {
    const std::optional<ReportLine> line = read_line(text);
    if (!line) {
      current = nullptr;
      continue;
    }
    Report& here = out[{line->file, line->line}];
    if (line->is_optimized) {
      here.is_vector |= line->message.starts_with("loop vectorized");
      current = nullptr;
    } else if (line->message == "couldn't vectorize loop") {
      here.is_scalar = true;
      current = &here;
    } else if (current && current->reason.empty()) {
      current->reason = reason_of(line->message);
    }
  }
  return out;
}

const std::string* text_of(const KernelSource& source, const std::string& file) {
  if (file == source.name) return &source.text;
  const auto found = std::find_if(source.headers.begin(), source.headers.end(),
                                  [&](const auto& header) { return header.name == file; });
  return found == source.headers.end() ? nullptr : &found->text;
}

std::size_t indent_of(const std::string& line) { return line.find_first_not_of(" \t"); }

bool is_loop_head(const std::string& line) {
  const std::size_t first = indent_of(line);
  return first != std::string::npos && line.compare(first, 4, "for ") == 0;
}

// The compiler names the head of a loop or its first statement: that of the loop around it then.
bool is_over_elements(const Lines& lines, std::size_t number) {
  if (number == 0 || number > lines.size()) return false;
  std::size_t at = number - 1;
  if (!is_loop_head(lines[at])) {
    const std::size_t inside = indent_of(lines[at]);
    while (at > 0 && (lines[at].empty() || indent_of(lines[at]) >= inside)) --at;
  }
  const bool is_marked = at > 0 && lines[at - 1].find("#pragma omp simd") != std::string::npos;
  return is_marked && is_loop_head(lines[at]);
}

// The generated text has the user's lines as comments above what was made of them.
std::string place_of(const Lines& lines, std::size_t number) {
  for (std::size_t i = std::min(number, lines.size()); i-- > 0;) {
    const std::size_t first = indent_of(lines[i]);
    if (first == std::string::npos || lines[i].compare(first, 3, "// ") != 0) continue;
    const std::string comment = lines[i].substr(first + 3);
    const std::size_t end = comment.find(": ");
    const std::size_t colon = comment.rfind(':', end == std::string::npos ? end : end - 1);
    std::size_t at = colon + 1;
    if (end != std::string::npos && colon != std::string::npos && read_number(comment, at) &&
        at == end)
      return comment.substr(0, end);
  }
  return {};
}

}  // namespace

std::vector<ScalarLoop> scalar_loops_in(const KernelSource& source, std::string_view log) {
  std::vector<ScalarLoop> out;
  for (const auto& [at, report] : read_reports(log)) {
    if (!report.is_scalar || report.is_vector) continue;
    const std::string* text = text_of(source, at.first);
    if (text == nullptr) continue;
    const Lines lines = lines_of(*text);
    if (!is_over_elements(lines, at.second)) continue;
    const bool is_generated = at.first == source.name;
    out.push_back({is_generated ? place_of(lines, at.second) : "", report.reason});
  }
  return out;
}

std::vector<std::string> faults_in_loops(const KernelSource& source, const Target& target) {
  KernelSource reported = source;
  reported.options.emplace_back("-fopt-info-vec-optimized-missed");
  const Binary binary = compile_with_host_compiler(reported, target);
  std::set<std::string> out;
  for (const ScalarLoop& loop : scalar_loops_in(source, binary.log))
    out.insert(fmt::format(
        "{} runs one element at a time: the C++ compiler made no vector code of it{}; functions "
        "that have none (atan, gamma, fmod and their like) and reads under a condition do that",
        loop.place.empty() ? "a loop" : "the loop of " + loop.place,
        loop.reason.empty() ? "" : fmt::format(" ({})", loop.reason)));
  return {out.begin(), out.end()};
}

}  // namespace tilewright
