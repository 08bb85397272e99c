// SPDX-License-Identifier: Apache-2.0
// ir/interpret/shared.cpp — what threads do to the same bytes between two meetings.
#include "ir/interpret/shared.h"

#include <fmt/format.h>

namespace tilewright::ir {

std::int64_t SharedArrays::make(const Op& op, std::size_t member, std::int64_t bytes) {
  const Value value = op.results[member];
  if (places_.contains(value.id)) return Arrays::handle_of(value);
  // The members of a group lie in words side by side.
  constexpr std::int64_t word = 8;
  const auto members = static_cast<std::int64_t>(op.results.size());
  Place place{.first = op.integer("offset"), .bytes = members > 1 ? word : bytes};
  place.step = place.bytes * members;
  place.first += place.bytes * static_cast<std::int64_t>(member);
  places_[value.id] = place;
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
    bytes_[i].note_write(stretch_, thread, op);
  }
}

std::string SharedArrays::note_read(std::int64_t handle, std::int64_t index, std::int64_t thread) {
  if (std::string problem = this->problem(handle, index, true); !problem.empty()) return problem;
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) {
    if (bytes_[i].owner != at.owner)
      return fmt::format("index {} of an array whose place another one has taken", index);
    if (bytes_[i].is_written_by_other(stretch_, thread))
      return fmt::format("index {} of a shared array, which thread {} has written since all met",
                         index, bytes_[i].writer);
    bytes_[i].note_read(stretch_, thread);
  }
  return "";
}

std::string SharedArrays::note_add(std::int64_t handle, std::int64_t index, std::int64_t thread,
                                   const Op& op) {
  if (std::string problem = this->problem(handle, index, true); !problem.empty()) return problem;
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) {
    const bool is_written =
        bytes_[i].is_written_by_other(stretch_, thread) && bytes_[i].op != &op;
    if (is_written || bytes_[i].is_read_by_other(stretch_, thread))
      return fmt::format("index {} of a shared array, which another thread has {} since all met",
                         index, is_written ? "written" : "read");
    bytes_[i].note_write(stretch_, thread, op);
  }
  return "";
}

std::string SharedArrays::note_write(std::int64_t handle, std::int64_t index, std::int64_t thread,
                                     const Op& op) {
  if (std::string problem = this->problem(handle, index, false); !problem.empty()) return problem;
  const Range at = range(handle, index);
  for (std::size_t i = at.first; i < at.end; ++i) {
    const bool is_written = bytes_[i].is_written_by_other(stretch_, thread);
    if (is_written || bytes_[i].is_read_by_other(stretch_, thread))
      return fmt::format("index {} of a shared array, which another thread has {} since all met",
                         index, is_written ? "written" : "read");
    bytes_[i].note_write(stretch_, thread, op);
    bytes_[i].owner = at.owner;
  }
  return "";
}

std::string SharedArrays::note_memory_read(std::uint64_t address, std::int64_t thread) {
  ThreadUse& use = memory_[address];
  if (use.is_written_by_other(stretch_, thread))
    return fmt::format("what thread {} has written since all met", use.writer);
  use.note_read(stretch_, thread);
  return "";
}

std::string SharedArrays::note_memory_write(std::uint64_t address, std::int64_t thread,
                                            const Op& op) {
  ThreadUse& use = memory_[address];
  if (use.is_read_by_other(stretch_, thread)) return "what another thread has read since all met";
  if (use.is_written_by_other(stretch_, thread) && use.op != &op)
    return fmt::format("what thread {} has written since all met", use.writer);
  use.note_write(stretch_, thread, op);
  return "";
}

}  // namespace tilewright::ir
