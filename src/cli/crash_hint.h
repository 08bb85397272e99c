// SPDX-License-Identifier: Apache-2.0
// cli/crash_hint.h — a kernel of the user's that writes where it must not can end this process.
#pragma once

#include <string>

namespace tilewright::cli {

// From now on the signals of a crash first print what to do; the process ends by them as ever. That
// holds to the end of the process: memory that a kernel has damaged is often noticed when it is
// freed, behind the last line of the results.
void explain_crashes(const std::string& kernel);
// "WHAT crashed, most likely by an access outside of its memory; REMEDY".
void explain_crashes(const std::string& what, const std::string& remedy);

}  // namespace tilewright::cli
