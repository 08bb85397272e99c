// SPDX-License-Identifier: Apache-2.0
// cli/main.cpp — the `tilewright` command: runs a verb; exit code 0, 1 (failure), 2 (wrong
// command line), 130 (interrupted) or what the verb says.
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/quote.h"
#include "cli/arguments.h"
#include "cli/verbs.h"

namespace {

int exit_code_of(int count, char** arguments) {
  try {
    tilewright::cli::parse_command_line(count, arguments)();
    return 0;
  } catch (const tilewright::cli::ExitWith& exit) {
    return exit.code;
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    tilewright::handle_interrupts();
    const int code = exit_code_of(count, arguments);
    // A full disk or a closed pipe shows up here; a result that was not written is a failure.
    if (std::fflush(stdout) != 0) {
      fmt::print(stderr, "tilewright: the result could not be written to the standard output\n");
      return 1;
    }
    return code;
  } catch (const tilewright::cli::UsageError& error) {
    fmt::print(stderr, "tilewright: {}\n", tilewright::printable_lines(error.sentence));
    return 2;
  } catch (const tilewright::Interrupted& interrupted) {
    fmt::print(stderr, "tilewright: interrupted: {}\n",
               tilewright::printable_lines(interrupted.what()));
    return tilewright::interrupted_exit_code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tilewright: {}\n", tilewright::printable_lines(error.what()));
    return 1;
  }
}
