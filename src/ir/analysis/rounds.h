// SPDX-License-Identifier: Apache-2.0
// ir/analysis/rounds.h — how many rounds a loop surely has where a condition holds: what is started
// for a later round is waited for there.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace tilewright::ir {

// A value as another one and a number: "k - 64".
struct Moved {
  Value root;  // none: the number alone
  std::int64_t by = 0;
};
Moved moved(const Kernel& kernel, Value value);

// Of a loop that has not begun: where "from + 64 < to" holds, one by 64 has at least 2. All of its
// rounds where their number is known.
std::int64_t rounds_to_come(const Kernel& kernel, const Op& loop, Value condition);
// Whether a condition is true where the loop has rounds, and false where it has none.
bool asks_for_rounds(const Kernel& kernel, const Op& loop, Value condition);
// Of a loop in a round, behind that one: "index + 64 < to".
std::int64_t rounds_behind(const Kernel& kernel, const Op& loop, Value condition);

}  // namespace tilewright::ir
