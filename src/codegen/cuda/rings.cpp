// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/rings.cpp — a producer and its consumers, the ring between them, and copies by
// tensor maps.
#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "layout/map_box.h"

namespace tilewright {

using ir::OpKind;

// ---- Roles

// Words and slots of a ring live as long as the block: no other array has their place.
void Emitter::declare_rings() {
  parts_.insert("ring");
  for (const ir::KernelRing& ring : kernel_.rings) {
    const std::string name = names_.make(ring.name + "_words");
    rings_[ring.name] = name;
    const int slots = kernel_.slots_of(ring);
    shared_.add(name, "u64", 2 * slots, kernel_.buffers[kernel_.buffer_named(ring.words)], false);
    for (const std::string& buffer : ring.buffers)
      static_cast<void>(declare_buffer(kernel_.buffer_named(buffer)));
    out_.format("tw::set_up_ring<{}>({}, {});", slots, name, threads_ / lanes_);
  }
  for (const auto& [map, name] : map_names_)
    out_.format("if (thread == 0) tw::prefetch_map({});", name);
  out_.line("__syncthreads();");
}

void Emitter::emit_roles(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Op& role = *kernel_.maker(op.operands[0]);
  const std::vector<std::int64_t> registers = role.integers("registers");
  note_line(op.location);
  declare_rings();
  const SharedMemory::States before = shared_.states();
  const GlobalMemory::Uses used_before = global_.uses();
  out_.open(fmt::format("if (thread >= {})", threads_));
  if (!registers.empty()) out_.format("tw::fewer_registers<{}>();", registers[0]);
  out_.open(fmt::format("if (thread == {})", threads_));
  steps(step.regions[0]);
  out_.close();
  shared_.restore(before);
  global_.restore(used_before);
  out_.outdent();
  out_.open("} else");
  if (!registers.empty()) out_.format("tw::more_registers<{}>();", registers[1]);
  is_consuming_ = true;
  steps(step.regions[1]);
  is_consuming_ = false;
  out_.close();
}

// ---- Rings

std::string Emitter::position_text(ir::Value position) {
  return fmt::format("u32({})", bare(scalar(position)));
}

std::int64_t Emitter::ring_bytes(const ir::KernelRing& ring) const {
  std::int64_t bytes = 0;
  for (const std::string& name : ring.buffers) {
    const ir::Type& type = kernel_.buffers[kernel_.buffer_named(name)].type;
    bytes += type.numel() * static_cast<std::int64_t>(type.element_bytes());
  }
  return bytes;
}

void Emitter::emit_ring_op(const ir::Op& op) {
  const ir::KernelRing& ring = kernel_.ring_of(op);
  const std::string& words = rings_.at(ring.name);
  const int slots = kernel_.slots_of(ring);
  const std::string position = position_text(op.operands[0]);
  if (op.kind == OpKind::Acquire)
    return statement(
        op, fmt::format("tw::acquire<{}>({}, {}, {});", slots, words, position, ring_bytes(ring)));
  if (op.kind == OpKind::Release) {
    if (is_read_by_products(op)) return owed_.push_back(&op);
    return emit_release(op);
  }
  statement(op, fmt::format("tw::await<{}>({}, {});", slots, words, position));
  for (const std::string& buffer : ring.buffers)
    shared_.note_arrival(declare_buffer(kernel_.buffer_named(buffer)));
}

void Emitter::emit_release(const ir::Op& op) {
  const ir::KernelRing& ring = kernel_.ring_of(op);
  statement(op, fmt::format("tw::release<{}>({}, {}, {});", kernel_.slots_of(ring),
                            rings_.at(ring.name), position_text(op.operands[0]),
                            op.operands.size() > 1 ? bare(scalar(op.operands[1])) : "true"));
}

// ---- Copies

MapBox Emitter::box_of(const ir::Op& op) const {
  const std::size_t buffer = kernel_.buffer_of(op);
  const ir::Type& type = kernel_.buffers[buffer].type;
  Swizzle swizzle = layouts_.swizzle_of_buffer(buffer);
  swizzle.contiguous = kernel_.map_of(op).dimensions[0].of_tile;  // the table has the order alone
  const std::optional<MapBox> box =
      find_map_box(sizes_of(type), swizzle, static_cast<int>(type.element_bytes()));
  TW_CHECK(box.has_value(), "the slots of buffer '{}' do not lie as a tensor map writes them",
           kernel_.buffers[buffer].name);
  return *box;
}

void Emitter::emit_copy_map(const ir::Op& op) {
  const ir::KernelMap& map = kernel_.map_of(op);
  const ir::KernelRing& ring = kernel_.ring_of(op);
  const ir::Type& type = kernel_.buffers[kernel_.buffer_of(op)].type;
  const MapBox box = box_of(op);
  boxes_[map.name] = box;
  const std::string slot = names_.make(buffer_name(op) + "_slot");
  statement(op, fmt::format("{}* const {} = {};", type_text(type.element()), slot,
                            slot_text(op, op.operands[0])));
  const int fast = map.dimensions[0].of_tile, slow = map.dimensions[1].of_tile;
  const std::string full = fmt::format("{} + {} % {}", rings_.at(ring.name),
                                       position_text(op.operands[0]), kernel_.slots_of(ring));
  std::string further;  // coordinates of dimensions that the tile has one of
  for (std::size_t d = 2; d < map.dimensions.size(); ++d)
    further += fmt::format(", {}", bare(scalar(op.operands[d + 1])));
  for (std::int64_t y = 0; y < type.size(slow); y += box.lines)
    for (std::int64_t x = 0; x < type.size(fast); x += box.line) {
      const std::int64_t offset = x / box.line * box.line * type.size(slow) + y * box.line;
      out_.format("tw::copy_map({}, {}, {}, {}, {}{});", sum_text(slot, fmt::format("{}", offset)),
                  map_names_.at(map.name), full,
                  bare(sum_text(scalar(op.operands[1]), fmt::format("{}", x))),
                  bare(sum_text(scalar(op.operands[2]), fmt::format("{}", y))), further);
    }
}

}  // namespace tilewright
