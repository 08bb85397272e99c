// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_reductions.h — sums of a loop, and the like: variables when the innermost loop
// runs along the axis, else the result's own array.
#pragma once

#include <string>
#include <vector>

#include "codegen/lower/loop_elements.h"

namespace tilewright {

class LoopReductions : private LoopElements {
 public:
  using LoopElements::LoopElements;

  std::vector<LoweredReduction> plan_reductions(const Step& step, LoweredNest& nest);
  // Before the loops, in the innermost one, behind that, and behind all of them.
  void begin_reductions(LoweredNest& nest, std::vector<LoweredReduction>& reductions);
  void accumulate(LoweredNest& nest, const LoweredReduction& reduction);
  void finish_reductions(LoweredNest& nest, const std::vector<LoweredReduction>& reductions);
  void publish(const LoweredReduction& reduction);
  // What the lanes of a loop combine, as `reduces` says it.
  std::vector<std::string> clauses_of(const std::vector<LoweredReduction>& reductions) const;
  std::vector<ir::Value> combined(LoweredNest& nest, const LoweredReduction& reduction,
                                  const std::vector<ir::Value>& a, const std::vector<ir::Value>& b,
                                  Statements& list);

 private:
  ir::Value variable(const ir::Type& type, ir::Value initial, const std::string& name,
                     Statements& list);
  void begin_reduction(LoweredNest& nest, LoweredReduction& reduction, ir::Value result);
  void begin_extreme(LoweredNest& nest, LoweredReduction& reduction, Statements& list);
  void take_extreme(const LoweredReduction& reduction, ir::Value value, Statements& list);
  void finish_extreme(const LoweredReduction& reduction, Statements& list);
  bool accumulate_once(LoweredNest& nest, const LoweredReduction& reduction,
                       const PlacedValue& value);
  ir::Value reduced_place(const LoweredNest& nest, const ir::Op& op);
  void round_sums(ir::Value result);
};

}  // namespace tilewright
