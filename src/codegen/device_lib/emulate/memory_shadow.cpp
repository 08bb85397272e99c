// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/memory_shadow.cpp — the rules of memory_shadow.h, cell by cell.
#include "codegen/device_lib/emulate/memory_shadow.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace tilewright {
namespace {

using Kind = Shadow::Kind;
using When = MemoryShadow::When;

constexpr std::uint32_t most_granule = 16;

// A block that touches more begins anew: some 100 MiB.
constexpr std::size_t most_cells = std::size_t{1} << 20;

// The largest power of two that divides all of these, 16 at most.
std::uint32_t granule_of(std::uintptr_t bits) {
  bits |= most_granule;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

const char* name_of_read(When when) {
  switch (when) {
    case When::Copy:
      return "read by an asynchronous copy";
    case When::MapCopy:
      return "read by a copy of a tensor map";
    default:
      return "read";
  }
}

const char* name_of_write(When when) {
  return when == When::MapStore || when == When::MapAdd ? "written by a store of a tensor map"
                                                        : "written";
}

const char* name_of_work(When when) {
  switch (when) {
    case When::Copy:
      return "the asynchronous copy from";
    case When::MapCopy:
      return "the copy of a tensor map from";
    default:
      return "the store of a tensor map into";
  }
}

}  // namespace

void MemoryShadow::start_block(std::uint32_t threads, const TwCpuLaunch* launch,
                               const TwSourceMap* source) {
  launch_ = launch;
  source_ = source;
  forget();
  copies_.assign(threads, {});
  stores_.assign(threads, {});
  changes_.clear();
}

// ---- Cells.

void MemoryShadow::forget() {
  pages_.clear();
  used_ = 0;
  cells_ = 0;
  recent_.fill({});
}

MemoryShadow::Page& MemoryShadow::page_at(std::uintptr_t address, std::uint32_t granule) {
  const std::uintptr_t number = address / page_bytes;
  Recent& recent = recent_[number % recent_.size()];
  if (recent.page == nullptr || recent.number != number) {
    Page*& page = pages_[number];
    if (page == nullptr && cells_ >= most_cells) {
      forget();
      return page_at(address, granule);
    }
    if (page == nullptr) {
      if (used_ == all_pages_.size()) all_pages_.emplace_back();
      page = &all_pages_[used_++];
      page->granule = granule;
      page->cells.assign(page_bytes / granule, {});
      cells_ += page->cells.size();
    }
    recent = {number, page};
  }
  if (granule < recent.page->granule) refine(*recent.page, granule);
  return *recent.page;
}

void MemoryShadow::refine(Page& page, std::uint32_t granule) {
  const std::size_t parts = page.granule / granule;
  std::vector<Cell> cells(page.cells.size() * parts);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = page.cells[i / parts];
  cells_ += cells.size() - page.cells.size();
  page.cells = std::move(cells);
  page.granule = granule;
}

MemoryShadow::Finding MemoryShadow::touch(const Access& access, When when,
                                          const BlockOrder::Moment& moment) {
  const bool is_write = access.kind != Kind::Read && access.kind != Kind::AtomicRead;
  const bool is_atomic =
      (access.kind != Kind::Read && access.kind != Kind::Write) || when == When::MapAdd;
  const auto thread = static_cast<std::uint16_t>(access.thread);
  const std::uint32_t number = when == When::Copy ? copies_[thread].started
                               : is_write         ? stores_[thread].started
                                                  : 0;
  const Mark mark{moment, access.line, number, thread, when, is_atomic};
  Finding finding;
  const std::uint32_t granule = granule_of(access.address | access.bytes);
  const std::uintptr_t end = access.address + access.bytes;
  for (std::uintptr_t at = access.address; at < end;) {
    Page& page = page_at(at, granule);
    const std::uintptr_t page_end = std::min(end, (at / page_bytes + 1) * page_bytes);
    for (; at < page_end; at += page.granule) {
      Cell& cell = page.cells[at % page_bytes / page.granule];
      if (!finding) finding = check(cell, mark, is_write, at, page.granule);
      note(cell, mark, is_write);
    }
  }
  return finding;
}

void MemoryShadow::note(Cell& cell, const Mark& mark, bool is_write) const {
  if (is_write) {
    cell.is_written = true;
    cell.is_copied = false;
    cell.reads = 0;
    cell.write = mark;
  } else if (mark.when != When::Now) {
    cell.is_copied = true;
    cell.copy = mark;
  } else {
    for (Mark* reader = cell.readers; reader < cell.readers + cell.reads; ++reader)
      if ((reader->is_atomic || !mark.is_atomic) && is_ordered(*reader, mark)) {
        *reader = mark;
        return;
      }
    if (cell.reads < 2) cell.readers[cell.reads++] = mark;
    else if (order_.is_same_warp(cell.readers[0].thread, cell.readers[1].thread))
      cell.readers[1] = mark;
  }
}

// ---- Order.

void MemoryShadow::wait_copies(std::uint32_t thread, std::uint32_t pending) {
  Groups& groups = copies_[thread];
  while (groups.waited.size() + pending < groups.started)
    groups.waited.push_back(order_.now(thread));
}

void MemoryShadow::wait_map_stores(std::uint32_t thread) {
  ++stores_[thread].started;
  stores_[thread].waited.push_back(order_.now(thread));
}

bool MemoryShadow::is_ordered(const Mark& before, const Mark& after) const {
  if (before.when == When::Now || before.when == When::MapCopy)
    return order_.is_ordered(before.at, after.thread);
  const Groups& groups = (before.when == When::Copy ? copies_ : stores_)[before.thread];
  return before.number < groups.waited.size() &&
         order_.is_ordered(groups.waited[before.number], after.thread);
}

bool MemoryShadow::is_under_way(const Mark& mark) const {
  if (mark.when == When::Now || mark.when == When::MapCopy) return mark.when == When::MapCopy;
  return mark.number >= (mark.when == When::Copy ? copies_ : stores_)[mark.thread].waited.size();
}

MemoryShadow::Finding MemoryShadow::check(const Cell& cell, const Mark& mark, bool is_write,
                                          std::uintptr_t address, std::uint32_t bytes) {
  const char* const does = is_write ? name_of_write(mark.when) : name_of_read(mark.when);
  if (cell.is_written && is_race(cell.write, mark)) {
    const bool may_agree =
        is_write && mark.when == When::Now && cell.write.when == When::Now && !mark.is_atomic;
    if (!may_agree) return race(cell.write, name_of_write(cell.write.when), mark, does, address);
    Change change{.address = address, .bytes = bytes, .first = cell.write, .second = mark};
    std::memcpy(change.before.data(), reinterpret_cast<const void*>(address), bytes);
    changes_.push_back(change);
  } else if (cell.is_written && mark.when == When::MapCopy && cell.write.when == When::Now) {
    return {fmt::format("{} is written at {} and read by a copy of a tensor map at {}, which sees "
                        "no stores of its own "
                        "block",
                        place_name(address), line_text(source_, cell.write.line),
                        line_text(source_, mark.line)),
            true, cell.write.thread, mark.thread};
  }
  if (!is_write) return {};
  for (int i = 0; i < cell.reads; ++i)
    if (is_race(cell.readers[i], mark)) return race(cell.readers[i], "read", mark, does, address);
  if (cell.is_copied && is_race(cell.copy, mark))
    return race(cell.copy, name_of_read(cell.copy.when), mark, does, address);
  return {};
}

MemoryShadow::Finding MemoryShadow::find_change() {
  Finding finding;
  for (const Change& change : changes_)
    if (std::memcmp(change.before.data(), reinterpret_cast<const void*>(change.address),
                    change.bytes) != 0) {
      finding = change.first.line == change.second.line
                    ? written_twice(change)
                    : race(change.first, "written", change.second, "written", change.address);
      break;
    }
  changes_.clear();
  return finding;
}

// ---- Messages.

MemoryShadow::Finding MemoryShadow::race(const Mark& before, const char* did, const Mark& after,
                                         const char* does, std::uintptr_t address) const {
  const bool has_two = before.thread != after.thread;
  if (is_under_way(before))
    return {
        fmt::format("{} is {} at {}, but {} it at {} has not been waited for by the thread that "
                    "started it",
                    place_name(address), does, line_text(source_, after.line),
                    name_of_work(before.when), line_text(source_, before.line)),
        has_two, before.thread, after.thread};
  return {
      fmt::format("{} is {} at {} and {} at {} without a barrier between; {}", place_name(address),
                  did, line_text(source_, before.line), does, line_text(source_, after.line),
                  order_.is_same_warp(before.thread, after.thread)
                      ? "put __syncwarp() or __syncthreads() there"
                      : "the threads are of different warps: put __syncthreads() there"),
      has_two, before.thread, after.thread};
}

// By one store of a tile, or by one in a loop.
MemoryShadow::Finding MemoryShadow::written_twice(const Change& change) const {
  return {fmt::format("{} is written by two threads at {} with different values, without a barrier "
                      "between; store each place once, or put __syncthreads() there",
                      place_name(change.address), line_text(source_, change.second.line)),
          true, change.first.thread, change.second.thread};
}

// "'x' at byte 12": where it lies in the launch's memory, if that is known.
std::string MemoryShadow::place_name(std::uintptr_t address) const {
  for (std::uint64_t i = 0; i < launch_->memory_count; ++i) {
    const TwMemory& memory = launch_->memory[i];
    if (address - memory.address < memory.bytes)
      return fmt::format("'{}' at byte {}", memory.name, address - memory.address);
  }
  return fmt::format("memory at '{:#x}'", address);
}

}  // namespace tilewright
