// SPDX-License-Identifier: Apache-2.0
// cli/arguments.h — from the command line to a verb with its options.
#pragma once

#include <functional>

namespace tilewright::cli {

// What to do: run a verb, or print help or the version. Throws UsageError with one sentence.
std::function<void()> parse_command_line(int count, char** arguments);

}  // namespace tilewright::cli
