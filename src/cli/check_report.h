// SPDX-License-Identifier: Apache-2.0
// cli/check_report.h — what `tilewright check` prints of its findings.
#pragma once

#include <string>
#include <vector>

#include "ir/check/finding.h"

namespace tilewright::cli {

struct CheckReport {
  std::string subject;  // "add_kernel", "./program"
  std::string done;     // "8 programs in 1 launch"
  std::vector<ir::Finding> findings;
};

// Of `check` when something was found that is not harmless.
inline constexpr int findings_code = 4;

// Prints the report; throws ExitWith{findings_code} when there is something wrong.
void report_findings(const CheckReport& report, bool json);

}  // namespace tilewright::cli
