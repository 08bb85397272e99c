// SPDX-License-Identifier: Apache-2.0
// compiler/triton/specialize.h — what a launch argument means for the code: its type, what is known of its
// value, or the constant it is.
//
//   integers   int32, int64 or uint64, the first that holds the value; 1 is a constant; divisible
//              by 16 is known
//   bool       int1;  floats: float32
//   pointers   divisible by 16 is known;  none and null pointers: the constant None
//
// do_not_specialize keeps an integer from being a constant and anything from being known as
// divisible. An annotation such as tl.int64 fixes the type, and then 1 is no constant either.
#pragma once

#include "compiler/triton/parameters.h"
#include "frontend/triton/lower.h"
#include "tilewright/triton.h"

namespace tilewright {

struct Specialized {
  enum class Kind : std::uint8_t {
    Absent,
    Scalar,
    Pointer,
    Integer,
    Number,
    Flag,
    Text,
    Type,
    None
  };
  Kind kind = Kind::Absent;
  DType dtype = DType::Int32;
  bool divisible = false;
  bool is_const = false;
  std::uint64_t bits = 0;  // of Integer (as `dtype`), Number (a double) and Flag
  std::string_view text;
};

// Of one value. Throws ArgumentError when the parameter cannot take the argument.
Specialized specialize(std::string_view kernel, const TritonParameter& parameter,
                       const TritonArgument& argument);
triton::ParameterType parameter_type(const Specialized& specialized);

// Of any argument, tuples and descriptors too.
triton::ParameterType specialized_type(std::string_view kernel, const TritonParameter& parameter,
                                       const TritonArgument& argument);

// The values inside a tuple or a descriptor; none of all else.
std::span<const TritonArgument> items_of(const TritonArgument& argument);

}  // namespace tilewright
