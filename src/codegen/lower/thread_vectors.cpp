// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_vectors.cpp — loads and stores of vectors.
#include "codegen/lower/thread_vectors.h"

#include <string_view>

#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

void ThreadVectors::load_vector(Loop& loop, const Preload& preload, ir::Value tile,
                                ir::Value start) {
  if (!preload.access) {
    const std::int64_t count = std::int64_t{1} << loop.plan.log_vector;
    const ir::Value from = plans_.is_stowed(preload.value)
                               ? families().rows.row_vector(loop, preload.place)
                               : shared_vector(loop, preload.value, preload.place);
    statement(OpKind::LoadTo, {view(tile, start), from}, *list_,
              {{"count", count}, {"width", count}});
    return;
  }
  const VectorAccess& access = *preload.access;
  const ir::Op& op = *access.op;
  const Type element = type_of(tile).element();
  if (loop.plan.log_vector == 0) {
    std::vector<ir::Value> operands = {vector_pointer(loop, access)};
    if (const ir::Value condition = vector_condition(loop, access))
      operands.insert(operands.end(),
                      {condition, other_of(op, kernel_.type(op.result()).element())});
    std::vector<ir::Attribute> attributes;
    if (const std::string_view cache = plans_.cache_of(op); !cache.empty())
      attributes.push_back({"cache", std::string(cache)});
    const ir::Value read = FinalBuilder::make(
        OpKind::Load, operands, kernel_.type(op.result()).element(), attributes, op.location);
    statement(OpKind::Write, {tile, start, cast(read, element.dtype)}, *list_, {}, op.location);
    return;
  }
  if (access.is_rotated) return families().rows.load_rotated(loop, access, view(tile, start));
  Frame& frame = loop.plan.frame;
  frame.is_whole_vector = true;
  const ir::Value pointer = vector_pointer(loop, access);
  const Guards guards = vector_guards(loop, access);
  frame.is_whole_vector = false;
  std::vector<ir::Value> operands = {view(tile, start), pointer};
  operands.insert(operands.end(), guards.begin(), guards.end());
  if (!guards.empty()) operands.push_back(other_of(op, element));
  statement(OpKind::LoadTo, operands, *list_, vector_attributes(loop, access, guards), op.location);
}

ir::Value ThreadVectors::vector_pointer(Loop& loop, const VectorAccess& access) {
  if (access.affine) return affine(loop, *access.affine, access.place);
  return element(loop, access.op->operands[0],
                 first_of_vector(access.place, loop.plan.frame.space.variables[0].bits));
}

// Of one element, or of a vector that is inside whole or not at all; none where all are.
ir::Value ThreadVectors::vector_condition(Loop& loop, const VectorAccess& access) {
  if (access.mask)
    return element(loop, access.mask,
                   first_of_vector(access.place, loop.plan.frame.space.variables[0].bits));
  if (!access.bounds) return {};
  const std::vector<ir::Value> conditions = bounds(loop, *access.bounds, access.place);
  return conditions.empty() ? ir::Value{} : all(conditions);
}

ThreadVectors::Guards ThreadVectors::vector_guards(Loop& loop, const VectorAccess& access) {
  if (plans_.is_all_or_nothing(loop.plan.frame, access)) {
    const ir::Value inside = vector_condition(loop, access);
    return inside ? Guards{inside} : Guards{};
  }
  const ir::Op& op = *access.bounds;
  const int d = access.contiguous;
  const std::vector<ir::Value> outer = bounds(loop, op, access.place, d);
  const ir::Value low = op.operands[2 * static_cast<std::size_t>(d)];
  const ir::Value high = scalar(op.operands[2 * static_cast<std::size_t>(d) + 1]);
  const auto least = plans_.constant_of(low);
  const ir::Value at = coordinate(loop, access.place, kernel_.type(op.result()), d);
  const auto from_there = [&](ir::Value bound) {
    return sum({{bound}, {at, -1}}, type_of(bound).dtype);
  };
  const ir::Value first = least && *least <= 0 ? number(0) : from_there(scalar(low));
  ir::Value end = from_there(high);
  if (!outer.empty())
    end = FinalBuilder::make(OpKind::Select, {all(outer), end, number(0, type_of(end).dtype)},
                             type_of(end));
  return {first, end};
}

std::vector<ir::Attribute> ThreadVectors::vector_attributes(const Loop& loop,
                                                            const VectorAccess& access,
                                                            const Guards& guards) const {
  // One by one the elements of parts that are inside or outside whole take twice the instructions.
  const int part = guards.size() == 2 && !access.op->facts().is_atomic()
                       ? plans_.part_of_vector(loop.plan.frame, access)
                       : 1;
  std::vector<ir::Attribute> out = {{"count", std::int64_t{1} << loop.plan.log_vector},
                                    {"width", std::int64_t{part > 1 ? part : access.width}}};
  if (const std::string_view cache = plans_.vector_cache(access, guards.size() == 2 && part == 1);
      !cache.empty())
    out.push_back({"cache", std::string(cache)});
  if (part > 1) out.push_back({"parts", std::int64_t{1}});
  return out;
}

ir::Value ThreadVectors::other_of(const ir::Op& load, const Type& element) {
  const Type& type = kernel_.type(load.result());
  if (load.operands.size() < 3) return zero_of(element);
  const ir::Op* maker = kernel_.maker(load.operands[2]);
  while (is_mapped_view(*maker)) maker = kernel_.maker(maker->operands[0]);
  const ir::Value other = maker->kind == OpKind::Splat ? scalar(maker->operands[0])
                                                       : constant_of(type, *maker->find("value"));
  return element.dtype == type.dtype ? other : FinalBuilder::make(OpKind::Cast, {other}, element);
}

void ThreadVectors::store_vector(Loop& loop, const VectorAccess& access, ir::Value from) {
  Frame& frame = loop.plan.frame;
  const auto write = [&] {
    if (access.is_rotated) return families().rows.store_rotated(loop, access, from);
    frame.is_whole_vector = true;
    std::vector<ir::Value> operands = {vector_pointer(loop, access), from};
    const Guards guards = vector_guards(loop, access);
    frame.is_whole_vector = false;
    operands.insert(operands.end(), guards.begin(), guards.end());
    std::vector<ir::Attribute> attributes = vector_attributes(loop, access, guards);
    if (access.op->facts().is_atomic()) families().atomics.note_atomic(access, attributes);
    statement(OpKind::StoreFrom, operands, *list_, attributes, access.op->location);
  };
  if (const ir::Value own = owner(*frame.layout)) {
    loop.scopes.emplace_back();
    when(own, write);
    loop.scopes.pop_back();
  } else {
    write();
  }
}

}  // namespace tilewright
