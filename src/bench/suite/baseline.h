// SPDX-License-Identifier: Apache-2.0
// bench/suite/baseline.h — is this run slower than an earlier one?
#pragma once

#include <string>
#include <vector>

#include "bench/suite/record.h"

namespace tilewright::suite {

struct Verdict {
  enum class Kind { Same, Faster, Slower, New, Broken };
  Record now;
  double ratio = 0;  // of the medians, now / before; 0 where there is none
  Kind kind = Kind::Same;
};

// Records that are the same work (operation, way, device, dtype, shape) are compared. Slower or
// faster is what differs by more than `threshold` and whose 95% intervals lie apart; Broken is what
// had a time and has none now.
std::vector<Verdict> compare_with(const Report& before, const Report& now, double threshold = 0.05);

bool has_regression(const std::vector<Verdict>& verdicts);
std::string verdicts_text(const std::vector<Verdict>& verdicts, const std::string& baseline);

}  // namespace tilewright::suite
