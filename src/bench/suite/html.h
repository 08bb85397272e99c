// SPDX-License-Identifier: Apache-2.0
// bench/suite/html.h — a report as one page that opens without a network.
#pragma once

#include <string>

#include "bench/suite/record.h"

namespace tilewright::suite {

std::string report_html(const Report& report);

// Throws EnvironmentError when a file could not be written there, before anything is measured.
void check_writable(const std::string& path);

// Written under another name first, so that `path` is whole or untouched.
void write_file(const std::string& path, const std::string& text);

}  // namespace tilewright::suite
