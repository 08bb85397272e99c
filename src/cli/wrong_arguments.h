// SPDX-License-Identifier: Apache-2.0
// cli/wrong_arguments.h — a wrong command line as one sentence with the verb's help behind it.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tilewright::cli {

// The innermost verb that the arguments name.
const CLI::App& innermost(const CLI::App& app);
// As one writes it: "tilewright cache list".
std::string full_name(const CLI::App& app);

// Throw UsageError. Of arguments that no verb takes, of what the parser found, and of options whose
// value is empty.
[[noreturn]] void throw_unknown(const CLI::App& root);
[[noreturn]] void throw_parse_error(const CLI::App& root, const CLI::ParseError& error);
void check_values(const CLI::App& app);

}  // namespace tilewright::cli
