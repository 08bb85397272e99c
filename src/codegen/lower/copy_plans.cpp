// SPDX-License-Identifier: Apache-2.0
// codegen/lower/copy_plans.cpp — copies from global memory into slots of buffers: the loop over a
// thread's copies, and whether each moves a whole vector.
#include <algorithm>

#include "codegen/lower/element_plans.h"
#include "passes/laid/access_shape.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

constexpr int log_unrolled = 5;  // copies of one thread that are written out

}  // namespace

ElementPlans::ElementLoop ElementPlans::copy_loop(const Step& step) {
  ElementLoop loop = make_loop(step, layouts_.of_step(step));
  const int registers = loop.frame.layout->registers().columns();
  loop.log_vectors = std::min(registers - loop.log_vector, log_unrolled);
  loop.log_slices = registers - loop.log_vector - loop.log_vectors;
  loop.frame.space.variables[1].bits = loop.log_vectors;
  loop.frame.space.variables[2].bits = loop.log_slices;
  return loop;
}

// Whether each vector of the loop is 4, 8 or 16 bytes in a row and aligned, in memory and in the
// slot, and wanted whole or not at all.
bool ElementPlans::can_copy_vectors(const ElementLoop& loop, const ir::Op& op) const {
  const ir::Type& type = kernel_.type(op.operands[0]);
  const auto bytes = static_cast<int>(size_of(type.dtype)) << loop.log_vector;
  const AccessShape shape = access_shape(kernel_, alignments_, op);
  if (bytes < 4 || bytes > 16 || op.operands.size() > 3) return false;
  if (loop.log_vector > 0 && (shape.contiguous < 0 || shape.log_width < loop.log_vector))
    return false;
  const IndexMap place = layouts_.swizzle_of_buffer(kernel_.buffer_of(op))(loop.frame.place);
  const std::uint64_t inside = (1ull << loop.log_vector) - 1;
  const LogSizes sizes = sizes_of(type);
  for (int j = 0; j < loop.frame.space.bits(); ++j) {
    const std::uint64_t column = place.matrix.column(j);
    if (j >= loop.log_vector ? (column & inside) != 0 : column != 1ull << j) return false;
    if (j < loop.log_vector &&
        loop.frame.place.matrix.column(j) != 1ull << (first_bit(sizes, shape.contiguous) + j))
      return false;
  }
  return true;
}

const ir::Op* ElementPlans::formula_of(const ElementLoop& loop, const ir::Op& op) const {
  const ir::Op* affine = kernel_.maker(op.operands[0]);
  const Frame& frame = loop.frame;
  const Place first = first_of_vector(frame.place, loop.log_vector);
  const bool meets = (image_of(frame.space, first, 1, 2) & image_of(frame.space, first, 3, 4)) != 0;
  return affine && affine->kind == ir::OpKind::Affine && !meets && first.offset == 0 ? affine
                                                                                     : nullptr;
}

}  // namespace tilewright
