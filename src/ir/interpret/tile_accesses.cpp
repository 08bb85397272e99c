// SPDX-License-Identifier: Apache-2.0
// ir/interpret/tile_accesses.cpp — loads, stores and atomics of tiles, and copies to buffers.
#include <utility>

#include "ir/interpret/program.h"

namespace tilewright::ir {

void TileAccesses::access(const Op& op) {
  switch (access_op(op.kind)) {
    case AccessOp::Load:
      return load(op);
    case AccessOp::Store:
      return store(op);
    case AccessOp::AtomicRmw:
      return atomic_rmw(op);
    case AccessOp::AtomicCas:
      return atomic_cas(op);
    case AccessOp::CopyAsync:
      return copy_async(op);
  }
}

Tile TileAccesses::read_tile(const Op& op, const Tile& pointers, const Tile* mask,
                             const Tile* other) const {
  const DType dtype = pointers.type.dtype;
  Tile out{pointers.type.pointee(), std::vector<Element>(pointers.size())};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (!mask || mask->at(i).i) out.elements[i] = checked_read(op, pointers.elements[i].i, dtype);
    else if (other) out.elements[i] = other->at(i);
    else out.elements[i].i = 0;  // +0.0 has the same bits
  }
  return out;
}

void TileAccesses::load(const Op& op) {
  set_result(op, read_tile(op, operand(op, 0), op.operands.size() > 1 ? &operand(op, 1) : nullptr,
                           op.operands.size() > 2 ? &operand(op, 2) : nullptr));
}

void TileAccesses::copy_async(const Op& op) {
  Copies::Copy copy{.op = &op,
                    .buffer = kernel_.buffer_of(op),
                    .slot = operand(op, 1).elements[0].i,
                    .pointers = operand(op, 0),
                    .mask = op.operands.size() > 2 ? operand(op, 2) : Tile{},
                    .other = op.operands.size() > 3 ? operand(op, 3) : Tile{}};
  copy.content = read_tile(op, copy.pointers, copy.mask.size() ? &copy.mask : nullptr,
                           copy.other.size() ? &copy.other : nullptr);
  if (const std::string problem = copies_.start(std::move(copy)); !problem.empty())
    fail(op, problem);
}

// A copy may read memory at any time until it is waited for: what it reads must not change.
void TileAccesses::wait_copies(const Op& op) {
  for (const Copies::Copy& copy : copies_.finish(op.integer("pending"))) {
    const Tile now = read_tile(*copy.op, copy.pointers, copy.mask.size() ? &copy.mask : nullptr,
                               copy.other.size() ? &copy.other : nullptr);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now.elements[i].i != copy.content.elements[i].i)
        fail(*copy.op, "memory was written while the copy of it was under way");
  }
}

void TileAccesses::read_buffer(const Op& op) {
  const std::size_t buffer = kernel_.buffer_of(op);
  const std::int64_t slot = operand(op, 0).elements[0].i;
  if (kernel_.is_in_ring(kernel_.buffers[buffer])) {
    Tile content;
    if (const std::string problem = rings_.read(buffer, slot, op.result(), content);
        !problem.empty())
      fail(op, problem);
    return set_result(op, std::move(content));
  }
  if (const std::string problem = copies_.read_problem(buffer, slot); !problem.empty())
    fail(op, problem);
  set_result(op, copies_.content(buffer, slot));
  copies_.note_read(op.result(), buffer, slot);
}

void TileAccesses::store(const Op& op) {
  if (options_.order != nullptr) options_.order->begin_store();
  const Tile& pointers = operand(op, 0);
  for (std::size_t i = 0; i < pointers.size(); ++i)
    if (op.operands.size() < 3 || operand(op, 2).at(i).i)
      checked_write(op, pointers.elements[i].i, pointers.type.dtype, operand(op, 1).at(i));
}

void TileAccesses::atomic_rmw(const Op& op) {
  const Type& type = result_type(op);
  const std::string_view kind = op.text("op");
  Op combine_op{.kind = OpKind::Add, .location = op.location};
  if (kind == "min") combine_op.kind = OpKind::Minimum;
  else if (kind == "max") combine_op.kind = OpKind::Maximum;
  else if (kind == "and") combine_op.kind = OpKind::And;
  else if (kind == "or") combine_op.kind = OpKind::Or;
  else if (kind == "xor") combine_op.kind = OpKind::Xor;

  const Tile& pointers = operand(op, 0);
  Tile out{type, std::vector<Element>(pointers.size(), Element{.i = 0})};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (op.operands.size() == 3 && !operand(op, 2).at(i).i) continue;
    const Element old = checked_read(op, pointers.elements[i].i, type.dtype);
    const Tile a{type.element(), {old}};
    const Tile b{type.element(), {operand(op, 1).at(i)}};
    const Tile* both[] = {&a, &b};
    const Tile combined = kind == "xchg" ? b : computed(combine_op, type.element(), both);
    const Element value = combined.elements[0];
    checked_write(op, pointers.elements[i].i, type.dtype, value);
    out.elements[i] = old;
  }
  set_result(op, std::move(out));
}

void TileAccesses::atomic_cas(const Op& op) {
  const Type& type = result_type(op);
  const Tile& pointers = operand(op, 0);
  Tile out{type, std::vector<Element>(pointers.size())};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const Element old = checked_read(op, pointers.elements[i].i, type.dtype);
    if (old.i == operand(op, 1).at(i).i)
      checked_write(op, pointers.elements[i].i, type.dtype, operand(op, 2).at(i));
    out.elements[i] = old;
  }
  set_result(op, std::move(out));
}

}  // namespace tilewright::ir
