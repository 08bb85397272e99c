// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/shadow.cpp — the rules of shadow.h, byte by byte.
#include "codegen/device_lib/emulate/shadow.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright {
namespace {

using Kind = Shadow::Kind;

bool reads(Kind kind) {
  return kind == Kind::Read || kind == Kind::AtomicRead || kind == Kind::AtomicUpdate;
}
bool writes(Kind kind) { return kind != Kind::Read && kind != Kind::AtomicRead; }
bool is_atomic(Kind kind) { return kind != Kind::Read && kind != Kind::Write; }

bool holds(const Shadow::Array& array, std::uintptr_t address) {
  return address - array.address < array.bytes;
}

}  // namespace

void Shadow::start_block(std::uint32_t threads) {
  count_ = 0;
  names_.clear();
  shows_.assign(threads, 0);
  ++generation_;
}

void Shadow::add_array(const Array& array) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (tracked_[i].array.address != array.address) continue;
    if (array.bytes <= tracked_[i].array.bytes) {
      // Another name of dynamic shared memory.
      tracked_[i].array.name = array.name;
      tracked_[i].array.element_bytes = array.element_bytes;
    }
    return;
  }
  if (count_ == tracked_.size()) tracked_.emplace_back();
  Tracked& tracked = tracked_[count_++];
  tracked.array = array;
  if (tracked.cells.size() < array.bytes) tracked.cells.resize(array.bytes);
}

void Shadow::add_name(const Array& part) {
  if (!find(part.address)) return;
  for (Name& name : names_) {
    if (name.part.name != part.name) continue;
    name.is_ambiguous |= name.part.address != part.address;
    return;
  }
  names_.push_back({part, false});
}

Shadow::Tracked* Shadow::find(std::uintptr_t address) {
  for (std::size_t i = 0; i < count_; ++i)
    if (holds(tracked_[i].array, address)) return &tracked_[i];
  return nullptr;
}

Shadow::Cell& Shadow::cell_at(Tracked& tracked, std::uintptr_t address) {
  Cell& cell = tracked.cells[address - tracked.array.address];
  if (cell.generation != generation_) {
    cell = {};
    cell.generation = generation_;
  }
  return cell;
}

// ---- Order.

Shadow::Moment Shadow::now(const Access& access) const {
  return {order_.now(access.thread), access.line, shows_[access.thread], is_atomic(access.kind)};
}

bool Shadow::is_race(const Moment& before, const Moment& after) const {
  return !(before.is_atomic && after.is_atomic) && !order_.is_ordered(before.at, after.at.agent);
}

// ---- Accesses.

void Shadow::note_read(Cell& cell, const Moment& moment) {
  for (Moment* reader = cell.readers; reader < cell.readers + cell.reads; ++reader)
    if (order_.is_ordered(reader->at, moment.at.agent)) {
      *reader = moment;
      return;
    }
  if (cell.reads < 2) cell.readers[cell.reads++] = moment;
  else if (order_.is_same_warp(cell.readers[0].at.agent, cell.readers[1].at.agent))
    cell.readers[1] = moment;
}

Shadow::Finding Shadow::touch(const Access& access) {
  Tracked* tracked = find(access.address);
  if (!tracked) return {};
  const Moment moment = now(access);
  const std::uintptr_t end = std::min<std::uintptr_t>(
      access.address + access.bytes, tracked->array.address + tracked->array.bytes);
  Finding finding;
  for (std::uintptr_t at = access.address; at < end; ++at) {
    Cell& cell = cell_at(*tracked, at);
    if (!finding) finding = check(cell, access, moment, at);
    if (writes(access.kind)) {
      cell.state = Cell::State::Written;
      cell.write = moment;
      cell.reads = 0;
    } else {
      note_read(cell, moment);
    }
  }
  return finding;
}

Shadow::Finding Shadow::check(const Cell& cell, const Access& access, const Moment& moment,
                              std::uintptr_t at) {
  if (cell.state == Cell::State::Arriving)
    return {fmt::format("'{}' is {} at {}, but the asynchronous copy into it from {} has "
                        "not been waited for by the thread that started it",
                        element_name(at), writes(access.kind) ? "written" : "read",
                        line_text(source_, access.line), line_text(source_, cell.write.line)),
            cell.write.at.agent != access.thread, cell.write.at.agent, access.thread};
  if (cell.state == Cell::State::Unwritten && reads(access.kind))
    return {fmt::format("'{}' is read at {}, but no thread has written it", element_name(at),
                        line_text(source_, access.line)),
            false, 0, access.thread, true};
  if (cell.state == Cell::State::Written && is_race(cell.write, moment))
    return race(cell.write, "written", access, at);
  if (cell.state == Cell::State::Arrived && !writes(access.kind)) return {};
  if (is_product_ && cell.write.shows == shows_[cell.write.at.agent])
    return {fmt::format("'{}' is read by an asynchronous product at {}, but was written at {} by a "
                        "thread that has not "
                        "shown it to products since; put tw::show_to_products() "
                        "(fence.proxy.async) before the barrier",
                        element_name(at), line_text(source_, access.line),
                        line_text(source_, cell.write.line)),
            true, cell.write.at.agent, access.thread};
  for (int i = 0; i < cell.reads; ++i)
    if (writes(access.kind) && is_race(cell.readers[i], moment))
      return race(cell.readers[i], "read", access, at);
  return {};
}

Shadow::Finding Shadow::race(const Moment& before, const char* did, const Access& after,
                             std::uintptr_t at) const {
  const bool same_warp = order_.is_same_warp(before.at.agent, after.thread);
  return {fmt::format("'{}' is {} at {} and {} at {} without a barrier between; {}",
                      element_name(at), did, line_text(source_, before.line),
                      writes(after.kind) ? "written" : "read", line_text(source_, after.line),
                      same_warp ? "put __syncwarp() or __syncthreads() there"
                                : "the threads are of different warps: put __syncthreads() there"),
          true, before.at.agent, after.thread};
}

// "tile[12]": an array's element by its place in memory; of all names the one that begins last.
std::string Shadow::element_name(std::uintptr_t address) const {
  const Array* found = nullptr;
  for (std::size_t i = 0; i < count_; ++i)
    if (holds(tracked_[i].array, address)) found = &tracked_[i].array;
  for (const Name& name : names_)
    if (!name.is_ambiguous && name.part.address <= address && name.part.address >= found->address)
      found = &name.part;
  if (found->bytes == found->element_bytes) return found->name;
  return fmt::format("{}[{}]", found->name, (address - found->address) / found->element_bytes);
}

// ---- Asynchronous copies.

Shadow::Finding Shadow::start_copy(std::uint32_t thread, const CopyQueue::Copy& copy) {
  const auto to = reinterpret_cast<std::uintptr_t>(copy.to);
  const Finding finding = touch({to, copy.bytes, Kind::Write, thread, copy.line});
  if (Tracked* tracked = find(to))
    for (std::uint32_t i = 0; i < copy.bytes; ++i)
      cell_at(*tracked, to + i).state = Cell::State::Arriving;
  return finding;
}

void Shadow::start_map_copy(std::uint32_t thread, const void* to, std::uint32_t bytes,
                            std::uint32_t line) {
  const auto first = reinterpret_cast<std::uintptr_t>(to);
  Tracked* tracked = find(first);
  if (!tracked) return;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    Cell& cell = cell_at(*tracked, first + i);
    cell.state = Cell::State::Arriving;
    cell.reads = 0;
    cell.write = now({first, bytes, Kind::Write, thread, line});
  }
}

void Shadow::map_copy_arrives(const void* to, std::uint32_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(to);
  if (Tracked* tracked = find(first))
    for (std::uint32_t i = 0; i < bytes; ++i)
      cell_at(*tracked, first + i).state = Cell::State::Arrived;
}

void Shadow::copy_arrives(std::uint32_t thread, const CopyQueue::Copy& copy) {
  const auto to = reinterpret_cast<std::uintptr_t>(copy.to);
  Tracked* tracked = find(to);
  if (!tracked) return;
  for (std::uint32_t i = 0; i < copy.bytes; ++i) {
    Cell& cell = cell_at(*tracked, to + i);
    cell.state = Cell::State::Written;
    cell.write = now({to, copy.bytes, Kind::Write, thread, copy.line});
  }
}

}  // namespace tilewright
