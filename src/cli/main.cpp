// SPDX-License-Identifier: Apache-2.0
// cli/main.cpp — the `tilewright` command: runs a verb; exit code 0, 1 (failure), 2 (wrong
// command line), 130 (interrupted) or what the verb says.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "base/interrupt.h"
#include "base/quote.h"
#include "cli/arguments.h"
#include "cli/verbs.h"

namespace {

// The next file to be opened would take the number of a stream that the caller has closed, and
// would get what is meant for that stream. What is written to a closed standard output still fails.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
}

// Where nobody can read the sentence (a closed or full standard error), the exit code alone says
// that something went wrong.
int fail(int code, const std::string& sentence) {
  const std::string line = "tilewright: " + sentence + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return code;
}

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
  fill_closed_streams();
  try {
    tilewright::handle_interrupts();
    const int code = exit_code_of(count, arguments);
    // A full disk or a closed pipe shows up here; a result that was not written is a failure.
    // What a verb has flushed in between is lost already, and only the flag knows.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return fail(1, "the result could not be written to the standard output");
    return code;
  } catch (const tilewright::cli::UsageError& error) {
    return fail(2, tilewright::printable_lines(error.sentence));
  } catch (const tilewright::Interrupted& interrupted) {
    return fail(tilewright::interrupted_exit_code,
                "interrupted: " + tilewright::printable_lines(interrupted.what()));
  } catch (const std::exception& error) {
    return fail(1, tilewright::printable_lines(error.what()));
  }
}
