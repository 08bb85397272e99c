// SPDX-License-Identifier: Apache-2.0
// passes/laid/hand_overs.cpp — ends of regions, by kind of control flow.
#include "passes/laid/hand_overs.h"

#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;

std::vector<HandOver> hand_overs_of(const ir::Op& control) {
  using Values = std::span<const ir::Value>;
  const auto yielded = [&](std::size_t region) {
    return Values(control.regions[region].ops.back()->operands);
  };
  if (control.kind == OpKind::For)
    return {{yielded(0), Values(control.regions[0].arguments).subspan(1)}};
  if (control.kind == OpKind::While) {
    const Values head = control.regions[0].arguments, body = control.regions[1].arguments;
    return {{yielded(0).subspan(1), body}, {yielded(1), head, body.size()}};
  }
  if (control.kind != OpKind::If) return {};
  const Values results = control.results;
  return {{yielded(0), results}, {yielded(1), results, results.size()}};
}

bool is_overwritten(const ir::Kernel& kernel, const Sweeps& sweeps, const HandOver& values,
                    std::size_t i) {
  if (!is_tile(kernel, values.to[i]) || !sweeps.is_placed(values.from[i])) return false;
  const ir::Value source = sweeps.storage(values.from[i]);
  for (std::size_t j = 0; j < values.to.size(); ++j)
    if (j != i && is_tile(kernel, values.to[j]) && sweeps.storage(values.to[j]) == source)
      return true;
  return false;
}

}  // namespace tilewright
