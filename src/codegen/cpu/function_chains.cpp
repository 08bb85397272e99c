// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/function_chains.cpp — how many functions each value waits for in its loop.
#include "codegen/cpu/function_chains.h"

#include <algorithm>

namespace tilewright {
namespace {

constexpr int most_functions = 2;  // one behind the other in a loop
constexpr std::int64_t fewest_elements = 256;

}  // namespace

std::vector<bool> cuts_of_chains(const ir::Kernel& kernel) {
  std::vector<bool> is_cut(kernel.value_count(), false);
  std::vector<int> functions(kernel.value_count(), 0);  // by value: those before it in its loop
  ir::walk(kernel.body, [&](const ir::Op& op) {
    // Loads, reductions, products and views begin anew.
    if (!op.facts().is(ir::Family::Elementwise) || op.results.size() != 1) return;
    const ir::Type& type = kernel.type(op.result());
    if (!type.is_tile() || type.numel() < fewest_elements) return;
    const bool is_function = op.kind == ir::OpKind::Math;
    int before = 0;
    for (const ir::Value operand : op.operands) {
      if (is_function && functions[operand.id] == most_functions) is_cut[operand.id] = true;
      if (!is_cut[operand.id]) before = std::max(before, functions[operand.id]);
    }
    functions[op.result().id] = before + (is_function ? 1 : 0);
  });
  return is_cut;
}

}  // namespace tilewright
