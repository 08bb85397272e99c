// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_ahead.h — products in a pipelined loop whose words are read a step ahead,
// and copies of later rounds that start between the steps of a product.
//
// It is part of the lowering and no pass over stage Final: what may be read ahead is known of
// tiles, slots and rounds of the Laid kernel (find_ahead), and a pass would have to find all of
// that again in loops over words. What it decides is in the Final kernel all the same, as loops,
// reads, waits and copies that the interpreter runs and rules F5 and F6 hold.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "codegen/lower/find_ahead.h"
#include "codegen/lower/program_lowering.h"
#include "codegen/lower/thread_elements.h"

namespace tilewright {

class ThreadAhead : private ThreadElements {
 public:
  explicit ThreadAhead(ThreadState& state) : ThreadElements(state) {}

  // ---- Around the rounds of a loop
  std::vector<ProgramLowering::Carried> begin_rounds(const Step& loop);
  std::vector<ir::Value> end_rounds();
  // Whether the product of the loop does the step.
  bool is_taken_ahead(const Step& step);

  // ---- In its product
  // The loop, if this is its product; else nothing.
  LoopAhead* loop_of(const Step& product);
  void begin_beside();
  void start_beside(CopyBeside& copy, const Loop& steps, int first_step);
  void multiply_ahead(const Step& step, ir::Value sums);

 private:
  using Ahead = LoopAhead;

  Ahead* ahead() { return aheads_.empty() || !aheads_.back() ? nullptr : &*aheads_.back(); }

  void read_first(Ahead& ahead, const Step& loop);
  void read_half(const Ahead& ahead, std::size_t side, ir::Value slot, ir::Value into,
                 const Loop& around);
  void place_copies(Ahead& ahead, const ir::Op& loop);
  void carry_pointer(CopyBeside& copy, const ir::Op& loop);
  ir::Value odd(ir::Value value);
  ir::Value has_next(const ir::Op& loop);

  std::vector<std::optional<Ahead>> aheads_;  // of the loops that are open
};

}  // namespace tilewright
