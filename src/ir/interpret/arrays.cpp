// SPDX-License-Identifier: Apache-2.0
// ir/interpret/arrays.cpp — arrays of a program, and places in them.
#include "ir/interpret/arrays.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ir/interpret/memory.h"

namespace tilewright::ir {
namespace {

// The highest buffer number: launches have far fewer.
constexpr int array_tag = 0xfffe;
constexpr int owner_shift = 28;
constexpr std::int64_t first_mask = (std::int64_t{1} << owner_shift) - 1;

}  // namespace

std::int64_t Arrays::make(Value owner, std::int64_t count, std::int64_t vector,
                          std::int64_t apart) {
  TW_CHECK(owner.id < (1u << (TaggedPointer::tag_shift - owner_shift)) && count <= first_mask,
           "an array of {} elements is too large to be interpreted", count);
  Row& row = elements_[owner.id];
  row.elements.assign(static_cast<std::size_t>(count), std::nullopt);
  row.vector = vector;
  row.step = vector * apart;
  return handle_of(owner);
}

std::int64_t Arrays::handle_of(Value owner) {
  return TaggedPointer::make(array_tag, static_cast<std::uint64_t>(owner.id) << owner_shift);
}

bool Arrays::is_array(std::int64_t handle) { return TaggedPointer::buffer(handle) == array_tag; }
std::int64_t Arrays::view(std::int64_t handle, std::int64_t index) { return handle + index; }

std::uint32_t Arrays::owner_of(std::int64_t handle) {
  return static_cast<std::uint32_t>(TaggedPointer::address(handle) >> owner_shift);
}
std::int64_t Arrays::first_of(std::int64_t handle) {
  return static_cast<std::int64_t>(TaggedPointer::address(handle)) & first_mask;
}

std::int64_t Arrays::Row::number(std::int64_t index) const {
  if (step == vector) return index;
  return index >= 0 && index % step < vector ? index / step * vector + index % step : -1;
}

std::string Arrays::problem(std::int64_t handle, std::int64_t index, bool reads) const {
  const Row& row = elements_.at(owner_of(handle));
  const auto& elements = row.elements;
  if (row.number(first_of(handle) + index) < 0 && first_of(handle) + index >= 0)
    return fmt::format("index {} of a row, which is another thread's", first_of(handle) + index);
  const std::int64_t at = row.number(first_of(handle) + index);
  if (at < 0 || at >= static_cast<std::int64_t>(elements.size()))
    return fmt::format("index {} of an array of {} elements", at, elements.size());
  if (reads && !elements[static_cast<std::size_t>(at)])
    return fmt::format("index {} of an array, which nothing has written", at);
  return "";
}

Element Arrays::read(std::int64_t handle, std::int64_t index) const {
  const Row& row = elements_.at(owner_of(handle));
  return *row.elements[static_cast<std::size_t>(row.number(first_of(handle) + index))];
}

void Arrays::write(std::int64_t handle, std::int64_t index, Element element) {
  Row& row = elements_.at(owner_of(handle));
  row.elements[static_cast<std::size_t>(row.number(first_of(handle) + index))] = element;
}

}  // namespace tilewright::ir
