// SPDX-License-Identifier: Apache-2.0
// cli/step_page.h — the page of `tilewright step --html`: a launch through time, everything inside.
#pragma once

#include <string>

#include "cli/step_trace.h"

namespace tilewright::cli {

std::string trace_page(const LaunchTrace& trace, const std::string& command);

}  // namespace tilewright::cli
