// SPDX-License-Identifier: Apache-2.0
// bench/report.cpp — the table and the JSON.
#include "report.h"

#include <cstdio>
#include <exception>
#include <string_view>

#include <fmt/format.h>

#include "base/table.h"
#include "base/units.h"
#include "bench/json.h"
#include "base/statistics.h"
#include "tilewright/device.h"

namespace tilewright::bench {
namespace {

std::string table_of(const Report& report) {
  using enum Align;
  Table table({{"what", Left},
               {"median", Right},
               {"p10", Right},
               {"p90", Right},
               {"goal", Right},
               {"", Left}});
  for (const Row& row : report.rows) {
    const std::string goal = row.goal_seconds > 0 ? format_seconds(row.goal_seconds) : "";
    table.add({row.name, format_seconds(row.seconds), format_seconds(row.low),
               format_seconds(row.high), goal, row.note});
  }
  return fmt::format("{} on {}\n\n{}", report.title, report.machine, table.to_string());
}

std::string json_of(const Report& report) {
  Json rows = Json::array();
  for (const Row& row : report.rows) {
    Json out = {{"what", row.name},
                {"median_seconds", row.seconds},
                {"p10_seconds", row.low},
                {"p90_seconds", row.high}};
    if (row.goal_seconds > 0) out["goal_seconds"] = row.goal_seconds;
    if (!row.note.empty()) out["note"] = row.note;
    rows.push_back(out);
  }
  return text_of({{"title", report.title}, {"machine", report.machine}, {"rows", rows}}) + "\n";
}

}  // namespace

void print(const Report& report, bool json) {
  fmt::print("{}", json ? json_of(report) : table_of(report));
}

std::string machine_name() {
  std::string name = Device::cpu().properties().name;
  if (cuda_device_count() > 0) name += " with " + Device::cuda().properties().name;
  return name;
}

Row row_of(std::string name, const std::vector<double>& samples, std::string note,
           double goal_seconds) {
  const Summary s = summarize(samples);
  return {std::move(name), s.median, s.p10, s.p90, std::move(note), goal_seconds};
}

int run_program(int count, char** arguments, const char* help, Report (*measure)()) {
  bool json = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help") return std::fputs(help, stdout) < 0 ? 1 : 0;
    if (argument != "--json") {
      fmt::print(stderr, "unknown argument '{}'; there are: --json, --help\n", argument);
      return 2;
    }
    json = true;
  }
  try {
    print(measure(), json);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace tilewright::bench
