// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_state.h — what lower_to_loops is given, and what it has made so far.
//
// As in the lowering to threads (thread_state.h), each family of ops is a class with its own header
// and its own state (loop_lowering.h). Their building blocks have none: LoopBuilder (arrays),
// LoopElements (an element of a tile, and its place), LoopNests (loops over elements).
//
// Inside a loop nest a coordinate or an element is a value and the number of loops it depends on; a
// statement is placed in the outermost loop where its operands are there, so that what a row has in
// common is computed once per row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/lower/expression_facts.h"
#include "codegen/lower/final_builder.h"
#include "codegen/lower/row_facts.h"

namespace tilewright {

// A value or coordinate, and how many loops of the nest it depends on.
struct PlacedValue {
  ir::Value value;
  int depth = 0;
};

// A place in a tile. `linear` is its row-major number where that is shorter than from coordinates.
struct ElementIndex {
  std::vector<PlacedValue> at;
  std::optional<PlacedValue> linear;
};

// A condition that may be known now.
struct KnownCondition {
  std::optional<bool> known;
  PlacedValue value;
};

// Whether the rounds of a loop may run side by side, and what their lanes combine.
struct LoopMarks {
  bool simd = false;
  std::vector<std::string> reduces = {};
};

// A store of a large result: the row that the loop writes is the staging array, or memory.
struct StreamedStore {
  const ir::Op* store;
  ir::Value row, staging, place;
};

// A row that a later program reads: this program's, and how far from there.
struct RowAhead {
  ir::Value row;
  std::vector<IndexTerm> step;
};

// A stretch of a loop.
struct LoopRange {
  ir::Value begin, end;
  std::optional<bool> holds;  // what the split mask is there
};

// The statements of one nest while they are found.
struct LoweredNest : NestShape {
  std::vector<ir::Value> index;   // of each loop
  std::vector<LoopRange> bounds;  // of each loop
  ElementIndex own;               // of the element of this iteration
  std::vector<Statements> lines;  // by depth, before the next inner loop
  std::map<std::pair<std::uint32_t, std::string>, PlacedValue> known;
  Names names;
  std::vector<Statements> after;    // by depth, behind the next inner loop
  std::optional<bool> split_holds;  // what the split mask is in the range being lowered
  LoopRange range;                  // that range, and what it does once instead of in its loop
  Statements once;
  // The innermost loop runs block by block, for stores of large results, long sums (their
  // variables) and rows that are asked for meanwhile.
  bool has_blocks = false;
  std::int64_t block_size = elements_of_block;
  std::vector<ir::Value> long_sums;
  std::vector<RowAhead> ahead;
  ir::Value block_first;
  std::vector<StreamedStore> streamed;
  ir::Value mapped;   // f32 of which the loop writes a row and does nothing else
  bool maps = false;  // in the range being lowered
  ir::Value result;   // of that row, or of the term of a sum
  // The variable of the sum, or the largest, that is all that the loop finds: it is a call; and the
  // array that keeps its terms.
  ir::Value sum, keeps;
  bool is_largest = false, largest_keeps_nan = false;
  // Whether tiles of indices are taken for consecutive numbers, and the tests of those that were,
  // by their names.
  bool assumes_runs = false;
  std::map<std::string, ir::Value> runs;
};

// With what it is lowered to.
struct LoweredReduction : ReductionShape {
  std::vector<ir::Value> sums = {};  // variables, or the results' arrays
  // Of a largest or smallest float: the variable that says whether a number was seen, or, where NaN
  // is kept, a NaN.
  ir::Value seen = {};
  bool keeps_nan = false;
};

// One range of the innermost loop.
struct LoweredPart {
  LoopRange range;
  ir::Value index;
  Statements lines = {}, once = {};
  ir::Value first = {};  // of its blocks; none: the range is one
  std::string last = {};
  std::vector<StreamedStore> streamed = {};
  ir::Value result = {};  // of a row that is a call
  // The test of its tiles of indices, and what the range is where it holds; none: there is none.
  ir::Value are_runs = {};
  std::vector<LoweredPart> run = {};
};

struct LoopFamilies;

struct LoopState : FinalProgram {
  LoopState(const ir::Kernel& kernel, const Sweeps& schedule)
      : laid(kernel), sweeps(schedule), facts(kernel, schedule) {}

  const ir::Kernel& laid;
  const Sweeps& sweeps;
  const RowFacts facts;
  const ExpressionFacts written = ExpressionFacts::of_host(out);
  ir::Op* programs = nullptr;
  ir::Value streams = {};  // whether large results go around the caches
  std::unordered_map<std::uint32_t, ir::Value> arrays = {};  // by the value that owns the array
  // Of operands of products that are in no array of their own, by op and operand.
  std::map<std::pair<const ir::Op*, std::uint32_t>, ir::Value> operand_arrays = {};
  std::unordered_map<std::uint32_t, ir::Value> wide_arrays = {};  // of sums, by result
  std::unordered_map<std::uint32_t, ir::Value> is_run = {};       // by tile of indices: its test
  LoopFamilies* families = nullptr;
};

}  // namespace tilewright
