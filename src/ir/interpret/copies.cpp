// SPDX-License-Identifier: Apache-2.0
// ir/interpret/copies.cpp — states of slots, and groups of copies in order.
#include "ir/interpret/copies.h"

#include <utility>

#include <fmt/format.h>

namespace tilewright::ir {
namespace {

// Ops whose result is the operand's elements at other places: generated code does not copy them.
bool is_view(const Op& op) {
  return op.facts().maps(Same | Repeated | Reshaped | Permuted | Halved);
}

}  // namespace

Copies::Copies(const Kernel& kernel) : kernel_(kernel) {
  bool has_slots = false;
  for (const KernelBuffer& buffer : kernel.buffers) {
    slots_.emplace_back(static_cast<std::size_t>(buffer.slots));
    has_slots |= buffer.has_slots();
  }
  if (has_slots) origins_.resize(kernel.value_count());
}

std::string Copies::outside_problem(std::size_t buffer, std::int64_t slot) const {
  if (slot >= 0 && slot < static_cast<std::int64_t>(slots_[buffer].size())) return "";
  return fmt::format("slot {} of buffer '{}', which has {}", slot, kernel_.buffers[buffer].name,
                     slots_[buffer].size());
}

std::string Copies::start(Copy copy) {
  if (std::string problem = outside_problem(copy.buffer, copy.slot); !problem.empty())
    return problem;
  Slot& slot = slot_at(copy.buffer, copy.slot);
  if (slot.is_under_way)
    return fmt::format("slot {} of buffer '{}' is written while a copy into it is under way",
                       copy.slot, kernel_.buffers[copy.buffer].name);
  slot.is_under_way = true;
  slot.is_written = true;
  ++slot.copies;
  started_.push_back(std::move(copy));
  return "";
}

void Copies::commit() { groups_.push_back(std::exchange(started_, {})); }

std::vector<Copies::Copy> Copies::finish(std::int64_t pending) {
  std::vector<Copy> done;
  while (static_cast<std::int64_t>(groups_.size()) > pending) {
    for (Copy& copy : groups_.front()) {
      Slot& slot = slot_at(copy.buffer, copy.slot);
      slot.is_under_way = false;
      slot.content = copy.content;
      done.push_back(std::move(copy));
    }
    groups_.pop_front();
  }
  return done;
}

std::string Copies::read_problem(std::size_t buffer, std::int64_t slot) const {
  if (std::string problem = outside_problem(buffer, slot); !problem.empty()) return problem;
  const Slot& state = slots_[buffer][static_cast<std::size_t>(slot)];
  const std::string& name = kernel_.buffers[buffer].name;
  if (!state.is_written)
    return fmt::format("slot {} of buffer '{}' is read, but nothing was copied into it", slot,
                       name);
  if (state.is_under_way)
    return fmt::format("slot {} of buffer '{}' is read before its copy was waited for", slot, name);
  return "";
}

const Tile& Copies::content(std::size_t buffer, std::int64_t slot) const {
  return slots_[buffer][static_cast<std::size_t>(slot)].content;
}

void Copies::note_read(Value value, std::size_t buffer, std::int64_t slot) {
  origins_[value.id] = {static_cast<std::int64_t>(buffer), slot, slot_at(buffer, slot).copies};
}

std::string Copies::use_problem(const Op& op) {
  if (origins_.empty()) return "";
  for (const Value operand : op.operands) {
    const Origin& origin = origins_[operand.id];
    if (origin.buffer < 0) continue;
    const auto buffer = static_cast<std::size_t>(origin.buffer);
    if (slot_at(buffer, origin.slot).copies != origin.copies)
      return fmt::format("a tile of slot {} of buffer '{}' is used after a new copy into the slot",
                         origin.slot, kernel_.buffers[buffer].name);
  }
  if (is_view(op))
    for (const Value result : op.results) origins_[result.id] = origins_[op.operands[0].id];
  return "";
}

}  // namespace tilewright::ir
