// SPDX-License-Identifier: Apache-2.0
// bench/suite/record_json.h — reports as JSON text, and back.
#pragma once

#include <string>

#include "bench/suite/record.h"

namespace tilewright::suite {

std::string report_json(const Report& report);

// Throws FormatError that names the file and what is wrong with it, EnvironmentError when it cannot
// be read. Fields that older or newer versions lack or add do not matter.
Report read_report(const std::string& path);

}  // namespace tilewright::suite
