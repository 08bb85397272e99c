// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/program.h — writes the function that runs one program: the steps of a Laid kernel in
// order.
//
// Inside a loop nest a coordinate or an element is a text and the number of loops it depends on; a
// statement is placed in the outermost loop where its operands are there, so that what a row has in
// common is computed once per row.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text_writer.h"
#include "codegen/cpu/emit.h"
#include "codegen/lower/nest_facts.h"
#include "codegen/text/expressions.h"
#include "codegen/text/names.h"
#include "ir/analysis/memory_order.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

// Arrays of up to this many bytes in all live on the stack of a function.
constexpr std::int64_t stack_limit = 64 << 10;
// Bytes of an array with its padding; each begins at a cache line.
constexpr std::int64_t array_alignment = 64;
inline std::int64_t padded(std::int64_t bytes) {
  return (bytes + array_alignment - 1) / array_alignment * array_alignment;
}

// Text of a value or coordinate, and how many loops of the nest it depends on.
struct Placed {
  std::string text;
  int depth = 0;
};

// A place in a tile. `linear` is its row-major number where that is shorter than from coordinates.
struct Index {
  std::vector<Placed> at;
  std::optional<Placed> linear;
};

// A condition that may be known while the text is written.
struct Condition {
  std::optional<bool> known;
  Placed text;
};

// A store of a large result: the row that the loop writes is the part, or the place in memory.
struct Streamed {
  const ir::Op* store;
  std::string type, row, part, place;
};

// The last loop of a program that is left to be run while the next one computes (late.cpp).
struct LateRow {
  const Step* step = nullptr;       // that loop; null: there is none
  const Step* meanwhile = nullptr;  // the loop of the next program that it runs beside
  // What an element is computed from, and how.
  struct Variable {
    std::string type, name;
  };
  std::string type;  // of an element of the result
  std::vector<Variable> variables;
  std::vector<std::string> lines;
  std::string position;
  // Arrays that it reads: there are two of each, by turns.
  struct Array {
    std::string type, name;
    std::int64_t size, element_bytes;
  };
  std::vector<Array> arrays;
};

// The statements of one nest while they are found.
struct Nest : NestShape {
  Index own;                                    // of the element of this iteration
  std::vector<std::vector<std::string>> lines;  // by depth, before the next inner loop
  std::vector<std::vector<std::string>> after;  // by depth, behind it
  std::map<std::pair<std::uint32_t, std::string>, Placed> known;
  Names names;
  std::optional<bool> split_holds;  // what the split mask is in the part being written
  // That part's limits, and what it does once instead of in its loop.
  std::string part_begin, part_end;
  std::vector<std::string> once;
  // Whether tiles of indices are taken for consecutive numbers, and the tests of those that were.
  bool assumes_runs = false;
  std::set<std::string> runs;
  // Sums of floats over so many elements that they are taken block by block: as exact as on a GPU,
  // where each thread sums a few. The names of their variables, with their types.
  std::vector<std::pair<std::string, std::string>> long_sums;
  // The innermost loop runs block by block for them, and for stores of large results.
  bool has_blocks = false;
  int block_size = 0;
  std::string block_first, block_last;
  std::vector<Streamed> streamed;
  std::vector<std::string> ahead;  // rows to ask for meanwhile
  // Of the sum, or the largest, that is all that the loop finds; empty: there is more to do.
  std::string sum, sum_type;
  bool is_largest = false;
  std::string keeps;  // the array that keeps the terms of that sum, written along with it
  ir::Value mapped;   // f32 of which the loop writes a row and does nothing else
};

// Lines of a loop in terms of a position of 64 bits: subscripts take all of it (x[i], x[8 * k +
// i]), anything else is computed in 32 bits, as it was.
std::vector<std::string> with_long_position(const std::vector<std::string>& lines,
                                            std::string_view name);

class ProgramWriter : private NestFacts {
 public:
  ProgramWriter(const ir::Kernel& kernel, const Sweeps& schedule, const CpuEmitOptions& options,
                TextWriter& out, Names& names);
  // The body of the function: arrays first, then the steps.
  void write();
  // Bytes that the arrays need beyond what the function keeps itself; 0: none.
  std::int64_t arena_bytes() const { return arena_bytes_; }
  // Bytes of a program's results that may be large; 0: none.
  std::int64_t streamed_bytes() const { return streamed_bytes_; }
  bool uses_rows() const { return uses_rows_; }
  bool uses_maps() const { return uses_maps_; }
  const LateRow& late() const { return late_; }
  // Whether its programs wait for each other.
  bool communicates() const { return communicates_; }
  // The function's arguments are known by these names.
  void set_argument(ir::Value value, const std::string& name) {
    texts_[value.id] = name;
    declared_[name] = type_text(kernel_.type(value));
  }
  void place_arrays();

 private:
  std::string array_base(ir::Value owner) const;
  // ---- Steps (program.cpp)
  void steps(const Steps& steps);
  void scalar(const ir::Op& op);
  std::string scalar_expression(const ir::Op& op);
  void scalar_memory(const ir::Op& op);
  void define(ir::Value value, const std::string& expression);
  void comment(const ir::Op& op);
  void comment_lines(const std::vector<const ir::Op*>& ops);
  void check(const ir::Op& op, const std::string& condition, std::vector<std::string>* lines);
  const std::string& text(ir::Value value);
  OperandText operand(ir::Value value, const std::string& text) const;
  std::string array(ir::Value value) const;
  bool is_inlined(const ir::Op& op, const std::string& expression) const;

  // ---- Elements of tiles (element.cpp)
  Placed element(Nest& nest, ir::Value value, const Index& index);
  Placed viewed(Nest& nest, const ir::Op& op, ir::Value value, const Index& index);
  Placed joined(Nest& nest, const ir::Op& op, const Index& index);
  Placed indexed(const ir::Op& op, const Index& index);
  Placed affine(Nest& nest, const ir::Op& op, const Index& index);
  Placed arm(Nest& nest, ir::Value value, const Index& index);
  Placed computed(Nest& nest, const ir::Op& op, ir::Value value, const Index& index);
  std::optional<Placed> merged(Nest& nest, const ir::Op& op, const Index& index);
  std::optional<std::string> divided(Nest& nest, const ir::Op& op,
                                     const std::vector<OperandText>& operands, const Index& index);
  Placed named(Nest& nest, ir::Value value, const std::string& expression, int depth);
  Condition condition(Nest& nest, ir::Value value, const Index& index);
  Condition in_bounds(Nest& nest, const ir::Op& op, const Index& index);
  Placed loaded(Nest& nest, const ir::Op& op, const Index& index);
  static std::string copied(const ir::Type& type, const std::string& written);
  Placed linear(const ir::Type& type, const Index& index) const;
  Placed sum_of(const std::vector<std::pair<ir::Value, Placed>>& terms);
  Index reshaped(const ir::Type& from, const ir::Type& to, const Index& index) const;
  static bool is_own(const Nest& nest, const Index& index);

  // ---- Addresses (addresses.cpp)
  struct Address {
    std::string base;
    std::vector<Placed> terms;
    int depth = 0;
  };
  Placed access(Nest& nest, ir::Value pointer, const Index& index);
  Address address(Nest& nest, ir::Value pointer, const Index& index);
  void add_terms(Nest& nest, ir::Value offset, const Index& index, std::vector<Placed>& terms);
  std::optional<Placed> run_term(Nest& nest, ir::Value value, const Index& index);
  Index viewed_index(const ir::Op& view, const Index& index) const;
  void check_runs(const Step& step);

  // ---- Loops (loops.cpp)
  Nest make_nest(const Step& step, const ir::Type& shape, const std::vector<int>& axes);
  void elements(const Step& step);
  void element_loops(const Step& step);
  void find_blocks(Nest& nest);
  void run_ops(Nest& nest, const Step& step);
  void keep(Nest& nest, const Step& step);
  void effect(Nest& nest, const ir::Op& op);
  void atomic(Nest& nest, const ir::Op& op);
  void print_nest(Nest& nest, const std::vector<std::string>& pragmas,
                  const std::function<void()>& body);
  struct Range {
    std::string begin, end;
    std::optional<bool> holds;
  };
  struct Part {
    Range range;
    std::vector<std::string> lines, once;
    // The same where the indices named in the condition are consecutive.
    std::string condition = {};
    std::vector<std::string> run_lines = {};
    // Of its blocks; the whole range when there are none.
    std::string first = {}, last = {};
    std::vector<Streamed> streamed = {};
  };
  bool has_whole_rows(const Nest& nest, const std::vector<Part>& parts) const;
  void print_parts(Nest& nest, const std::vector<Part>& parts,
                   const std::vector<std::string>& pragmas);
  void print_part(Nest& nest, const Part& part, const std::vector<std::string>& pragmas);
  void print_blocks(Nest& nest, const Part& part, const std::vector<std::string>& pragmas);
  void print_loop(const Nest& nest, const Range& range, const Part& part,
                  const std::vector<std::string>& pragmas);
  std::string bounds_without_loop(const Nest& nest, const ir::Op& bounds);
  std::vector<Range> ranges(Nest& nest, bool needs_rest);
  void flush(Nest& nest, int depth);
  void copy(const Step& step, const std::vector<std::pair<ir::Value, ir::Value>>& copies);

  // ---- Reductions (reductions.cpp)
  struct Reduction {
    const ir::Op* op;
    int axis_loop = 0;
    bool is_inner = false;  // the axis is the innermost loop: sums live in variables
    std::string clause;     // of the pragma; empty: none
    bool has_identity = false;
    std::optional<ir::Type> wide;  // of the sum, where that is not the result's type
    std::vector<std::string> sums;
    // Of a largest or smallest float: the variable that says whether a number was seen, or, where
    // NaN is kept, a NaN.
    std::string seen = {};
    bool keeps_nan = false;
  };
  std::vector<Reduction> plan_reductions(const Step& step, const Nest& nest);
  void widen_sums(const Nest& nest, std::vector<Reduction>& reductions) const;
  void begin_reductions(Nest& nest, std::vector<Reduction>& reductions);
  void accumulate(Nest& nest, Reduction& reduction);
  void begin_extreme(Nest& nest, Reduction& reduction);
  std::vector<std::string> extreme(const Reduction& reduction, const std::string& value) const;
  std::string finished_extreme(const Reduction& reduction) const;
  bool accumulate_once(Nest& nest, const Reduction& reduction, const Placed& value);
  void combine(const ir::Op& op, const std::vector<std::string>& a,
               const std::vector<std::string>& b, const std::vector<std::string>& targets,
               std::vector<std::string>& lines);
  void finish_reductions(Nest& nest, const std::vector<Reduction>& reductions);
  void publish(const Reduction& reduction);
  Placed reduced_place(const Nest& nest, const ir::Op& op) const;

  // ---- Loops that are calls of the library (row_calls.cpp)
  bool is_light(const Nest& nest, ir::Value value, std::set<std::uint32_t>& seen) const;
  bool only_reads(const Step& step) const;
  bool is_plain_sum(const Nest& nest, const std::vector<Reduction>& reductions) const;
  void print_sum(Nest& nest, const Part& part);
  void print_map(const Nest& nest, const Part& part);

  // ---- Large results (streams.cpp)
  std::string streamed_element(Nest& nest, const ir::Op& store);
  void count_streamed(const ir::Op& store);
  void begin_streams(const std::vector<Streamed>& streamed);
  void finish_streams(const std::vector<Streamed>& streamed, const std::string& first,
                      const std::string& last);

  // ---- Rows of the next program (rows_ahead.cpp)
  bool is_written(ir::Value scalar) const;
  std::optional<std::string> growth(ir::Value value);
  std::vector<std::string> next_rows(const ir::Type& row);
  const ir::Op* large_result(const ir::Type& row) const;
  void find_rows_ahead(Nest& nest);
  bool begins_at_line(const ir::Op& store) const;
  void fetch_ahead(const Nest& nest, const Part& part, const std::string& first,
                   const std::string& last);

  // ---- The row that is left to the next program (late.cpp)
  void find_late();
  bool can_be_late(const Step& step);
  void find_late_arrays(ir::Value value, std::set<std::uint32_t>& seen);
  void add_late_array(ir::Value owner);
  bool is_beside(const Step& step, const ir::Type& row);
  bool is_kept_sum(const Nest& nest, const std::vector<Reduction>& reductions) const;
  bool is_plain_largest(const Nest& nest, const std::vector<Reduction>& reductions) const;
  bool reads_array(const Step& step, ir::Value value, ir::Value array,
                   std::set<std::uint32_t>& seen) const;
  void find_row_call(Nest& nest, const std::vector<Reduction>& reductions);
  bool is_read_behind_mask(const Nest& nest) const;
  void print_late(const Nest& nest, const Part& part);
  void print_meanwhile(const Nest& nest);

  // ---- Across elements (across.cpp)
  void across(const Step& step);
  void scan(const Step& step);
  void gather(const Step& step);
  void concatenate(const Step& step);
  void sort(const Step& step);
  void histogram(const Step& step);
  void print(const Step& step);

  // ---- Products of tiles (dot.cpp)
  struct DotOperand {
    std::string base;
    std::vector<std::string> strides;
  };
  void dot(const Step& step);
  DotOperand operand_of_dot(const Step& step, ir::Value value);

  // ---- Operands of products that are read in memory (in_place.cpp)
  std::string wholeness(const Step& step);
  std::optional<DotOperand> operand_in_place(ir::Value value);

  // ---- Control flow (control.cpp)
  void control(const Step& step);
  void for_loop(const Step& step);
  void while_loop(const Step& step);
  void branch(const Step& step);
  void begin_carried(const Step& step, const std::vector<ir::Value>& to,
                     const std::vector<ir::Value>& from);
  void assign(const std::vector<ir::Value>& to, const std::vector<ir::Value>& from);
  void share_names(const std::vector<ir::Value>& to, const std::vector<ir::Value>& from);

  const CpuEmitOptions& options_;
  TextWriter& out_;
  Names& names_;
  std::unordered_map<std::uint32_t, std::string> texts_;        // scalars by value
  std::unordered_map<std::uint32_t, std::string> arrays_;       // by the value that owns the array
  std::unordered_map<std::uint32_t, std::string> wide_arrays_;  // of sums, by result
  // Tiles of indices that may be consecutive numbers, with the variable that says so.
  std::map<std::uint32_t, std::string> runs_;
  // Of operands of products that are in no array of their own, by op and operand.
  std::map<std::pair<const ir::Op*, std::uint32_t>, std::string> operand_arrays_;
  // The condition under which a product reads a load in memory, by the load.
  std::map<std::uint32_t, std::string> is_whole_;
  std::set<const ir::Op*> streamed_stores_;
  std::int64_t streamed_bytes_ = 0;
  bool has_fetched_ahead_ = false;
  std::int64_t arena_bytes_ = 0;
  bool communicates_ = false;
  bool uses_rows_ = false;
  bool uses_maps_ = false;
  LateRow late_;
  std::set<std::uint32_t> late_reads_;   // tiles that the late row reads from arrays
  std::set<std::uint32_t> late_arrays_;  // by the value that owns the array
  // Variables of the function, with their types.
  std::map<std::string, std::string> declared_;
  ir::Location last_location_;
};

}  // namespace tilewright
