// SPDX-License-Identifier: Apache-2.0
// cli/progress.cpp — rewrites one line of a terminal.
#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

#include "base/quote.h"

namespace tilewright::cli {
namespace {

// Back to the first column and clear to the end of the line.
constexpr const char* clear_line = "\r\x1b[K";

}  // namespace

Progress::Progress() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_terminal_) std::fputs(clear_line, stderr);
}

void Progress::show(const std::string& text) {
  if (!is_terminal_) return;
  fmt::print(stderr, "{}{} ...", clear_line, printable(text));
  std::fflush(stderr);
}

}  // namespace tilewright::cli
