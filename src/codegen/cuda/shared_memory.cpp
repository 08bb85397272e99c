// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/shared_memory.cpp — declarations and the state between barriers.
#include "codegen/cuda/shared_memory.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace tilewright {
namespace {

std::int64_t aligned(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }

bool meet_in_place(const SharedMemory::Array& a, const SharedMemory::Array& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

void SharedMemory::add(const std::string& name, const std::string& element, std::int64_t count,
                       const ir::KernelBuffer& buffer, bool is_in_loop) {
  TW_CHECK(buffer.has_place() && buffer.offset >= 0,
           "buffer '{}' has no offset in shared memory: allocate_shared gives it one", buffer.name);
  const Array array{name, element, count, aligned(buffer.bytes()), buffer.offset, buffer.align};
  alignment_ = std::max(alignment_, array.alignment);
  for (const Array& other : arrays_) has_shared_places_ |= meet_in_place(array, other);
  bytes_ = std::max(bytes_, array.offset + array.bytes);
  arrays_.push_back(array);
  states_.try_emplace(name, is_in_loop ? states_.at("") : State{});
}

bool SharedMemory::write_needs_barrier(const std::string& name) const {
  const std::string& own = array_of(name);
  return states_.at(own).is_read || shares_used_place(own);
}

const SharedMemory::Array* SharedMemory::find_array(const std::string& name) const {
  const std::vector<Array>& all = planned_.empty() ? arrays_ : planned_;
  const auto array =
      std::find_if(all.begin(), all.end(), [&](const Array& other) { return other.name == name; });
  return array == all.end() ? nullptr : &*array;
}

// Whether the place of an array is that of another one which was used since the last barrier.
bool SharedMemory::shares_used_place(const std::string& name) const {
  const Array* array = find_array(name);
  if (array == nullptr) return true;
  const std::vector<Array>& all = planned_.empty() ? arrays_ : planned_;
  return std::any_of(all.begin(), all.end(), [&](const Array& other) {
    const auto state = states_.find(other.name);
    if (other.name == name || !meet_in_place(*array, other) || state == states_.end()) return false;
    return array->is_of_warps ? state->second.is_loose : state->second.is_used;
  });
}

bool SharedMemory::is_of_warps(const std::string& name) const {
  const Array* array = find_array(array_of(name));
  return array != nullptr && array->is_of_warps;
}

void SharedMemory::part_by_warps(const std::string& name) {
  for (Array& array : arrays_)
    if (array.name == name) array.is_of_warps = true;
}

void SharedMemory::note_warp_barrier() {
  for (const Array& array : arrays_) {
    if (!array.is_of_warps) continue;
    State& state = states_.at(array.name);
    state.is_written = state.is_read = state.is_loose = false;
  }
}

void SharedMemory::note_read(const std::string& name) {
  State& state = states_.at(array_of(name));
  state.is_read = state.is_used = state.is_loose = true;
}

void SharedMemory::note_write(const std::string& name) {
  State& state = states_.at(array_of(name));
  state.is_written = state.is_used = state.is_loose = true;
  written_.insert(array_of(name));
}

bool SharedMemory::has_written() const {
  return std::any_of(states_.begin(), states_.end(), [](const auto& entry) {
    return !entry.first.empty() && entry.second.is_written;
  });
}

std::set<std::string> SharedMemory::take_written() { return std::exchange(written_, {}); }

void SharedMemory::note_barrier() {
  for (auto& [name, state] : states_) state = {};
}

void SharedMemory::forget() {
  for (auto& [name, state] : states_) state = {true, true, true, true};
}

void SharedMemory::begin_loop(int order) {
  const States before = states_;
  forget();
  const auto found = assumed_.find(order);
  if (found == assumed_.end()) return;
  for (const auto& [name, state] : found->second) states_[name] = state;
  merge(before);
  states_.at("") = {true, true, true, true};
}

void SharedMemory::end_loop(int order) {
  loop_ends_[order] = states_;
  forget();
}

bool SharedMemory::has_quiet_ends() const {
  return std::any_of(loop_ends_.begin(), loop_ends_.end(), [](const auto& loop) {
    return std::any_of(loop.second.begin(), loop.second.end(),
                       [](const auto& end) { return !end.first.empty() && !end.second.is_used; });
  });
}

bool SharedMemory::holds_assumed() const {
  const bool is_placed_as_planned =
      planned_.empty() ||
      std::equal(arrays_.begin(), arrays_.end(), planned_.begin(), planned_.end(),
                 [](const Array& a, const Array& b) { return a.is_placed_as(b); });
  return is_placed_as_planned &&
         std::all_of(assumed_.begin(), assumed_.end(), [&](const auto& loop) {
           const auto found = loop_ends_.find(loop.first);
           return found != loop_ends_.end() &&
                  std::all_of(found->second.begin(), found->second.end(), [&](const auto& end) {
                    const auto assumed = loop.second.find(end.first);
                    return end.first.empty() ||
                           (assumed != loop.second.end() && end.second.is_within(assumed->second));
                  });
         });
}

void SharedMemory::restore(const States& states) {
  for (const auto& [name, state] : states) states_[name] = state;
}

void SharedMemory::merge(const States& states) {
  for (const auto& [name, state] : states) {
    states_[name].is_written |= state.is_written;
    states_[name].is_read |= state.is_read;
    states_[name].is_used |= state.is_used;
    states_[name].is_loose |= state.is_loose;
  }
}

std::vector<std::string> SharedMemory::declarations() const {
  std::vector<std::string> out;
  const bool is_one = is_dynamic() || has_shared_places_;
  if (is_dynamic())
    out.push_back(
        fmt::format("extern __shared__ __align__({}) unsigned char shared[];", alignment_));
  else if (is_one)
    out.push_back(fmt::format("__shared__ __align__({}) u8 shared[{}];", alignment_, bytes_));
  for (const Array& array : arrays_) {
    if (is_one)
      out.push_back(fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(shared + {2});",
                                array.element, array.name, array.offset));
    else
      out.push_back(fmt::format("__shared__ __align__({}) {} {}[{}];", array.alignment,
                                array.element, array.name, array.count));
  }
  return out;
}

}  // namespace tilewright
