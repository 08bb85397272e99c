// SPDX-License-Identifier: Apache-2.0
// passes/canonicalize.cpp — all rules together.
#include "passes/canonicalize.h"

#include <vector>

namespace tilewright {

void canonicalize(ir::Kernel& kernel, const Target&) {
  static const std::vector<ir::Rule> rules = [] {
    std::vector<ir::Rule> all;
    for (const auto group : {arithmetic_rules(), shape_rules(), memory_rules(), control_rules()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  ir::rewrite(kernel, rules);
}

}  // namespace tilewright
