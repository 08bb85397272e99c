// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_mma.h — products of units: words of operands, and the calls that multiply
// them.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

// An operand of a product of units, and where its matrices are where it comes in such.
struct OperandWords {
  ProductPlans::DotOperand operand;
  std::optional<ProductPlans::MatrixView> from = {};
  ProductPlans::MatrixPlan plan = {};
  ir::Value at = {};
};

class ThreadMma : private ThreadElements {
 public:
  explicit ThreadMma(ThreadState& state) : ThreadElements(state) {}

  // ---- Operands
  OperandWords words_of(const Step& step, const ProductPlans::DotOperand& operand);
  ir::Value make_words(const OperandWords& words, int log_steps);
  // The words of a step along the depth, into an array from its begin on.
  void read_words(const Step& step, const OperandWords& words, ir::Value into, const Loop& around,
                  ir::Value from = {});  // instead of the operand's own array
  // Those that stay the same in all rounds are read before the loop.
  void hold_operands(const Step& loop);

  // ---- The product
  void multiply_matrices(const Step& step, ir::Value sums);
  // All pairs of the thread's rows and columns, of one step along the depth.
  void multiply_words(const Step& step, ir::Value sums,
                      const std::vector<std::pair<OperandWords, ir::Value>>& both,
                      const Loop& around);

 private:
  using DotOperand = ProductPlans::DotOperand;
  using MatrixPlan = ProductPlans::MatrixPlan;

  void collect_words(const Step& step, const DotOperand& operand, ir::Value into,
                     const Loop& around);
  void hold_operand(const Step& loop, const Step& dot, bool is_left);

  // Words that are read before a loop, by the product and whether it is its left operand.
  std::map<std::pair<const ir::Op*, bool>, ir::Value> held_;
};

}  // namespace tilewright
