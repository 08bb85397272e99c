// SPDX-License-Identifier: Apache-2.0
// ir/interpret/shared.cpp — what threads do to the same bytes between two meetings.
#include "ir/interpret/shared.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright::ir {

std::int64_t SharedArrays::make(const Op& op, std::size_t member, std::int64_t bytes,
                                DType dtype) {
  const Value value = op.results[member];
  if (places_.contains(value.id)) return Arrays::handle_of(value);
  // The members of a group lie in words side by side.
  constexpr std::int64_t word = 8;
  const auto members = static_cast<std::int64_t>(op.results.size());
  Place place{.first = op.integer("offset"), .bytes = members > 1 ? word : bytes};
  place.step = place.bytes * members;
  place.first += place.bytes * static_cast<std::int64_t>(member);
  places_[value.id] = place;
  dtypes_[value.id] = dtype;
  const auto end = static_cast<std::size_t>(place.first + op.integer("count") * place.step);
  if (bytes_.size() < end) bytes_.resize(end);
  return arrays_.make(value, op.integer("count"));
}

SharedArrays::Range SharedArrays::range(std::int64_t handle, std::int64_t index) const {
  const std::uint32_t owner = Arrays::owner_of(handle);
  const Place& place = places_.at(owner);
  const std::int64_t first = place.first + (Arrays::first_of(handle) + index) * place.step;
  return {owner, static_cast<std::size_t>(first), static_cast<std::size_t>(first + place.bytes)};
}

// What is wrong with touching an element at all.
std::string SharedArrays::problem(std::int64_t handle, std::int64_t index, bool reads) const {
  if (std::string problem = arrays_.problem(handle, index, false); !problem.empty()) return problem;
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i)
    if (bytes_[i].is_under_way)
      return fmt::format("index {} of a shared array while a copy of thread {} into it is under way",
                         index, bytes_[i].writer);
  return arrays_.problem(handle, index, reads);
}

std::string SharedArrays::note_copy(std::int64_t handle, std::int64_t index, std::int64_t thread,
                                    const Op& op) {
  if (std::string problem = note_write(handle, index, thread, op); !problem.empty()) return problem;
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) bytes_[i].is_under_way = true;
  return "";
}

void SharedArrays::note_copied(std::int64_t handle, std::int64_t index, std::int64_t thread,
                               const Op& op) {
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) {
    bytes_[i].is_under_way = false;
    bytes_[i].note_write(now_, thread, op);
    if (!has_products_) continue;
    bytes_[i].shown = Byte::never;  // an earlier moment showed nothing of it
    unshown_[thread].push_back(i);
  }
}

std::string SharedArrays::note_read(std::int64_t handle, std::int64_t index, std::int64_t thread) {
  if (std::string problem = this->problem(handle, index, true); !problem.empty()) return problem;
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) {
    if (bytes_[i].owner != at.owner)
      return fmt::format("index {} of an array whose place another one has taken", index);
    if (bytes_[i].is_written_by_other(now_, thread, lanes_))
      return fmt::format("index {} of a shared array, which thread {} has written since all met",
                         index, bytes_[i].writer);
    bytes_[i].note_read(now_, thread, lanes_);
  }
  return "";
}

std::string SharedArrays::note_add(std::int64_t handle, std::int64_t index, std::int64_t thread,
                                   const Op& op) {
  if (std::string problem = this->problem(handle, index, true); !problem.empty()) return problem;
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) {
    const bool is_written =
        bytes_[i].is_written_by_other(now_, thread, lanes_) && bytes_[i].op != &op;
    if (is_written || bytes_[i].is_read_by_other(now_, thread, lanes_))
      return fmt::format("index {} of a shared array, which another thread has {} since all met",
                         index, is_written ? "written" : "read");
    bytes_[i].note_write(now_, thread, op);
  }
  return "";
}

std::string SharedArrays::note_write(std::int64_t handle, std::int64_t index, std::int64_t thread,
                                     const Op& op) {
  if (std::string problem = this->problem(handle, index, false); !problem.empty()) return problem;
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) {
    const bool is_written = bytes_[i].is_written_by_other(now_, thread, lanes_);
    if (is_written || bytes_[i].is_read_by_other(now_, thread, lanes_))
      return fmt::format("index {} of a shared array, which another thread has {} since all met",
                         index, is_written ? "written" : "read");
    bytes_[i].note_write(now_, thread, op);
    bytes_[i].owner = at.owner;
    if (!has_products_) continue;
    bytes_[i].shown = Byte::never;
    unshown_[thread].push_back(i);
  }
  return "";
}

// ---- Products and copies

std::int64_t SharedArrays::address_of(std::int64_t handle) const {
  const Place& place = places_.at(Arrays::owner_of(handle));
  return place.first + Arrays::first_of(handle) * place.step;
}

std::pair<std::size_t, std::size_t> SharedArrays::bytes_of(std::int64_t handle,
                                                           std::int64_t index) const {
  const Range at = range(handle, index);
  return {at.first, at.end};
}

void SharedArrays::show(std::int64_t thread) {
  for (const std::size_t i : unshown_[thread])
    if (bytes_[i].shown == Byte::never && bytes_[i].writer == thread) {
      bytes_[i].shown = now_.all;
      bytes_[i].shown_in_warps = now_.of_warps;
    }
  unshown_[thread].clear();
}

std::string SharedArrays::read_for_product(std::size_t address, DType dtype, Element& out) const {
  if (std::string problem = read_shown(address, dtype, out); !problem.empty()) return problem;
  if (bytes_[address].shown == now_.all)
    return fmt::format("what thread {} wrote, before the threads have met", bytes_[address].writer);
  return "";
}

std::string SharedArrays::read_for_store(std::size_t address, DType dtype, std::int64_t thread,
                                         Element& out) const {
  if (std::string problem = read_shown(address, dtype, out); !problem.empty()) return problem;
  const Byte& byte = bytes_[address];
  const bool have_met = byte.shown < now_.all || byte.writer == thread ||
                        (byte.writer / lanes_ == thread / lanes_ &&
                         byte.shown_in_warps < now_.of_warps);
  return have_met ? ""
                  : fmt::format("what thread {} wrote, before they have met", byte.writer);
}

// An element that was written and shown to what goes on beside threads.
std::string SharedArrays::read_shown(std::size_t address, DType dtype, Element& out) const {
  const std::size_t bytes = size_of(dtype);
  if (address + bytes > bytes_.size()) return "behind the end of shared memory";
  const Byte& byte = bytes_[address];
  if (byte.owner == Value::none) return "what nothing has written, or a copy is under way to";
  if (byte.is_under_way)
    return fmt::format("what a copy of thread {} is under way to", byte.writer);
  const Place& place = places_.at(byte.owner);
  const auto distance = static_cast<std::int64_t>(address) - place.first;
  const std::int64_t handle = Arrays::handle_of(Value{byte.owner});
  if (place.bytes != static_cast<std::int64_t>(bytes) || distance % place.step != 0)
    return "parts of elements of an array";
  const std::int64_t index = distance / place.step;
  if (std::string problem = arrays_.problem(handle, index, true); !problem.empty()) return problem;
  if (byte.shown == Byte::never)
    return fmt::format("what thread {} wrote and did not show to products", byte.writer);
  unsigned char raw[16] = {};
  write_element(dtypes_.at(byte.owner), arrays_.read(handle, index), raw);
  out = read_element(dtype, raw);
  return "";
}

void SharedArrays::note_product_done(std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < std::min(first + count, bytes_.size()); ++i) {
    bytes_[i].read = now_;
    bytes_[i].reader = bytes_[i].reader_warp = ThreadUse::several;
  }
}

void SharedArrays::note_store_done(std::size_t first, std::size_t end, std::int64_t thread) {
  for (std::size_t i = first; i < std::min(end, bytes_.size()); ++i)
    bytes_[i].note_read(now_, thread, lanes_);
}

void SharedArrays::take_place(std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < std::min(end, bytes_.size()); ++i) bytes_[i] = {};
}

void SharedArrays::land(std::int64_t handle, std::int64_t index, Element element) {
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) bytes_[i].owner = at.owner;
  arrays_.write(handle, index, element);
}

std::string SharedArrays::note_memory_read(std::uint64_t address, std::int64_t thread) {
  ThreadUse& use = memory_[address];
  if (use.is_written_by_other(now_, thread, lanes_))
    return fmt::format("what thread {} has written since all met", use.writer);
  use.note_read(now_, thread, lanes_);
  return "";
}

std::string SharedArrays::note_memory_write(std::uint64_t address, std::int64_t thread,
                                            const Op& op) {
  ThreadUse& use = memory_[address];
  if (use.is_read_by_other(now_, thread, lanes_)) return "what another thread has read since all met";
  if (use.is_written_by_other(now_, thread, lanes_) && use.op != &op)
    return fmt::format("what thread {} has written since all met", use.writer);
  use.note_write(now_, thread, op);
  return "";
}

}  // namespace tilewright::ir
