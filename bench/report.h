// SPDX-License-Identifier: Apache-2.0
// bench/report.h — what the programs of this folder share: their options, and rows printed as a
// table or as JSON.
#pragma once

#include <string>
#include <vector>

namespace tilewright::bench {

struct Row {
  std::string name;
  double seconds = 0;  // the median
  double low = 0;      // 10% and 90% of the samples
  double high = 0;
  std::string note;
  double goal_seconds = 0;  // 0: none
};

struct Report {
  std::string title;
  std::string machine;
  std::vector<Row> rows;
};

// Prints the report to stdout: `--json` among the arguments makes it JSON.
void print(const Report& report, bool json);

// The name of the CPU, and of the GPU when there is one.
std::string machine_name();

// Runs a program of this folder: understands --json and --help, prints its report, turns an
// exception into one sentence on stderr and exit code 1.
int run_program(int count, char** arguments, const char* help, Report (*measure)());

// One row from samples of one run each.
Row row_of(std::string name, const std::vector<double>& samples, std::string note = {},
           double goal_seconds = 0);

}  // namespace tilewright::bench
