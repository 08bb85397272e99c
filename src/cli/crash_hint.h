// SPDX-License-Identifier: Apache-2.0
// cli/crash_hint.h — a kernel of the user's that writes where it must not can end this process.
#pragma once

#include <string>

namespace tilewright::cli {

// While one lives, the signals of a crash first print what to do; the process ends by them as ever.
class CrashHint {
 public:
  explicit CrashHint(const std::string& kernel);
  // "WHAT crashed, most likely by an access outside of its memory; REMEDY".
  CrashHint(const std::string& what, const std::string& remedy);
  ~CrashHint();
  CrashHint(const CrashHint&) = delete;
  CrashHint& operator=(const CrashHint&) = delete;
};

}  // namespace tilewright::cli
