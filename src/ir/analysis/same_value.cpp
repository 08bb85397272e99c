// SPDX-License-Identifier: Apache-2.0
// ir/analysis/same_value.cpp — from both values back to what they have in common.
#include "ir/analysis/same_value.h"

#include <algorithm>

namespace tilewright::ir {
namespace {

// Longer chains are taken to differ.
constexpr int most_ops = 64;

bool is_same(const Kernel& kernel, Value a, Value b, int& budget);

bool are_same_ops(const Kernel& kernel, const Op& a, const Op& b, int& budget) {
  if (a.kind != b.kind || a.operands.size() != b.operands.size() || !a.regions.empty() ||
      !b.regions.empty() || !(a.attributes == b.attributes) || --budget < 0)
    return false;
  for (std::size_t k = 0; k < a.operands.size(); ++k)
    if (!is_same(kernel, a.operands[k], b.operands[k], budget)) return false;
  return true;
}

bool is_same(const Kernel& kernel, Value a, Value b, int& budget) {
  if (a == b) return true;
  const Op* one = kernel.maker(a);
  const Op* two = kernel.maker(b);
  // Scalars stand outside sweeps, where each is computed once.
  if (!one || !two || !one->facts().has(Pure) || !kernel.type(a).is_tile() ||
      kernel.type(a) != kernel.type(b))
    return false;
  const auto number = [](const Op& op, Value value) {
    return std::find(op.results.begin(), op.results.end(), value) - op.results.begin();
  };
  return number(*one, a) == number(*two, b) && are_same_ops(kernel, *one, *two, budget);
}

}  // namespace

bool is_same_value(const Kernel& kernel, Value a, Value b) {
  int budget = most_ops;
  return is_same(kernel, a, b, budget);
}

bool is_same_op(const Kernel& kernel, const Op& a, const Op& b) {
  int budget = most_ops;
  return are_same_ops(kernel, a, b, budget);
}

}  // namespace tilewright::ir
