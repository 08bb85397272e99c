// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_elements.h — one element of a tile in a loop nest: its value
// (loop_elements.cpp) and its place, in an array or in memory (loop_places.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/lower/loop_builder.h"

namespace tilewright {

class LoopElements : protected LoopBuilder {
 protected:
  using LoopBuilder::LoopBuilder;

  PlacedValue element(LoweredNest& nest, ir::Value value, const ElementIndex& index);
  PlacedValue viewed(LoweredNest& nest, const ir::Op& op, ir::Value value,
                     const ElementIndex& index);
  PlacedValue name_in(LoweredNest& nest, ir::Value value, ir::Value made, int depth);
  KnownCondition condition(LoweredNest& nest, ir::Value value, const ElementIndex& index);
  PlacedValue loaded(LoweredNest& nest, const ir::Op& op, const ElementIndex& index);
  ir::Value copied(ir::Value value);
  std::string key_of(const ElementIndex& index) const;

  // ---- Places (loop_places.cpp)
  // In the tile's array.
  PlacedValue linear(const ir::Type& type, const ElementIndex& index);
  // In memory.
  PlacedValue access(LoweredNest& nest, ir::Value pointer, const ElementIndex& index);

 private:
  struct Address {
    ir::Value base;
    std::vector<Term> terms;
    int depth = 0;
  };

  PlacedValue joined(LoweredNest& nest, const ir::Op& op, const ElementIndex& index);
  PlacedValue indexed(const ir::Op& op, const ElementIndex& index);
  PlacedValue affine(LoweredNest& nest, const ir::Op& op, const ElementIndex& index);
  PlacedValue arm(LoweredNest& nest, ir::Value value, const ElementIndex& index);
  PlacedValue computed(LoweredNest& nest, const ir::Op& op, ir::Value value,
                       const ElementIndex& index);
  std::optional<PlacedValue> merged(LoweredNest& nest, const ir::Op& op, const ElementIndex& index);
  std::optional<ir::Value> divided(LoweredNest& nest, const ir::Op& op,
                                   const std::vector<ir::Value>& operands,
                                   const ElementIndex& index);
  KnownCondition in_bounds(const ir::Op& op, const ElementIndex& index);
  bool is_own(const LoweredNest& nest, const ElementIndex& index) const;

  ElementIndex reshaped(const ir::Type& from, const ir::Type& to, const ElementIndex& index);
  ElementIndex viewed_index(const ir::Op& view, const ElementIndex& index);
  Address address(LoweredNest& nest, ir::Value pointer, const ElementIndex& index);
  void add_terms(LoweredNest& nest, ir::Value offset, const ElementIndex& index, Address& address);
  Address affine_terms(const ir::Op& op, const ElementIndex& index);
  bool add_run(LoweredNest& nest, ir::Value value, const ElementIndex& index,
               Address& address);  // (loop_runs.cpp)
};

}  // namespace tilewright
