// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/shared_memory.cpp — placement and the state between barriers.
#include "codegen/cuda/shared_memory.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

std::int64_t aligned(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

void SharedMemory::add(const std::string& name, const std::string& element, std::int64_t count,
                       std::int64_t element_bytes, bool is_in_loop) {
  arrays_.push_back({name, element, count, aligned(count * element_bytes)});
  bytes_ += arrays_.back().bytes;
  states_[name] = {is_in_loop, is_in_loop};
}

void SharedMemory::note_barrier() {
  for (auto& [name, state] : states_) state = {};
}

void SharedMemory::forget() {
  for (auto& [name, state] : states_) state = {true, true};
}

void SharedMemory::restore(const States& states) {
  for (const auto& [name, state] : states) states_[name] = state;
}

void SharedMemory::merge(const States& states) {
  for (const auto& [name, state] : states) {
    states_[name].is_written |= state.is_written;
    states_[name].is_read |= state.is_read;
  }
}

std::vector<std::string> SharedMemory::declarations() const {
  std::vector<std::string> out;
  if (is_dynamic()) out.push_back("extern __shared__ __align__(16) unsigned char shared[];");
  std::int64_t offset = 0;
  for (const Array& array : arrays_) {
    if (is_dynamic())
      out.push_back(fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(shared + {2});",
                                array.element, array.name, offset));
    else
      out.push_back(fmt::format("__shared__ __align__(16) {} {}[{}];", array.element, array.name,
                                array.count));
    offset += array.bytes;
  }
  return out;
}

}  // namespace tilewright
