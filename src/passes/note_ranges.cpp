// SPDX-License-Identifier: Apache-2.0
// passes/note_ranges.cpp — see note_ranges.h.
#include "passes/note_ranges.h"

#include <cmath>
#include <string>

#include "ir/analysis/value_ranges.h"

namespace tilewright {
namespace {

void note_range(ir::Op& op, const std::string& of, const ir::Range& range) {
  if (std::isfinite(range.low)) op.set(of + "_from", range.low);
  if (std::isfinite(range.high)) op.set(of + "_to", range.high);
}

}  // namespace

void note_ranges(ir::Kernel& kernel, const Target&) {
  const ir::ValueRanges ranges(kernel);
  ir::walk(kernel.body, [&](ir::Op& op) {
    if (op.kind == ir::OpKind::Math) note_range(op, "argument", ranges.of(op.operands[0]));
    if (op.kind == ir::OpKind::Divide) note_range(op, "divisor", ranges.of(op.operands[1]));
  });
}

}  // namespace tilewright
