// SPDX-License-Identifier: Apache-2.0
// ir/interpret/tile.h — a value while it is interpreted: one 8-byte element each, floats as double,
// pointers with their buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/type.h"

namespace tilewright::ir {

union Element {
  std::int64_t
      i;     // integers sign- or zero-extended from their width, bools 0 or 1, pointers as below
  double f;  // every float, exactly
};

// Elements in row-major order. Inside the region of a reduce or scan a scalar stands for many lanes
// at once: then there are more elements than the type says, and a single element stands for all
// lanes.
struct Tile {
  Type type;
  std::vector<Element> elements;

  std::size_t size() const { return elements.size(); }
  // Lane i, where a lone element serves every lane.
  Element at(std::size_t i) const { return elements[elements.size() == 1 ? 0 : i]; }
};

// A pointer's element: the number of its buffer plus one in the upper 16 bits, the address in the
// lower 48.
struct TaggedPointer {
  static constexpr int tag_shift = 48;
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << tag_shift) - 1;
  static std::int64_t make(int buffer, std::uint64_t address) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(buffer + 1) << tag_shift |
                                     (address & address_mask));
  }
  static int buffer(std::int64_t bits) {
    return static_cast<int>(static_cast<std::uint64_t>(bits) >> tag_shift) - 1;
  }
  static std::uint64_t address(std::int64_t bits) {
    return static_cast<std::uint64_t>(bits) & address_mask;
  }
};

// ---- Numbers of a type

std::int64_t wrap(DType dtype,
                  std::int64_t value);       // to the width of an integer type; bools to != 0
double round_to(DType dtype, double value);  // to the nearest float of the type, halves to even
double round_toward_zero(DType dtype, double value);
// To the nearest; what is beyond the type is its largest number. NaN stays.
double round_saturating(DType dtype, double value);
std::int64_t float_to_int(DType dtype,
                          double value);  // truncates, clamps to the range; NaN gives 0
double int_to_float(DType from,
                    std::int64_t value);  // as a double; exact below 2^53, then rounded once

// ---- Elements in memory

Element read_element(DType dtype, const void* address);
void write_element(DType dtype, Element element, void* address);

}  // namespace tilewright::ir
