// SPDX-License-Identifier: Apache-2.0
// ir/interpret/memory.h — the buffers of a launch, and accesses to them that are checked.
#pragma once

#include <span>
#include <string>

#include "ir/interpret/interpret.h"
#include "ir/interpret/tile.h"

namespace tilewright::ir {

class Memory {
 public:
  Memory(std::span<const InterpretBuffer> buffers, bool float64)
      : buffers_(buffers), float64_(float64) {}

  std::int64_t pointer(const InterpretPointer& pointer) const;

  // What is wrong with an access of `dtype` at `pointer`: "reads index 1024 of buffer 'x' (1024
  // elements of float32)". Empty when nothing is.
  std::string problem(std::int64_t pointer, DType dtype, std::string_view verb) const;

  // Bytes from the beginning of the pointer's buffer; its address where it has none.
  std::int64_t distance(std::int64_t pointer) const;

  // Of places that have no problem.
  std::string element_name(std::int64_t pointer, DType dtype) const;  // "x[1024]"
  Element read(std::int64_t pointer, DType dtype) const;
  void write(std::int64_t pointer, DType dtype, Element element) const;

 private:
  int buffer_of(std::int64_t pointer) const;  // -1: none
  double* shadow(std::int64_t pointer, DType dtype) const;

  std::span<const InterpretBuffer> buffers_;
  bool float64_;
};

}  // namespace tilewright::ir
