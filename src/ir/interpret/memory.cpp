// SPDX-License-Identifier: Apache-2.0
// ir/interpret/memory.cpp — bounds by the buffer that a pointer came from.
#include "ir/interpret/memory.h"

#include <fmt/format.h>

namespace tilewright::ir {
namespace {

std::uint64_t begin_of(const InterpretBuffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.data) & TaggedPointer::address_mask;
}

}  // namespace

std::int64_t Memory::pointer(const InterpretPointer& pointer) const {
  if (pointer.buffer < 0) return 0;
  const std::uint64_t begin = begin_of(buffers_[static_cast<std::size_t>(pointer.buffer)]);
  return TaggedPointer::make(pointer.buffer,
                             begin + static_cast<std::uint64_t>(pointer.byte_offset));
}

int Memory::buffer_of(std::int64_t pointer) const {
  const int tagged = TaggedPointer::buffer(pointer);
  if (tagged >= 0 && tagged < static_cast<int>(buffers_.size())) return tagged;
  const std::uint64_t address = TaggedPointer::address(pointer);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (address >= begin_of(buffers_[i]) && address < begin_of(buffers_[i]) + buffers_[i].bytes)
      return static_cast<int>(i);
  return -1;
}

std::string Memory::problem(std::int64_t pointer, DType dtype, std::string_view verb) const {
  const std::uint64_t address = TaggedPointer::address(pointer);
  const int number = buffer_of(pointer);
  if (number < 0)
    return fmt::format("{} through {}", verb,
                       address == 0 ? "a null pointer"
                                    : fmt::format("address {:#x}, which is in no buffer", address));
  const InterpretBuffer& buffer = buffers_[static_cast<std::size_t>(number)];
  // Addresses have 48 bits here, so that a step below the buffer shows as a negative distance.
  const auto distance = static_cast<std::int64_t>((address - begin_of(buffer)) << 16) >> 16;
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  if (distance >= 0 && distance + size <= static_cast<std::int64_t>(buffer.bytes)) return "";
  const std::int64_t index = distance >= 0 ? distance / size : -((-distance + size - 1) / size);
  return fmt::format("{} index {} of buffer '{}', which has {} elements of {}", verb, index,
                     buffer.name, static_cast<std::int64_t>(buffer.bytes) / size, name_of(dtype));
}

std::int64_t Memory::distance(std::int64_t pointer) const {
  const std::uint64_t address = TaggedPointer::address(pointer);
  const int number = buffer_of(pointer);
  if (number < 0) return static_cast<std::int64_t>(address);
  return static_cast<std::int64_t>(address - begin_of(buffers_[static_cast<std::size_t>(number)]));
}

std::string Memory::element_name(std::int64_t pointer, DType dtype) const {
  const InterpretBuffer& buffer = buffers_[static_cast<std::size_t>(buffer_of(pointer))];
  return fmt::format("{}[{}]", buffer.name,
                     (TaggedPointer::address(pointer) - begin_of(buffer)) / size_of(dtype));
}

double* Memory::shadow(std::int64_t pointer, DType dtype) const {
  if (!float64_) return nullptr;
  const InterpretBuffer& buffer = buffers_[static_cast<std::size_t>(buffer_of(pointer))];
  if (!buffer.shadow || buffer.shadow_dtype != dtype || !is_floating(dtype)) return nullptr;
  return buffer.shadow->data() +
         (TaggedPointer::address(pointer) - begin_of(buffer)) / size_of(dtype);
}

Element Memory::read(std::int64_t pointer, DType dtype) const {
  if (const double* wide = shadow(pointer, dtype)) return {.f = *wide};
  return read_element(dtype, reinterpret_cast<const void*>(TaggedPointer::address(pointer)));
}

void Memory::write(std::int64_t pointer, DType dtype, Element element) const {
  if (double* wide = shadow(pointer, dtype)) *wide = element.f;
  else write_element(dtype, element, reinterpret_cast<void*>(TaggedPointer::address(pointer)));
}

}  // namespace tilewright::ir
