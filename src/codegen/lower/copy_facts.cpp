// SPDX-License-Identifier: Apache-2.0
// codegen/lower/copy_facts.cpp — which operands lie along the depth, and what pointers of copies
// are computed from.
#include "codegen/lower/copy_facts.h"

#include <vector>

#include "passes/laid/access_shape.h"
#include "passes/laid/dot_plan.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;

namespace {

// Whether all copies to the slots that an operand is read from go along its dimension `depth`.
bool is_copied_along(const ir::Kernel& laid, const LaidFacts& facts, ir::Value operand, int depth) {
  const ir::Op* read = laid.maker(facts.sweeps.source_of(operand));
  for (; read && read->kind == OpKind::Permute; read = laid.maker(read->operands[0]))
    depth = static_cast<int>(read->integers("order")[static_cast<std::size_t>(depth)]);
  if (!read || read->kind != OpKind::ReadBuffer) return false;
  const std::size_t buffer = laid.buffer_of(*read);
  bool are_along = true;
  ir::walk(laid.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::CopyAsync && laid.buffer_of(op) == buffer)
      are_along &= access_shape(laid, facts.alignments, op).contiguous == depth;
  });
  return are_along;
}

// 64 rows, 128 columns and 128 bytes of depth.
bool is_flat(const ir::Kernel& laid, const ir::Op& dot) {
  const ir::Type& left = laid.type(dot.operands[0]);
  const ir::Type& sum = laid.type(dot.result());
  return sum.rank == 2 && sum.size(0) == 64 && sum.size(1) == 128 &&
         left.size(1) * static_cast<std::int64_t>(left.element_bytes()) == 128;
}

}  // namespace

// Tutorial 03 on an H200, of cuBLAS: tf32 128 x 128 x 32 and 4 warps 0.80 before, 0.99 with it; f16
// 128 x 128 x 64 0.68, 0.75; where the right operand's lines lie across the depth it was slower
// (128 x 256 x 64, 8 warps: 0.93, 0.83). Not with 64 rows, 128 columns and 128 bytes of depth: 64 x
// 8192 x 8192 0.984, 1.017; 4096^3 0.565, 0.588; 2048^3 0.575, 0.594. Other tiles of 64 rows gain
// here and lose there (64 x 256 x 32 at 4096^3 0.765, 0.654).
bool has_lines_along_depth(const ir::Kernel& laid, const LaidFacts& facts) {
  bool all = has_asynchronous_dots(laid), found = false;
  ir::walk(laid.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Dot) return;
    found = true;
    if (is_flat(laid, op)) return;
    all = all && is_copied_along(laid, facts, op.operands[0], 1) &&
          is_copied_along(laid, facts, op.operands[1], 0);
  });
  return all && found;
}

// What is computed element by element, without a division: compilers would work it out again in
// every round rather than keep it (tutorial 09: 0.84 of cuBLAS, 0.85 kept).
std::set<std::uint32_t> settled_indices(const ir::Kernel& laid, const Sweeps& sweeps) {
  if (!has_asynchronous_dots(laid)) return {};
  std::vector<ir::Value> open;
  ir::walk(laid.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::CopyAsync) open.push_back(op.operands[0]);
  });
  std::set<std::uint32_t> out, seen;
  bool divides = false;
  while (!open.empty()) {
    const ir::Value value = sweeps.source_of(open.back());
    open.pop_back();
    const ir::Type& type = laid.type(value);
    if (!type.is_tile() || !seen.insert(value.id).second) continue;
    if (!type.is_pointer && type.dtype == DType::Int32) out.insert(value.id);
    const ir::Op* maker = laid.maker(value);
    if (!maker) continue;
    divides |= maker->kind == OpKind::Remainder || maker->kind == OpKind::Divide;
    if (maker->facts().has(ir::Elementwise) || maker->facts().is(ir::Family::View))
      open.insert(open.end(), maker->operands.begin(), maker->operands.end());
  }
  return divides ? std::set<std::uint32_t>{} : out;
}

}  // namespace tilewright
