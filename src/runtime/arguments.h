// SPDX-License-Identifier: Apache-2.0
// runtime/arguments.h — checks a launch's arguments against the kernel's signature and converts
// them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/buffer_state.h"
#include "runtime/function_state.h"

namespace tilewright {

// The slow ways: a conversion between scalar types, and the sentence about an argument that does
// not fit.
std::uint64_t convert_scalar(const FunctionState& function, std::size_t index,
                             const Argument& argument);
[[noreturn]] void throw_wrong_argument(const FunctionState& function, std::size_t index,
                                       const Argument& argument);
[[noreturn]] void throw_wrong_count(const FunctionState& function, std::size_t given);

// What is known of an argument's type, but for contiguity, to be compared as a whole.
inline std::uint32_t type_word(const Argument& argument) {
  static_assert(offsetof(Argument, kind) == 0 && offsetof(Argument, dtype) == 1 &&
                offsetof(Argument, any_pointee) == 2 && offsetof(Argument, is_defined) == 3);
  std::uint32_t word;
  std::memcpy(&word, &argument, sizeof word);
  return word;
}

static_assert(std::endian::native == std::endian::little);
inline Argument::Kind kind_of(std::uint32_t type) {
  return static_cast<Argument::Kind>(type & 0xff);
}

UsualArgument usual_argument(const Parameter& parameter);

inline bool is_int32(std::uint64_t bits) {
  return static_cast<std::int64_t>(bits) == static_cast<std::int32_t>(bits);
}

inline bool is_reachable(const Argument& argument, Device device) {
  if (argument.device == device) return true;
  // Pinned and managed memory is reached by the host and by every GPU.
  return argument.buffer && argument.buffer->kind() != MemoryKind::Device;
}

inline bool accepts_pointer(const Parameter& parameter, const Argument& argument, Device device) {
  if (argument.kind == Argument::Kind::Pointer)
    return parameter.any_pointee || argument.any_pointee || argument.dtype == parameter.dtype;
  return argument.kind == Argument::Kind::Memory && argument.is_defined &&
         (parameter.any_pointee || argument.dtype == parameter.dtype) &&
         is_reachable(argument, device) && (argument.is_contiguous || !parameter.needs_contiguous);
}

// The bits that the kernel's parameter takes: a scalar in the parameter's own type, an address, or
// the address of a struct.
inline std::uint64_t checked_bits(const FunctionState& function, std::size_t index,
                                  const Argument& argument) {
  const Parameter& parameter = function.kernel->parameters[index];
  if (parameter.kind == Parameter::Kind::Pointer) {
    if (!accepts_pointer(parameter, argument, function.device)) [[unlikely]]
      throw_wrong_argument(function, index, argument);
    return argument.bits;
  }
  if (parameter.kind == Parameter::Kind::Scalar) {
    if (argument.kind == Argument::Kind::Scalar && argument.dtype == parameter.dtype) [[likely]]
      return argument.bits;
    return convert_scalar(function, index, argument);
  }
  const bool fits = argument.kind == Argument::Kind::Opaque &&
                    (parameter.opaque_bytes == 0 || parameter.opaque_bytes == argument.bytes);
  if (!fits) [[unlikely]]
    throw_wrong_argument(function, index, argument);
  return argument.bits;
}

// Tells the allocator that `stream` uses the argument's memory.
inline void record_use(const Argument& argument, void* stream) {
  if (argument.buffer && argument.buffer->state()) argument.buffer->state()->record_use(stream);
}

}  // namespace tilewright
