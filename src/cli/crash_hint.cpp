// SPDX-License-Identifier: Apache-2.0
// cli/crash_hint.cpp — the text is made before: a signal's handler may only write.
#include "cli/crash_hint.h"

#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

namespace tilewright::cli {
namespace {

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};

struct CrashTexts {
  std::string crash, abort, division;
};
const CrashTexts* texts = nullptr;  // never freed: static objects may be gone when it is read

void on_crash(int number) {
  const std::string& text = number == SIGABRT  ? texts->abort
                            : number == SIGFPE ? texts->division
                                               : texts->crash;
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

void explain_crashes(const std::string& kernel) {
  explain_crashes(fmt::format("kernel '{}'", kernel),
                  "tilewright run --device interpret names its line and element");
}

void explain_crashes(const std::string& what, const std::string& remedy) {
  const auto sentence = [&](const std::string& how) {
    return fmt::format("tilewright: {} {}; {}\n", what, how, remedy);
  };
  texts = new CrashTexts{
      sentence("crashed, most likely by an access outside of its memory"),
      sentence("was aborted: by itself (abort, a failed assert), or since an access outside of its "
               "memory has damaged the heap"),
      sentence("crashed: it divided an integer by zero")};
  for (const int number : crash_signals) std::signal(number, on_crash);
}

}  // namespace tilewright::cli
