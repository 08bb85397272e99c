// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_dots.h — products of tiles: a call of the device library per product, with
// operands where they are.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/lower/loop_nests.h"

namespace tilewright {

class LoopDots : private LoopNests {
 public:
  using LoopNests::LoopNests;

  void dot(const Step& step);
  // The arrays of loads that products read in memory, where these are not whole.
  void fill_operands(const Step& step);

 private:
  struct DotOperand {
    ir::Value base;                  // an array, or a pointer to memory
    std::vector<ir::Value> strides;  // by dimension, in elements
  };
  DotOperand operand_of_dot(const Step& step, ir::Value value);
  std::optional<DotOperand> operand_in_place(ir::Value value);
  ir::Value wholeness_test(const WholenessTest& test);
  ir::Value wholeness(const Step& step);

  // Whether a product reads a load in memory, by the load; none: always.
  std::unordered_map<std::uint32_t, ir::Value> is_whole_;
};

}  // namespace tilewright
