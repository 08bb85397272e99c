// SPDX-License-Identifier: Apache-2.0
// cli/crash_hint.cpp — the text is made before: a signal's handler may only write.
#include "cli/crash_hint.h"

#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

namespace tilewright::cli {
namespace {

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};

std::string crash_text, abort_text, division_text;

void on_crash(int number) {
  const std::string& text = number == SIGABRT  ? abort_text
                            : number == SIGFPE ? division_text
                                               : crash_text;
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

CrashHint::CrashHint(const std::string& kernel)
    : CrashHint(fmt::format("kernel '{}'", kernel),
                "tilewright run --device interpret names its line and element") {}

CrashHint::CrashHint(const std::string& what, const std::string& remedy) {
  const auto sentence = [&](const std::string& how) {
    return fmt::format("tilewright: {} {}; {}\n", what, how, remedy);
  };
  crash_text = sentence("crashed, most likely by an access outside of its memory");
  abort_text = sentence(
      "was aborted: by itself (abort, a failed assert), or since an access outside of its memory "
      "has damaged the heap");
  division_text = sentence("crashed: it divided an integer by zero");
  for (const int number : crash_signals) std::signal(number, on_crash);
}

CrashHint::~CrashHint() {
  for (const int number : crash_signals) std::signal(number, SIG_DFL);
}

}  // namespace tilewright::cli
