// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_ahead.h — products in a pipelined loop whose words are read a step ahead,
// and copies of later rounds that start between the steps of a product.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/lower/program_lowering.h"
#include "codegen/lower/thread_copies.h"
#include "codegen/lower/thread_mma.h"

namespace tilewright {

// A copy of a later round that starts between the steps of a product.
struct CopyBeside {
  const Step* step = nullptr;
  ThreadLoop loop;
  CopyPlace place = {};
  ir::Value base = {};             // a pointer that the loop carries
  ir::Value from = {};             // where the first one reads, carried along with it; or none
  std::vector<ir::Value> by = {};  // what the loop adds to the base in each round
  ir::Value slot = {};
};

// A loop with such copies, or whose product's words are read ahead.
struct LoopAhead {
  const ir::Op* loop = nullptr;
  bool reads_ahead = false;      // else only copies start between the steps
  const Step* dot = nullptr;     // the only reader of the loop's slots, or the first
  const Step* wait = nullptr;    // for the copies; stands inside the product
  const Step* copies = nullptr;  // those between the product's steps, if any
  const Step* commit = nullptr;
  std::array<const ir::Op*, 2> reads = {};                     // of the slots with the operands
  ir::Value slot, next_slot, initial_slot;                     // of the Laid kernel
  std::vector<std::pair<OperandWords, ir::Value>> words = {};  // and the arrays of two steps
  std::vector<CopyBeside> beside = {};
  ir::Value starts = {};  // whether these copies do
};

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
  using ElementLoop = ElementPlans::ElementLoop;
  using SharedView = ElementPlans::SharedView;
  using DotOperand = ElementPlans::DotOperand;

  Ahead* ahead() { return aheads_.empty() || !aheads_.back() ? nullptr : &*aheads_.back(); }

  // ---- Which loops
  std::optional<Ahead> find_ahead(const Step& loop);
  std::optional<Ahead> find_beside(const Step& loop);
  bool uses_shared(const Step& step, bool slots_only) const;
  bool finds_slots(const ir::Op& loop, Ahead& out) const;
  bool can_start_beside(const Step& branch);
  bool is_outside(const ir::Op& loop, ir::Value value) const;
  bool has_room(const Ahead& ahead) const;

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
