// SPDX-License-Identifier: Apache-2.0
// cli/check_report.cpp — findings with their lines, and how many there are.
#include "cli/check_report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/input_file.h"
#include "bench/json.h"
#include "cli/verbs.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

// A file that is gone is no reason not to print the finding.
class Sources {
 public:
  const std::string& text(const std::string& path) {
    const auto found = texts_.find(path);
    if (found != texts_.end()) return found->second;
    std::string& text = texts_[path];
    try {
      text = read_input(path);
    } catch (const Error&) {
    }
    return text;
  }

 private:
  std::map<std::string, std::string> texts_;
};

bool is_harmless(const ir::Finding& finding) { return ir::facts_of(finding.kind).is_harmless; }

Json json_of(const ir::Finding& finding) {
  Json json{{"kind", ir::facts_of(finding.kind).name},
            {"harmless", is_harmless(finding)},
            {"kernel", finding.kernel},
            {"file", finding.place.file},
            {"line", finding.place.line},
            {"column", finding.place.column},
            {"message", finding.message},
            {"values", finding.values},
            {"notes", finding.notes},
            {"remedy", finding.remedy},
            {"programs", finding.programs},
            {"elements", finding.elements}};
  if (finding.has_program) json["program"] = finding.program;
  if (!finding.element.empty()) json["element"] = finding.element;
  return json;
}

std::string count_text(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void print_text(const CheckReport& report, std::size_t harmless) {
  if (report.findings.empty()) {
    fmt::print("{}: nothing was found in {}\n", report.subject, report.done);
    return;
  }
  Sources sources;
  for (const ir::Finding& finding : report.findings)
    fmt::print("{}\n", ir::render(finding, sources.text(finding.place.file)));
  const std::size_t wrong = report.findings.size() - harmless;
  std::string counts = wrong > 0 ? count_text(wrong, "finding") : "";
  if (harmless > 0) counts += fmt::format("{}{} harmless", wrong > 0 ? " and " : "", harmless);
  fmt::print("{}: {} in {}\n", report.subject, counts, report.done);
}

}  // namespace

void report_findings(const CheckReport& report, bool json) {
  const auto harmless = static_cast<std::size_t>(
      std::count_if(report.findings.begin(), report.findings.end(), is_harmless));
  if (json) {
    Json all{{"subject", report.subject}, {"checked", report.done}, {"findings", Json::array()}};
    for (const ir::Finding& finding : report.findings) all["findings"].push_back(json_of(finding));
    fmt::print("{}\n", text_of(all));
  } else {
    print_text(report, harmless);
  }
  if (harmless < report.findings.size()) throw ExitWith{findings_code};
}

}  // namespace tilewright::cli
