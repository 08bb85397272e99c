// SPDX-License-Identifier: Apache-2.0
// codegen/lower/stream_facts.cpp — which stores of a nest go around the caches, and which are all
// that it does.
#include <algorithm>
#include <set>

#include "codegen/lower/nest_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Shorter rows have too few whole lines.
constexpr std::int64_t shortest_row_bytes = 256;

}  // namespace

// Arguments that the kernel only writes, and that it writes through no other pointer.
void NestFacts::find_streams() {
  const auto is_used_otherwise = [&](const ir::Value argument) {
    bool is_used = false;
    ir::walk(kernel_.body, [&](const ir::Op& op) {
      is_used |= ir::is_access(kernel_, op) &&
                 order_of_memory_.may_overlap(op.operands[0], argument) &&
                 (op.facts().has(ir::Reads) || argument_of(op) != argument);
    });
    return is_used;
  };
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Store || !kernel_.type(op.operands[0]).is_tile()) return;
    const ir::Value argument = argument_of(op);
    if (argument && !is_used_otherwise(argument)) streamed_arguments_.insert(argument.id);
  });
}

bool NestFacts::is_streamed(const NestShape& nest, const ir::Op& store) const {
  if (store.kind != OpKind::Store || nest.loops.empty() || nest.is_merged || !is_simd(*nest.step))
    return false;
  const ir::Op* pointer = kernel_.maker(store.operands[0]);
  if (!pointer || pointer->kind != OpKind::Affine || constant(pointer->operands.back()) != 1)
    return false;
  const Type& type = kernel_.type(store.operands[1]);
  const Loop& row = nest.loops.back();
  return !type.is_bool() && !type.is_pointer &&
         row.size * static_cast<std::int64_t>(type.element_bytes()) >= shortest_row_bytes &&
         row.last == type.rank && streamed_arguments_.contains(argument_of(store).id) &&
         is_vector_access(nest, store);
}

// The op that computes the value in this loop, if it is met for the first time.
const ir::Op* NestFacts::met_first(const NestShape& nest, ir::Value value,
                                   std::set<std::uint32_t>& seen) const {
  const bool is_here = kernel_.type(value).is_tile() && !schedule_.is_in_array(value, *nest.step);
  return is_here && seen.insert(value.id).second ? kernel_.maker(value) : nullptr;
}

// Whether a value that the loop computes takes an exponential or the like.
bool NestFacts::has_math(const NestShape& nest, ir::Value value,
                         std::set<std::uint32_t>& seen) const {
  const ir::Op* op = met_first(nest, value, seen);
  return op && (op->kind == OpKind::Math ||
                std::any_of(op->operands.begin(), op->operands.end(),
                            [&](ir::Value operand) { return has_math(nest, operand, seen); }));
}

// The f32 that a loop of one streamed store computes for each element; none when there is more to
// do. Smaller floats are rounded when the row is written.
ir::Value NestFacts::stored_f32(const NestShape& nest) const {
  const Step& step = *nest.step;
  if (!step.kept.empty() || !step.reductions.empty() || !surely_vectorises(nest)) return {};
  const ir::Op* store = nullptr;
  for (const ir::Op* op : step.ops) {
    if (!op->facts().has(ir::Writes)) continue;
    if (store || !is_streamed(nest, *op)) return {};
    store = op;
  }
  if (!store) return {};
  ir::Value value = store->operands[1];
  const DType dtype = kernel_.type(value).dtype;
  const ir::Op* cast = kernel_.maker(value);
  const bool is_rounded = (dtype == DType::Float16 || dtype == DType::BFloat16) && cast &&
                          cast->kind == OpKind::Cast && cast->text("rounding").empty() &&
                          !schedule_.is_in_array(value, *nest.step);
  if (is_rounded) value = cast->operands[0];
  return kernel_.type(value).dtype == DType::Float32 ? value : ir::Value{};
}

// The same where it takes long to compute.
ir::Value NestFacts::mapped_value(const NestShape& nest) const {
  const ir::Value value = stored_f32(nest);
  std::set<std::uint32_t> seen;
  return value && has_math(nest, value, seen) ? value : ir::Value{};
}

// The op that makes an f32 of this loop which nothing else uses; null for any other.
const ir::Op* NestFacts::only_for_this(const NestShape& nest, ir::Value value, OpKind kind) const {
  const Type& type = kernel_.type(value);
  const ir::Op* op = kernel_.maker(value);
  const bool is_only = kernel_.name_of(value).empty() || uses_[value.id] == 1;
  const bool is_free = op && op->kind == kind && type.is_tile() && is_only &&
                       !schedule_.is_in_array(value, *nest.step);
  return is_free && type.dtype == DType::Float32 ? op : nullptr;
}

}  // namespace tilewright
