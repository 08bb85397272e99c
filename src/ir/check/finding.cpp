// SPDX-License-Identifier: Apache-2.0
// ir/check/finding.cpp — counting, merging and printing.
#include "ir/check/finding.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"

namespace tilewright::ir {

const FindingFacts& facts_of(FindingKind kind) {
  static constexpr FindingFacts facts[] = {{"out-of-bounds"},
                                           {"race"},
                                           {"same-value", true},
                                           {"duplicate-store"},
                                           {"unwritten"},
                                           {"undefined"},
                                           {"nan"},
                                           {"infinity"},
                                           {"index-overflow"},
                                           {"division-by-zero"},
                                           {"promise"},
                                           {"assertion"},
                                           {"atomic-scope"},
                                           {"float64"},
                                           {"stride"},
                                           {"barrier"},
                                           {"copy"},
                                           {"stopped"}};
  return facts[static_cast<std::size_t>(kind)];
}

std::string FindingPlace::text() const {
  return line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file;
}

bool Findings::count(FindingKind kind, const Op& op, const Op* partner, std::int64_t program) {
  const Key key{kind, &op, partner};
  if (last_key_ == nullptr || *last_key_ != key) {
    const auto [found, is_new] = counters_.try_emplace(key, Counter{all_.size(), program});
    last_key_ = &found->first;
    last_ = &found->second;
    if (is_new) return true;
  }
  Finding& finding = all_[last_->finding];
  ++finding.elements;
  if (last_->last_program != program) ++finding.programs;
  last_->last_program = program;
  return false;
}

void Findings::add(Finding finding) { all_.push_back(std::move(finding)); }

void merge_findings(std::vector<Finding>& into, const std::vector<Finding>& more) {
  for (const Finding& finding : more) {
    const auto known = std::find_if(into.begin(), into.end(), [&](const Finding& other) {
      return other.kind == finding.kind && other.place.text() == finding.place.text() &&
             other.kernel == finding.kernel;
    });
    if (known == into.end()) {
      into.push_back(finding);
      continue;
    }
    known->elements += finding.elements;
    known->programs += finding.programs;
  }
}

FindingPlace place_of(const Kernel& kernel, const Op& op) {
  const Location& location = op.location;
  const bool is_known = location.line > 0 && location.file < kernel.files.size();
  return {is_known ? kernel.files[location.file] : kernel.name, location.line, location.column};
}

std::string render(const Finding& finding, std::string_view source) {
  const Span span{finding.place.line, finding.place.column, 1};
  const Diagnostic diagnostic{finding.place.file, span, finding.message, "", {}};
  // A diagnostic says "error"; here the kind of the finding stands in its place.
  std::string text = tilewright::render(diagnostic, source);
  const std::string_view kind = facts_of(finding.kind).name;
  const std::size_t at = text.find(": error: ");
  if (at != std::string::npos) text.replace(at + 2, 5, kind);
  if (!text.ends_with('\n')) text += '\n';
  if (finding.has_program) {
    text += fmt::format("  in program ({})", fmt::join(finding.program, ", "));
    if (!finding.element.empty()) text += fmt::format(", element {}", finding.element);
    if (finding.elements > 1)
      text += finding.programs > 1
                  ? fmt::format("; {} times in {} programs", finding.elements, finding.programs)
                  : fmt::format("; {} times", finding.elements);
    text += '\n';
  } else if (finding.elements > 1) {
    text += fmt::format("  {} times\n", finding.elements);
  }
  for (const std::string& value : finding.values) text += fmt::format("  {}\n", value);
  for (const std::string& note : finding.notes) text += fmt::format("  {}\n", note);
  if (!finding.remedy.empty()) text += fmt::format("  remedy: {}\n", finding.remedy);
  return text;
}

}  // namespace tilewright::ir
