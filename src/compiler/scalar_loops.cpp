// SPDX-License-Identifier: Apache-2.0
// compiler/scalar_loops.cpp — reads g++'s report of loops.
#include "compiler/scalar_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
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

// What a call or a condition is called in the message; nothing for messages of no use.
std::string reason_of(const std::string& message) {
  static const std::regex call(R"(statement clobbers memory: (?:\S+ = )?(?:tw::)?([\w:]+) ?\()");
  std::smatch found;
  if (std::regex_search(message, found, call)) return fmt::format("it calls {}", found[1].str());
  static constexpr std::string_view words = "not vectorized: ";
  const std::size_t at = message.find(words);
  // The last thing that it tried, vectors of 4 bytes, fails for want of a type: that says nothing.
  if (at == std::string::npos || message.find("no vectype") != std::string::npos) return "";
  return message.substr(at + words.size());
}

Reports read_reports(std::string_view log) {
  static const std::regex line_form(R"(^(\S+?):(\d+):\d+: (missed|optimized): (.*)$)");
  Reports out;
  Report* current = nullptr;  // the loop that reasons are given for
  for (const std::string& line : lines_of(log)) {
    std::smatch part;
    if (!std::regex_match(line, part, line_form)) {
      current = nullptr;
      continue;
    }
    Report& here = out[{part[1].str(), std::stoul(part[2].str())}];
    const std::string message = part[4].str();
    if (part[3] == "optimized") {
      here.is_vector |= message.starts_with("loop vectorized");
      current = nullptr;
    } else if (message == "couldn't vectorize loop") {
      here.is_scalar = true;
      current = &here;
    } else if (current && current->reason.empty()) {
      current->reason = reason_of(message);
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

// The compiler names the head of a loop or its first statement: that of the loop around it then.
bool is_over_elements(const Lines& lines, std::size_t number) {
  static const std::regex head(R"(^\s*for\b)");
  if (number == 0 || number > lines.size()) return false;
  std::size_t at = number - 1;
  if (!std::regex_search(lines[at], head)) {
    const std::size_t inside = indent_of(lines[at]);
    while (at > 0 && (lines[at].empty() || indent_of(lines[at]) >= inside)) --at;
  }
  const bool is_marked = at > 0 && lines[at - 1].find("#pragma omp simd") != std::string::npos;
  return is_marked && std::regex_search(lines[at], head);
}

// The generated text has the user's lines as comments above what was made of them.
std::string place_of(const Lines& lines, std::size_t number) {
  static const std::regex comment(R"(^\s*// (\S+:\d+): )");
  for (std::size_t i = std::min(number, lines.size()); i-- > 0;) {
    std::smatch found;
    if (std::regex_search(lines[i], found, comment)) return found[1].str();
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
