// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_arrays.h — the arrays of a program, and where they lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/lower/loop_builder.h"

namespace tilewright {

class LoopArrays : private LoopBuilder {
 public:
  using LoopBuilder::LoopBuilder;

  void place_arrays();

 private:
  struct WantedArray {
    ir::Value* array;
    std::string name;
    ir::Type type;  // of the tile
    std::int64_t bytes;
    bool is_by_turns;  // there are two
  };
  std::vector<WantedArray> wanted_arrays();
  std::string array_base(ir::Value owner) const;
  ir::Value array_by_turns(const std::string& name, const ir::Type& tile, std::int64_t offset);
};

}  // namespace tilewright
