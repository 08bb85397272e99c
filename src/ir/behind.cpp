// SPDX-License-Identifier: Apache-2.0
// ir/behind.cpp — a walk over operands that remembers where it was.
#include "ir/behind.h"

#include <unordered_set>
#include <vector>

namespace tilewright::ir {

bool any_behind(const Kernel& kernel, Value value, const std::function<Ask(Value)>& ask) {
  std::unordered_set<std::uint32_t> seen;
  std::vector<Value> open = {value};
  while (!open.empty()) {
    const Value next = open.back();
    open.pop_back();
    if (!seen.insert(next.id).second) continue;
    const Ask answer = ask(next);
    if (answer == Ask::Found) return true;
    const Op* maker = kernel.maker(next);
    if (answer == Ask::Further && maker)
      open.insert(open.end(), maker->operands.rbegin(), maker->operands.rend());
  }
  return false;
}

}  // namespace tilewright::ir
