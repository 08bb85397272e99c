// SPDX-License-Identifier: Apache-2.0
// conformance/conformance_test.cpp — the body: every case of a family, at one place, against the
// interpreter.
#include "conformance.h"

namespace tilewright::conformance {

TEST_P(Conformance, AgreesWithTheInterpreter) {
  const auto& [family, place] = GetParam();
  if (const std::string reason = why_not(place); !reason.empty()) GTEST_SKIP() << reason;
  for (const Case& one : family.cases) {
    if (place == Place::Emulated && !one.emulated) continue;
    for (const std::string& complaint : run_case(family, one, place))
      ADD_FAILURE() << one.kernel << ", " << one.what << ": " << complaint;
  }
}

}  // namespace tilewright::conformance
