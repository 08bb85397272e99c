// SPDX-License-Identifier: Apache-2.0
// passes/laid/access_shape.cpp — strides and alignment of pointers with a formula, and what the
// analysis of axes knows of others.
#include "passes/laid/access_shape.h"

#include <algorithm>
#include <bit>

#include "ir/constant.h"

namespace tilewright {
namespace {

using ir::OpKind;

int log2_of(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

// Of pointers without a formula, by what the analysis of axes knows of them.
AccessShape analysed_shape(const ir::Kernel& kernel, const AxisAnalysis& axes, const ir::Op& op) {
  AccessShape out;
  for (int d = 0; d < kernel.type(op.operands[0]).rank; ++d) {
    const int log_width = log2_of(axes.pointer_width(op, d));
    if (log_width <= out.log_width) continue;
    const AxisFacts& facts = axes.of(op.operands[0]).dimensions[static_cast<std::size_t>(d)];
    out = {.contiguous = d, .log_run = log2_of(facts.contiguous), .log_width = log_width};
  }
  return out;
}

AccessShape affine_shape(const ir::Kernel& kernel, const Alignments& alignments, const ir::Op& op,
                         const ir::Op& affine) {
  const ir::Type& type = kernel.type(op.operands[0]);
  const auto size = static_cast<std::int64_t>(size_of(type.dtype));
  AccessShape out;
  std::int64_t aligned = std::min<std::int64_t>(alignments.of(affine.operands[0]), 16);
  if (alignments.is_rotated_into_line(op)) aligned = alignments.rotation()->vector * size;
  for (int d = 0; d < type.rank; ++d) {
    const ir::Value stride = affine.operands[static_cast<std::size_t>(d) + 1];
    if (type.size(d) == 1) continue;
    // Of two dimensions with stride 1 one is contiguous; the other moves the start by one element.
    const bool is_first = out.contiguous < 0;
    const bool is_contiguous = ir::integer_constant(kernel, stride) == 1;
    if (is_contiguous) out.contiguous = d;
    if (!is_contiguous || !is_first) aligned = std::min(aligned, alignments.of(stride) * size);
  }
  if (out.contiguous < 0) return {};
  const std::int64_t elements =
      std::min(std::max<std::int64_t>(aligned / size, 1), type.size(out.contiguous));
  out.log_run = log2_of(type.size(out.contiguous));
  out.log_width = log2_of(elements);
  return out;
}

}  // namespace

AccessShape access_shape(const ir::Kernel& kernel, const Alignments& alignments, const ir::Op& op) {
  const ir::Op* pointers = kernel.maker(op.operands[0]);
  const bool is_affine = pointers && pointers->kind == OpKind::Affine;
  if (!kernel.type(op.operands[0]).is_tile()) return {};
  AccessShape out = is_affine ? affine_shape(kernel, alignments, op, *pointers)
                              : analysed_shape(kernel, alignments.axes(), op);
  // A copy is made whole or not at all.
  if (op.kind == OpKind::CopyAsync && op.operands.size() > 2 && out.contiguous >= 0) {
    const AxisInfo& mask = alignments.axes().of(op.operands[2]);
    const auto equal = mask.dimensions[static_cast<std::size_t>(out.contiguous)].constant;
    out.log_width = std::min(out.log_width, log2_of(equal));
  }
  return out;
}

}  // namespace tilewright
