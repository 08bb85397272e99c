// SPDX-License-Identifier: Apache-2.0
// base/log.h — lines on stderr: topics chosen by TILEWRIGHT_LOG, and warnings that are said once.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

bool logs(std::string_view topic);  // is the topic (or "all") in TILEWRIGHT_LOG?
void log_line(std::string_view topic, const std::string& line);
void warn_once(const std::string& line);  // the same line only once in a process

}  // namespace tilewright
