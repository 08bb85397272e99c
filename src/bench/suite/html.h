// SPDX-License-Identifier: Apache-2.0
// bench/suite/html.h — a report as one page that opens without a network.
#pragma once

#include <string>

#include "bench/suite/record.h"

namespace tilewright::suite {

std::string report_html(const Report& report);

}  // namespace tilewright::suite
