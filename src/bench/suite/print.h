// SPDX-License-Identifier: Apache-2.0
// bench/suite/print.h — a report as text: tables for a terminal, Markdown, CSV.
#pragma once

#include <string>

#include "bench/suite/record.h"

namespace tilewright::suite {

// What a reader must know beside the numbers: why there are none, and what puts them in doubt.
std::string remark_of(const Record& record);
bool is_unsteady(const Record& record);  // the median is not known well

std::string report_text(const Report& report);
std::string report_markdown(const Report& report);
std::string report_csv(const Report& report);  // a title line, then a line per record

}  // namespace tilewright::suite
