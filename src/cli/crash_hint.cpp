// SPDX-License-Identifier: Apache-2.0
// cli/crash_hint.cpp — the text is made before: a signal's handler may only write.
#include "cli/crash_hint.h"

#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

namespace tilewright::cli {
namespace {

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGABRT};

std::string crash_text;

void on_crash(int number) {
  static_cast<void>(!write(STDERR_FILENO, crash_text.data(), crash_text.size()));
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

CrashHint::CrashHint(const std::string& kernel)
    : CrashHint(fmt::format("kernel '{}'", kernel),
                "outside of its tensors; tilewright run --device interpret names its line and "
                "element") {}

CrashHint::CrashHint(const std::string& what, const std::string& where) {
  crash_text = fmt::format("tilewright: {} crashed, most likely by an access {}\n", what, where);
  for (const int number : crash_signals) std::signal(number, on_crash);
}

CrashHint::~CrashHint() {
  for (const int number : crash_signals) std::signal(number, SIG_DFL);
}

}  // namespace tilewright::cli
