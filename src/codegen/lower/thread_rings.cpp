// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_rings.cpp — a producer and its consumers in the program of a thread, the
// ring between them, copies by tensor maps, and what a store beside products is kept apart by.
#include "codegen/lower/thread_rings.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "codegen/lower/thread_lowering.h"
#include "ir/roles.h"
#include "layout/map_box.h"
#include "passes/defer_stores.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

const Type position_type = Type::scalar(DType::UInt32);

// Whether the branch stores a part of a tile that is held beside the sums of a loop: its addresses
// are computed there, and take no registers around the loop.
bool stores_held_part(const ir::Kernel& kernel, const ir::Op& branch) {
  bool found = false;
  for (const ir::Op* op : branch.regions[0].ops) {
    found |= op->kind == OpKind::StoreMap;
    if (op->kind == OpKind::Sweep)
      ir::walk(op->regions[0],
               [&](const ir::Op& inside) { found |= is_deferred_store(kernel, inside); });
  }
  return found;
}

// Of one slot of each of its buffers.
std::int64_t ring_bytes(const ir::Kernel& kernel, const ir::KernelRing& ring) {
  std::int64_t bytes = 0;
  for (const std::string& name : ring.buffers) {
    const Type& type = kernel.buffers[kernel.buffer_named(name)].type;
    bytes += type.numel() * static_cast<std::int64_t>(type.element_bytes());
  }
  return bytes;
}

// How a tensor map writes a slot.
MapBox box_of(const ir::Kernel& kernel, const TileLayouts& layouts, const ir::Op& op) {
  const std::size_t buffer = kernel.buffer_of(op);
  const Type& type = kernel.buffers[buffer].type;
  Swizzle swizzle = layouts.swizzle_of_buffer(buffer);
  swizzle.contiguous = kernel.map_of(op).dimensions[0].of_tile;  // the table has the order alone
  const std::optional<MapBox> box =
      find_map_box(sizes_of(type), swizzle, static_cast<int>(type.element_bytes()));
  TW_CHECK(box.has_value(), "the slots of buffer '{}' do not lie as a tensor map writes them",
           kernel.buffers[buffer].name);
  return *box;
}

}  // namespace

// ---- Roles

bool ThreadRings::parts_roles(const ir::Op& op) const {
  const ir::Op* asked = op.kind == OpKind::If ? kernel_.maker(op.operands[0]) : nullptr;
  return asked && asked->kind == OpKind::IsProducer;
}

// Words and slots of a ring live as long as the block: no other array has their place.
void ThreadRings::set_up_rings(ir::Location location) {
  for (const ir::KernelRing& ring : kernel_.rings) {
    const int slots = kernel_.slots_of(ring);
    const ir::Value words = make_shared(names_.make(ring.name + "_words"),
                                        Type::scalar(DType::UInt64), 2 * slots,
                                        kernel_.buffers[kernel_.buffer_named(ring.words)]);
    rings_[ring.name] = words;
    for (const std::string& buffer : ring.buffers) slots_of_buffer(kernel_.buffer_named(buffer));
    call_statement(LibraryKind::SetUpRing, {words}, {slots, kernel_.shape.warps}, location);
  }
  for (const ir::KernelMap& map : out_.maps)
    when(compare("eq", thread_, number(0)), [&] {
      call_statement(LibraryKind::PrefetchMap, {}, {}, {}, {{"map", map.name}});
    });
  statement(OpKind::Barrier, {}, *list_);
}

void ThreadRings::roles(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Op& asked = *kernel_.maker(op.operands[0]);
  set_up_rings(op.location);
  ir::Op* branch = out_.make_op(
      OpKind::If,
      {FinalBuilder::make(OpKind::IsProducer, {}, Type::scalar(b1), asked.attributes)}, {}, {});
  branch->regions.resize(2);
  insert(branch, *list_);
  for (const std::size_t side : {0, 1})
    region(branch->regions[side], [&] {
      state_.is_consuming = side == 1;
      families().program.steps(step.regions[side]);
      statement(OpKind::Yield, {}, *list_);
    });
  state_.is_consuming = false;
}

// ---- Rings

// All slots of a buffer.
ir::Value ThreadRings::slots_of_buffer(std::size_t number) {
  const auto found = slots_.find(number);
  if (found != slots_.end()) return found->second;
  const ir::KernelBuffer& buffer = kernel_.buffers[number];
  return slots_[number] = make_shared(names_.make(buffer.name), buffer.type.element(),
                                      buffer.slots * buffer.type.numel(), buffer);
}

ir::Value ThreadRings::position(ir::Value value) { return cast(scalar(value), DType::UInt32); }

ir::Value ThreadRings::slot_number(ir::Value value, int slots) {
  return FinalBuilder::make(OpKind::Remainder, {position(value), number(slots, DType::UInt32)},
                            position_type);
}

// One of them.
ir::Value ThreadRings::slot(const ir::Op& op, const std::string& name) {
  const ir::KernelBuffer& buffer = kernel_.buffers[kernel_.buffer_of(op)];
  const ir::Value index =
      sum({{slot_number(op.operands[0], buffer.slots), buffer.type.numel()}}, DType::UInt32);
  const ir::Value all = slots_of_buffer(kernel_.buffer_of(op));
  return named(FinalBuilder::make(OpKind::ArrayView, {all, index}, type_of(all), {}, op.location),
               name, *list_);
}

void ThreadRings::read_slot(const ir::Op& op) {
  const ir::Value result = op.result();
  arrays_[schedule_.storage(result).id] = slot(op, names_.make(kernel_.name_of(result), "slot"));
}

void ThreadRings::ring_op(const ir::Op& op) {
  if (op.kind == OpKind::CopyMap) return copy_map(op);
  if (op.kind == OpKind::Release) return give_back(op);
  const ir::KernelRing& ring = kernel_.ring_of(op);
  const std::int64_t slots = kernel_.slots_of(ring);
  const std::vector<ir::Value> operands = {rings_.at(ring.name), position(op.operands[0])};
  if (op.kind == OpKind::Acquire)
    return call_statement(LibraryKind::AcquireSlot, operands, {slots, ring_bytes(kernel_, ring)},
                          op.location);
  call_statement(LibraryKind::AwaitSlot, operands, {slots}, op.location);
}

// Once the products that read the slot are done.
void ThreadRings::give_back(const ir::Op& op) {
  if (families().groups.puts_off(op)) return;
  const ir::KernelRing& ring = kernel_.ring_of(op);
  const ir::Value condition = op.operands.size() > 1
                                  ? scalar(op.operands[1])
                                  : constant_of(Type::scalar(b1), std::int64_t{1});
  call_statement(LibraryKind::ReleaseSlot,
                 {rings_.at(ring.name), position(op.operands[0]), condition},
                 {kernel_.slots_of(ring)}, op.location);
}

// ---- Copies

void ThreadRings::copy_map(const ir::Op& op) {
  const ir::KernelMap& map = kernel_.map_of(op);
  const ir::KernelRing& ring = kernel_.ring_of(op);
  const Type& type = kernel_.buffers[kernel_.buffer_of(op)].type;
  const MapBox box = box_of(kernel_, layouts_, op);
  const ir::Value all = slots_of_buffer(kernel_.buffer_of(op));
  const ir::Value to = slot(op, names_.make(out_.name_of(all) + "_slot"));
  const int fast = map.dimensions[0].of_tile, slow = map.dimensions[1].of_tile;
  const std::string& map_name =
      out_.maps[static_cast<std::size_t>(&map - kernel_.maps.data())].name;
  const auto moved = [&](std::size_t operand, std::int64_t by) {
    return sum({{scalar(op.operands[operand])}, {number(by)}}, i32);
  };
  for (std::int64_t y = 0; y < type.size(slow); y += box.lines)
    for (std::int64_t x = 0; x < type.size(fast); x += box.line) {
      const std::int64_t offset = x / box.line * box.line * type.size(slow) + y * box.line;
      const ir::Value word = FinalBuilder::make(
          OpKind::ArrayView,
          {rings_.at(ring.name), slot_number(op.operands[0], kernel_.slots_of(ring))},
          type_of(rings_.at(ring.name)));
      std::vector<ir::Value> operands = {view(to, number(offset)), word, moved(1, x), moved(2, y)};
      for (std::size_t d = 2; d < map.dimensions.size(); ++d)
        operands.push_back(scalar(op.operands[d + 1]));
      call_statement(LibraryKind::CopyBox, operands, {box.line, box.lines, box.swizzle_bytes},
                     op.location, {{"map", map_name}});
    }
}

// ---- Stores beside products

void ThreadRings::begin_branch(const Step& step, std::size_t side) {
  if (side != 0 || !stores_held_part(kernel_, *step.op)) return;
  thread_ = named(call(LibraryKind::Here, {whole_thread_}, Type::scalar(i32)),
                  names_.make("thread"), *list_);
}

void ThreadRings::end_branch() { thread_ = whole_thread_; }

void ThreadRings::swap_lanes(ir::Value value) {
  for (const LaneSwap& swap : layouts_.swaps_of(value))
    call_statement(LibraryKind::SwapLanes, {array(value), thread_},
                   {layouts_.of_array(value).layout.register_count(), swap.lane,
                    swap.register_bit});
}

}  // namespace tilewright
