// SPDX-License-Identifier: Apache-2.0
// compiler/tune/saved_memory.cpp — one copy per buffer, however many arguments lie in it.
#include "compiler/tune/saved_memory.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {

SavedMemory::SavedMemory(const Stream& stream, const std::vector<NamedArgument>& restored,
                         const std::vector<NamedArgument>& zeroed)
    : stream_(stream) {
  for (const NamedArgument& argument : zeroed) add(argument, true);
  for (const NamedArgument& argument : restored) add(argument, false);
}

void SavedMemory::add(const NamedArgument& argument, bool is_zeroed) {
  const Argument& value = *argument.value;
  if (value.kind == Argument::Kind::Scalar ||
      (value.kind == Argument::Kind::Pointer && value.bits == 0))
    return;
  if (value.kind != Argument::Kind::Memory || value.buffer == nullptr)
    throw ArgumentError(fmt::format(
        "'{}' must be as before after each timed run, but was given as an address of unknown size; "
        "pass a tensor",
        argument.name));
  const auto known = [&](const Part& part) { return part.buffer.state() == value.buffer->state(); };
  if (std::any_of(parts_.begin(), parts_.end(), known)) return;
  Part part{*value.buffer,
            Buffer::allocate(value.buffer->size(), stream_.device(), MemoryKind::Device, stream_),
            is_zeroed};
  copy_async({part.copy}, {part.buffer}, part.buffer.size(), stream_);
  parts_.push_back(std::move(part));
}

void SavedMemory::before_run() const {
  constexpr std::array<std::byte, 4> zeros{};
  for (const Part& part : parts_) {
    if (part.is_zeroed)
      fill_async({part.buffer}, part.buffer.size(), std::span(zeros).first(1), stream_);
    else copy_async({part.buffer}, {part.copy}, part.buffer.size(), stream_);
  }
}

void SavedMemory::bring_back() const {
  for (const Part& part : parts_)
    copy_async({part.buffer}, {part.copy}, part.buffer.size(), stream_);
  stream_.synchronize();
}

}  // namespace tilewright
