// SPDX-License-Identifier: Apache-2.0
// cli/prints_aside.cpp — the descriptor of stdout exchanged for a while.
#include "cli/prints_aside.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace tilewright::cli {

PrintsAside::PrintsAside() {
  std::fflush(stdout);
  stdout_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (stdout_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}

PrintsAside::~PrintsAside() {
  std::fflush(stdout);
  if (stdout_ < 0) return;
  dup2(stdout_, STDOUT_FILENO);
  close(stdout_);
}

}  // namespace tilewright::cli
