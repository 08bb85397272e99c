// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lowering.h — how lower_to_loops thinks. Inside a loop nest a coordinate or an element is such a value and the number of loops it depends
// on; a statement is placed in the outermost loop where its operands are there, so that what a row
// has in common is computed once per row.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/lower/expression_facts.h"
#include "codegen/lower/program_lowering.h"
#include "codegen/lower/row_facts.h"
#include "ir/kernel.h"
#include "machine/library.h"
#include "passes/laid/sweeps.h"

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

// A row that the next program reads: this program's, and how far from there.
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
  bool is_largest = false;
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

class LoopLowering : private RowFacts, private ProgramLowering {
 public:
  LoopLowering(const ir::Kernel& laid, const Sweeps& sweeps, FinalProgram& program);
  ir::Kernel run();

 private:
  using Term = IndexTerm;

  // ---- The program (lowering.cpp)
  void enter();
  void steps(const Steps& steps) override;
  bool asks_others(const ir::Op& loop) const override;
  void note_lines(const std::vector<const ir::Op*>& ops);
  void scalar_op(const ir::Op& op);
  void scalar_memory(const ir::Op& op);
  ir::Value only_element(const ir::Op& view, ir::Value value) override;
  bool is_inlined(const ir::Op& op, ir::Value made) const;

  // ---- Arrays (lower_arrays.cpp)
  struct WantedArray {
    ir::Value* array;
    std::string name;
    ir::Type type;  // of the tile
    std::int64_t bytes;
    bool is_by_turns;  // there are two
  };
  std::vector<WantedArray> wanted_arrays();
  void place_arrays();
  std::string array_base(ir::Value owner) const;
  ir::Value array(ir::Value value) const;

  // ---- Elements of tiles (lower_elements.cpp)
  PlacedValue element(LoweredNest& nest, ir::Value value, const ElementIndex& index);
  PlacedValue viewed(LoweredNest& nest, const ir::Op& op, ir::Value value,
                     const ElementIndex& index);
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
  PlacedValue name_in(LoweredNest& nest, ir::Value value, ir::Value made, int depth);
  KnownCondition condition(LoweredNest& nest, ir::Value value, const ElementIndex& index);
  KnownCondition in_bounds(const ir::Op& op, const ElementIndex& index);
  PlacedValue loaded(LoweredNest& nest, const ir::Op& op, const ElementIndex& index);
  ir::Value copied(ir::Value value);
  std::string key_of(const ElementIndex& index) const;
  bool is_own(const LoweredNest& nest, const ElementIndex& index) const;

  // ---- Places (lower_places.cpp)
  PlacedValue linear(const ir::Type& type, const ElementIndex& index);
  ElementIndex reshaped(const ir::Type& from, const ir::Type& to, const ElementIndex& index);
  ElementIndex viewed_index(const ir::Op& view, const ElementIndex& index);
  struct Address {
    ir::Value base;
    std::vector<Term> terms;
    int depth = 0;
  };
  PlacedValue access(LoweredNest& nest, ir::Value pointer, const ElementIndex& index);
  Address address(LoweredNest& nest, ir::Value pointer, const ElementIndex& index);
  void add_terms(LoweredNest& nest, ir::Value offset, const ElementIndex& index, Address& address);
  Address affine_terms(const ir::Op& op, const ElementIndex& index);

  // ---- Tiles of indices (lower_runs.cpp)
  void check_runs(const Step& step);
  bool add_run(LoweredNest& nest, ir::Value value, const ElementIndex& index, Address& address);
  LoweredPart lower_either(LoweredNest& nest, const LoopRange& range,
                           const std::function<void()>& body);
  void put_either(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                  Statements& list);

  // ---- Loops (lower_nests.cpp, lower_parts.cpp)
  LoweredNest make_nest(const Step& step, const ir::Type& shape, const std::vector<int>& axes = {});
  void set_own(LoweredNest& nest);
  void elements(const Step& step);
  void element_loops(const Step& step);
  void run_ops(LoweredNest& nest, const Step& step);
  void load_again_before(LoweredNest& nest, const Step& step, const ir::Op& write);
  void keep(LoweredNest& nest, const Step& step);
  void effect(LoweredNest& nest, const ir::Op& op);
  void atomic(LoweredNest& nest, const ir::Op& op);
  std::vector<LoopRange> ranges(LoweredNest& nest, bool rest);
  ir::Value bounds_without_loop(const LoweredNest& nest, const ir::Op& bounds);
  bool will_map(const LoweredNest& nest, const LoopRange& range) const;
  void reserve_outer_names(LoweredNest& nest) const;
  void lower_nest(LoweredNest& nest, const LoopMarks& marks, const std::function<void()>& body);
  void put_off(LoweredNest& nest, LoweredPart& part, std::size_t before);
  LoweredPart lower_part(LoweredNest& nest, const LoopRange& range,
                         const std::function<void()>& body);
  LoweredPart lower_range(LoweredNest& nest, const LoopRange& range, bool has_long_index,
                          const std::function<void()>& body);
  void put_parts(LoweredNest& nest, const std::vector<LoweredPart>& parts,
                 const std::optional<LoweredPart>& whole, const LoopMarks& marks);
  void put_part(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                Statements& list);
  void put_blocks(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                  Statements& list);
  std::vector<ir::Value> begin_long_sums(LoweredNest& nest, const LoweredPart& part,
                                         Statements& list);
  void find_blocks(LoweredNest& nest);
  void put_loop(const LoweredPart& part, const LoopRange& range, const LoopMarks& marks,
                Statements& list);
  ir::Op* loop_over(ir::Value index, const LoopRange& range, std::int64_t by, const char* over,
                    Statements& list);
  bool has_whole_rows(const LoweredNest& nest, const std::vector<LoweredPart>& parts) const;
  void copy(const Step& step,
            const std::vector<std::pair<ir::Value, ir::Value>>& copies) override;

  // ---- Reductions (lower_reductions.cpp)
  std::vector<LoweredReduction> plan_reductions(const Step& step, LoweredNest& nest);
  ir::Value variable(const ir::Type& type, ir::Value initial, const std::string& name,
                     Statements& list);
  ir::Value current(ir::Value variable);
  void begin_reductions(LoweredNest& nest, std::vector<LoweredReduction>& reductions);
  void begin_reduction(LoweredNest& nest, LoweredReduction& reduction, ir::Value result);
  void begin_extreme(LoweredNest& nest, LoweredReduction& reduction, Statements& list);
  void take_extreme(const LoweredReduction& reduction, ir::Value value, Statements& list);
  void finish_extreme(const LoweredReduction& reduction, Statements& list);
  bool accumulate_once(LoweredNest& nest, const LoweredReduction& reduction,
                       const PlacedValue& value);
  void accumulate(LoweredNest& nest, const LoweredReduction& reduction);
  std::vector<ir::Value> combined(LoweredNest& nest, const LoweredReduction& reduction,
                                  const std::vector<ir::Value>& a, const std::vector<ir::Value>& b,
                                  Statements& list);
  ir::Value reduced_place(const LoweredNest& nest, const ir::Op& op);
  void finish_reductions(LoweredNest& nest, const std::vector<LoweredReduction>& reductions);
  void publish(const LoweredReduction& reduction);
  void round_sums(ir::Value result);
  std::vector<std::string> clauses_of(const std::vector<LoweredReduction>& reductions) const;

  // ---- Across elements (lower_across.cpp)
  void across(const Step& step);
  void scan(const Step& step);
  void running_sum(const ir::Op& op);
  void combine_slices(const ir::Op& op);
  void gather(const Step& step);
  void concatenate(const Step& step);
  void sort(const Step& step);
  void histogram(const Step& step);
  void print(const Step& step);

  // ---- Products of tiles (lower_dot.cpp)
  struct DotOperand {
    ir::Value base;                  // an array, or a pointer to memory
    std::vector<ir::Value> strides;  // by dimension, in elements
  };
  void dot(const Step& step);
  DotOperand operand_of_dot(const Step& step, ir::Value value);
  ir::Value wholeness_test(const WholenessTest& test);
  ir::Value wholeness(const Step& step);
  void fill_operands(const Step& step);
  std::optional<DotOperand> operand_in_place(ir::Value value);

  // ---- Large results (lower_streams.cpp)
  void write_streamed(LoweredNest& nest, const ir::Op& store, ir::Value value);
  StreamedStore& streamed_store(LoweredNest& nest, const ir::Op& store);
  void begin_streams(const std::vector<StreamedStore>& streamed, Statements& list);
  void finish_streams(const std::vector<StreamedStore>& streamed, const LoopRange& range,
                      Statements& list);
  void count_streamed(const ir::Op& store);

  // ---- Rows: calls, those of the next program, the one that is left to it (lower_rows.cpp)
  void find_row_call(LoweredNest& nest, const std::vector<LoweredReduction>& reductions);
  ir::Op* row_call(LibraryKind function, std::vector<ir::Value> operands, const LoweredPart& part,
                   Statements& list);
  void put_row_call(const LoweredNest& nest, const LoweredPart& part, Statements& list);
  void map_row(const LoweredPart& part, Statements& list);
  void put_meanwhile(const LoweredNest& nest, ir::Op& sum);
  void defer_row(const LoweredPart& part, Statements& list);
  ir::Value array_by_turns(const std::string& name, const ir::Type& tile, std::int64_t offset);
  bool is_made(ir::Value scalar) const;
  ir::Value in_order(const std::vector<Term>& terms);
  std::optional<std::vector<Term>> grown(const Growth& growth);
  std::vector<RowAhead> next_rows(const ir::Type& row);
  void find_rows_ahead(LoweredNest& nest);
  void fetch_ahead(const LoweredNest& nest, const LoweredPart& part, const LoopRange& range,
                   Statements& list);
  ir::Value row_ahead(const RowAhead& row, ir::Value index);

  const ExpressionFacts written_;
  ir::Op* programs_ = nullptr;
  std::unordered_map<std::uint32_t, ir::Value> arrays_;   // by the value that owns the array
  // Of operands of products that are in no array of their own, by op and operand.
  std::map<std::pair<const ir::Op*, std::uint32_t>, ir::Value> operand_arrays_;
  std::unordered_map<std::uint32_t, ir::Value> wide_arrays_;  // of sums, by result
  std::unordered_map<std::uint32_t, ir::Value> is_run_;       // by tile of indices: its test
  // Whether a product reads a load in memory, by the load; none: always.
  std::unordered_map<std::uint32_t, ir::Value> is_whole_;
  ir::Value streams_;                        // whether large results go around the caches
  std::int64_t streamed_bytes_ = 0;
  std::set<const ir::Op*> streamed_stores_;
  bool has_fetched_ahead_ = false;
};

}  // namespace tilewright
