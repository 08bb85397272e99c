// SPDX-License-Identifier: Apache-2.0
// ir/interpret/arrays.h — the arrays of a program of stage Final: their elements, and whether each
// was written.
//
// An array is known by the value that its op gives; a view of it is that and a first element, in
// the bits of a pointer that no buffer has. What stands where it may be memory too (row_of) is a
// pointer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

class Arrays {
 public:
  // A new array without elements yet, in place of one that the same op made before.
  // In a row of several threads its vectors lie apart: each has that many places.
  std::int64_t make(Value owner, std::int64_t count, std::int64_t vector = 1, std::int64_t apart = 1);

  static bool is_array(std::int64_t handle);  // else it is a pointer to memory
  static std::int64_t view(std::int64_t handle, std::int64_t index);

  // What is wrong with reading or writing an element; empty: nothing.
  std::string problem(std::int64_t handle, std::int64_t index, bool reads) const;
  // Of places that have no problem.
  Element read(std::int64_t handle, std::int64_t index) const;
  void write(std::int64_t handle, std::int64_t index, Element element);

  static std::int64_t handle_of(Value owner);
  static std::uint32_t owner_of(std::int64_t handle);
  static std::int64_t first_of(std::int64_t handle);

 private:
  struct Row {
    std::vector<std::optional<Element>> elements;
    std::int64_t vector = 1, step = 1;  // elements of a vector, and places from one to the next

    std::int64_t number(std::int64_t index) const;  // of the element there; -1: none
  };
  std::unordered_map<std::uint32_t, Row> elements_;
};

}  // namespace tilewright::ir
