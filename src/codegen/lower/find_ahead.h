// SPDX-License-Identifier: Apache-2.0
// codegen/lower/find_ahead.h — pipelined loops around a product whose words can be read a step
// ahead, or beside whose steps copies of later rounds can start.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/lower/thread_copies.h"
#include "codegen/lower/thread_mma.h"
#include "codegen/lower/thread_state.h"

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

// None where neither can be; products of warpgroups read their operands where they are.
std::optional<LoopAhead> find_ahead(ThreadState& state, const Step& loop);

}  // namespace tilewright
