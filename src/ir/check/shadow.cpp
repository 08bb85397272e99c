// SPDX-License-Identifier: Apache-2.0
// ir/check/shadow.cpp — dense records by address, and clocks of programs.
#include "ir/check/shadow.h"

#include <algorithm>
#include <new>

namespace tilewright::ir {
namespace {

constexpr std::int64_t most_clocked_programs = 4096;

std::uint64_t begin_of(const InterpretBuffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.data) & TaggedPointer::address_mask;
}

// Programs learn of each other only by what an atomic op gives them.
bool gives_to_others(const Kernel& kernel) {
  std::vector<bool> is_used(kernel.value_count());
  walk(kernel.body, [&](const Op& op) {
    for (const Value operand : op.operands) is_used[operand.id] = true;
  });
  bool found = false;
  walk(kernel.body, [&](const Op& op) {
    if (op.kind == OpKind::AtomicCas) found = true;
    if (op.kind == OpKind::AtomicRmw) found |= is_used[op.result().id] || op.text("op") == "xchg";
    if (op.kind == OpKind::Load) found |= op.integer("volatile") != 0;
  });
  return found;
}

std::uint64_t smallest_element(const Kernel& kernel) {
  std::uint64_t smallest = 8;
  walk(kernel.body, [&](const Op& op) {
    if (!op.facts().has(Reads) && !op.facts().has(Writes)) return;
    const Type& type = kernel.type(op.operands[0]);
    if (type.is_pointer) smallest = std::min<std::uint64_t>(smallest, size_of(type.dtype));
  });
  return smallest;
}

}  // namespace

Shadow::Shadow(const Kernel& kernel, std::span<const InterpretBuffer> buffers,
               std::span<const UnwrittenRange> unwritten, std::int64_t programs)
    : buffers_(buffers), granule_(smallest_element(kernel)), uses_clocks_(gives_to_others(kernel)) {
  is_blind_ = uses_clocks_ && programs > most_clocked_programs;
  if (uses_clocks_ && !is_blind_) known_.resize(static_cast<std::size_t>(programs) + 1);
  // Arguments may share memory: one region for all that overlap.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const InterpretBuffer& buffer : buffers)
    if (buffer.bytes > 0) ranges.emplace_back(begin_of(buffer), begin_of(buffer) + buffer.bytes);
  std::sort(ranges.begin(), ranges.end());
  for (const auto& [begin, end] : ranges) {
    if (!regions_.empty() && begin < regions_.back().end)
      regions_.back().end = std::max(regions_.back().end, end);
    else regions_.push_back({begin, end});
  }
  for (Region& region : regions_) {
    const std::size_t count = (region.end - region.begin) / granule_ + 1;
    // Zeroed by the system when a page is touched: large tensors of which little is used are cheap.
    region.cells.reset(static_cast<ShadowCell*>(std::calloc(count, sizeof(ShadowCell))));
    if (region.cells == nullptr) throw std::bad_alloc();
  }
  for (const UnwrittenRange& range : unwritten) {
    const std::uint64_t begin =
        reinterpret_cast<std::uintptr_t>(range.data) & TaggedPointer::address_mask;
    Region* const region = region_at(begin);
    if (region == nullptr) continue;
    const std::uint64_t end = std::min(begin + range.bytes, region->end);
    for (std::uint64_t at = begin; at + granule_ <= end; at += granule_)
      region->cells[(at - region->begin) / granule_].set(ShadowCell::Unwritten, true);
  }
}

void Shadow::begin_program(std::int64_t number) {
  program_ = static_cast<std::uint32_t>(number + 1);
  clock_ = 1;
  std::fill(known_.begin(), known_.end(), 0);
}

Shadow::Region* Shadow::region_at(std::uint64_t address) {
  const auto after =
      std::upper_bound(regions_.begin(), regions_.end(), address,
                       [](std::uint64_t a, const Region& region) { return a < region.begin; });
  if (after == regions_.begin()) return nullptr;
  Region& region = *std::prev(after);
  return address < region.end ? &region : nullptr;
}

bool Shadow::is_inside(std::int64_t pointer, std::size_t bytes) const {
  const std::uint64_t address = TaggedPointer::address(pointer);
  const int tagged = TaggedPointer::buffer(pointer);
  const auto holds = [&](const InterpretBuffer& buffer) {
    const std::uint64_t begin = begin_of(buffer);
    return address >= begin && address + bytes <= begin + buffer.bytes;
  };
  if (tagged >= 0 && tagged < static_cast<int>(buffers_.size()))
    return holds(buffers_[static_cast<std::size_t>(tagged)]);
  return std::any_of(buffers_.begin(), buffers_.end(), holds);
}

std::span<ShadowCell> Shadow::cells(std::int64_t pointer, std::size_t bytes) {
  const std::uint64_t address = TaggedPointer::address(pointer);
  Region* const region = region_at(address);
  if (region == nullptr || address + bytes > region->end) return {};
  const std::size_t first = (address - region->begin) / granule_;
  const std::size_t last = (address + bytes - 1 - region->begin) / granule_;
  return {region->cells.get() + first, last - first + 1};
}

bool Shadow::comes_before(std::uint32_t program, std::uint32_t clock) const {
  if (program == program_) return true;
  return !known_.empty() && program < known_.size() && known_[program] >= clock;
}

void Shadow::acquire(std::uint64_t address) {
  if (known_.empty()) return;
  const auto found = released_.find(address);
  if (found == released_.end()) return;
  for (std::size_t i = 0; i < known_.size(); ++i) known_[i] = std::max(known_[i], found->second[i]);
}

void Shadow::release(std::uint64_t address) {
  if (known_.empty()) return;
  std::vector<std::uint32_t>& there = released_[address];
  there.resize(known_.size());
  known_[program_] = clock_;
  for (std::size_t i = 0; i < known_.size(); ++i) there[i] = std::max(there[i], known_[i]);
  ++clock_;
}

}  // namespace tilewright::ir
