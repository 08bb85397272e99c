// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/transposed_loads.cpp — from every store back to the loads of the same shape.
#include "codegen/cuda/transposed_loads.h"

#include "passes/laid/access_shape.h"
#include "passes/laid/alignment.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

// Loads that a value is made of element by element, and the dimensions along which they are stored.
class StoredLoads {
 public:
  StoredLoads(const ir::Kernel& kernel, const Alignments& alignments)
      : kernel_(kernel), alignments_(alignments), dimensions_(kernel.value_count(), 0) {
    ir::walk(kernel.body, [&](const ir::Op& op) {
      if (op.kind == OpKind::Store) visit_store(op);
    });
  }

  // Bits of the dimensions that stores of this load have their neighbours along.
  unsigned dimensions(ir::Value load) const { return dimensions_[load.id]; }

 private:
  void visit_store(const ir::Op& store) {
    const int contiguous = access_shape(kernel_, alignments_, store).contiguous;
    if (contiguous < 0) return;
    seen_.assign(kernel_.value_count(), false);
    visit(store.operands[1], 1u << contiguous);
  }

  void visit(ir::Value value, unsigned dimension) {
    if (!is_tile(kernel_, value) || seen_[value.id]) return;
    seen_[value.id] = true;
    const ir::Op* maker = kernel_.maker(value);
    if (!maker) return;
    if (maker->kind == OpKind::Load) dimensions_[value.id] |= dimension;
    if (!maker->facts().has(ir::Elementwise) && maker->kind != OpKind::Scan) return;
    for (ir::Value operand : maker->operands) visit(operand, dimension);
  }

  const ir::Kernel& kernel_;
  const Alignments& alignments_;
  std::vector<unsigned> dimensions_;
  std::vector<bool> seen_;
};

}  // namespace

std::vector<bool> transposed_loads(const ir::Kernel& kernel) {
  std::vector<bool> out(kernel.value_count(), false);
  if (has_dot(kernel)) return out;
  const Alignments alignments(kernel);
  const StoredLoads stored(kernel, alignments);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Load || !is_tile(kernel, op.result())) return;
    const int contiguous = access_shape(kernel, alignments, op).contiguous;
    const unsigned dimensions = stored.dimensions(op.result());
    out[op.result().id] = contiguous >= 0 && dimensions != 0 &&
                          (dimensions >> contiguous & 1) == 0 &&
                          !kernel.type(op.result()).is_bool();
  });
  return out;
}

}  // namespace tilewright
