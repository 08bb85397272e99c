// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_groups.h — matrix products that warpgroups start and that go on beside them,
// and who waits for them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/lower/thread_dots.h"

namespace tilewright {

class ThreadGroups : private ThreadElements {
 public:
  explicit ThreadGroups(ThreadState& state) : ThreadElements(state) {}

  void start_product(const Step& step, const ProductSums& sums);

  // ---- Who waits
  // Before a step that touches sums of products that go on.
  void wait_for_touched(const ir::Op& op);
  // The smallest array of words that a step beside products has computed.
  void note_computed(const Step& step);
  // Whether the op gives back slots that a product reads which goes on; then it waits for that.
  bool puts_off(const ir::Op& release);

  // ---- What products read in shared memory
  void note_written(ir::Value tile);
  void show_written();
  // What `lower` makes is a function of a call: nothing is shown in there.
  void outside_functions(const std::function<void()>& lower);

  // ---- Loops: around all rounds, and around one
  void rounds(const Step& step, const std::vector<ir::Value>& initial,
              const std::function<void()>& lower);
  void round(const Step& step, const std::function<void()>& lower);

 private:
  using DescribedOperand = ProductPlans::DescribedOperand;
  using DotOperand = ProductPlans::DotOperand;
  // A product that goes on, and what it adds to.
  struct Started {
    const ir::Op* product = nullptr;
    ir::Value sums;
  };

  ir::Value warpgroup();
  ir::Value describe(const Step& step, const DescribedOperand& from, bool is_left);
  ir::Value further(const Loop& tiles, const DescribedOperand& from, ir::Value descriptor,
                    bool is_left);
  ir::Value collect_all_words(const Step& step, const SpaceVariable& depth);
  ir::Value words_of_tile(const Loop& tiles, ir::Value words);
  void wait_for_products(std::int64_t pending);
  std::vector<Started> lagging_products(const ir::Op& loop) const;
  bool are_lagging(const std::vector<Started>& lagging) const;

  ir::Value warpgroup_;              // its number, where an operand has parts
  std::vector<Started> started_;     // products that go on, oldest first
  std::vector<Started> lagging_;     // of the loop that begins
  std::vector<const ir::Op*> owed_;  // releases that wait for some of them
  ir::Value last_computed_;          // an array of words that was computed since
  const ir::Op* loop_ = nullptr;     // the innermost `for`
  bool drains_ = false;      // products go on through the rounds of the loop that is lowered
  bool is_unshown_ = false;  // what products read was written to shared memory
};

}  // namespace tilewright
