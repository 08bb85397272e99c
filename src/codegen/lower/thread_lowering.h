// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_lowering.h — how lower_to_threads thinks: an element of a tile is a value at
// a place, which is a linear map of the bits of the thread's number and of the loops around it
// (codegen/lower/space.h). What does not change within a vector gets a name.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/lower/element_plans.h"
#include "codegen/lower/lower_to_threads.h"
#include "codegen/lower/program_lowering.h"
#include "codegen/lower/thread_order.h"
#include "codegen/print/cuda_expressions.h"
#include "layout/map_box.h"
#include "passes/laid/reduce_plan.h"

namespace tilewright {

// The number of an element among those of the variables with the lowest bits.
IndexMap number_map(const Space& space, int bits);

// What one thread looks at, or combines, for all of them.
enum class SharedLooks : std::uint8_t { None, Scalars, Totals };

class ThreadLowering : private ElementPlans, private ProgramLowering {
 public:
  ThreadLowering(const ir::Kernel& laid, const LaidFacts& facts, const TileLayouts& layouts,
                 const CudaEmitOptions& options, MemoryMeetings meetings, SharedLooks shares_seen,
                 FinalProgram& program);
  ThreadProgram run();

 private:
  using ElementPlans::constant_of;
  using FinalBuilder::constant_of;

  // The variables of a loop over elements.
  static constexpr std::size_t within_vector = 0, over_vectors = 1, over_slices = 2, of_thread = 3;
  // A loop over elements while its statements are found.
  struct Loop {
    struct Scope {
      std::map<Frame::Key, ir::Value> elements;
      std::map<std::vector<std::uint64_t>, ir::Value> indices;
    };
    // A tile that was loaded before, and which of the thread's elements is the one of a round.
    struct First {
      ir::Value value;
      Place place;
      ir::Value tile;
      IndexMap number;
    };
    ElementLoop plan;
    std::vector<ir::Value> variables = {{}, {}, {}, {}};  // v, k, s and the thread
    std::vector<Scope> scopes = {{}};
    std::vector<First> firsts = {};
    std::vector<Statements*> outside = {};  // of the loops that are open
  };
  // Written when the element's ops are done.
  struct Delayed {
    ir::Value array, index, value;
    ir::Value condition = {};
  };
  struct Reduction {
    const ir::Op* op = nullptr;
    ReducePlan plan;
    std::string name = {};               // of the total
    std::string type = {};               // of the structure, where it has several members
    std::vector<ir::Value> totals = {};  // an array for each operand
    int registers = 1;              // of the totals
    bool is_wide = false;           // a sum of small floats: totals are f32, rounded at the end
    bool has_identity = false;      // it begins as a number that changes nothing
  };
  // A tile whose elements go to shared memory in vectors, after they were worked on.
  struct VectorKeep {
    ir::Value value;
    ir::Value from = {};
    bool is_own = false;  // an array for this alone, of one vector
  };
  // What a product adds up.
  struct Sums {
    ir::Value array;
    bool is_own = false;  // else that of the result
  };
  // A product that goes on, and what it adds to.
  struct Started {
    const ir::Op* product = nullptr;
    ir::Value sums;
  };
  // The loops over the depth and over the thread's rows, columns and batches of a product.
  struct Patch {
    Loop loop;
    IndexMap sum = {};  // the register of an element
  };
  // An operand of a product of units, and where its matrices are where it comes in such.
  struct OperandWords {
    DotOperand operand;
    std::optional<MatrixView> from = {};
    MatrixPlan plan = {};
    ir::Value at = {};
  };
  // Copies of a thread: where the first one goes in the slot, and the others from there.
  struct CopyPlace {
    ir::Value at = {};
    std::uint64_t image = 0;  // the bits that it can have
    IndexMap by_vector = {};
  };
  // A copy of a later round that starts between the steps of a product (thread_ahead.cpp).
  struct CopyBeside {
    const Step* step = nullptr;
    Loop loop;
    CopyPlace place = {};
    ir::Value base = {};          // a pointer that the loop carries
    ir::Value from = {};          // where the first one reads, carried along with it; or none
    std::vector<ir::Value> by = {};  // what the loop adds to the base in each round
    ir::Value slot = {};
  };
  struct Ahead {
    const ir::Op* loop = nullptr;
    bool reads_ahead = false;      // else only copies start between the steps
    const Step* dot = nullptr;     // the only reader of the loop's slots, or the first
    const Step* wait = nullptr;    // for the copies; stands inside the product
    const Step* copies = nullptr;  // those between the product's steps, if any
    const Step* commit = nullptr;
    std::array<const ir::Op*, 2> reads = {};  // of the slots with the operands
    ir::Value slot, next_slot, initial_slot;  // of the Laid kernel
    std::vector<std::pair<OperandWords, ir::Value>> words = {};  // and the arrays of two steps
    std::vector<CopyBeside> beside = {};
    ir::Value starts = {};  // whether these copies do
  };
  // What a vector access is guarded by: nothing, a condition, or the first and the end.
  using Guards = std::vector<ir::Value>;

  // ---- The program (thread_lowering.cpp)
  void enter();
  int resident_blocks() const;
  void steps(const Steps& steps) override;
  bool is_inlined(const ir::Op& op, ir::Value made) const override;
  void mark_loop(ir::Op& loop, const ir::Op& op) override;
  ir::Value only_element(const ir::Op& view, ir::Value value) override;
  void copy(const Step& step, const std::vector<std::pair<ir::Value, ir::Value>>& copies) override;
  void copy(const Step& step, ir::Value to, ir::Value from);
  void scalar_op(const ir::Op& op);
  void synchronize(const ir::Op& op);
  void scalar_load(const ir::Op& op);
  ir::Value load_scalar(const ir::Op& op, const std::string& name);
  ir::Value share_seen(const ir::Op& op, const std::string& name);
  ir::Value from_one_thread(const ir::Type& type, const std::string& name, ir::Location location,
                            const std::function<ir::Value()>& find);
  void scalar_store(const ir::Op& op);
  ir::Value zero_of(const ir::Type& type);
  ir::Value owner(const Layout& layout);  // none where every thread owns its elements
  ir::Value all(const std::vector<ir::Value>& conditions);
  void when(ir::Value condition, const std::function<void()>& body);
  void choose(ir::Value condition, const std::function<void()>& body,
              const std::function<void()>& otherwise);

  // ---- Indices (thread_indices.cpp)
  ir::Value linear(const Loop& loop, const IndexMap& map, std::size_t first, std::size_t last);
  ir::Value linear(const Loop& loop, const IndexMap& map) {
    return linear(loop, map, 0, loop.plan.frame.space.variables.size());
  }
  ir::Value index(Loop& loop, const IndexMap& map);
  ir::Value coordinate(Loop& loop, const Place& place, const ir::Type& type, int dimension);
  // An index as what the thread adds and what the loops add; none where bits of both meet.
  struct SplitIndex {
    ir::Value thread, loops;
  };
  std::optional<SplitIndex> split_index(const Loop& loop, const ir::Type& type, const Place& map);
  void add_parts(ir::Value index, std::vector<ir::Value>& out);
  std::vector<ir::Value> affine_terms(Loop& loop, const ir::Op& affine, const Place& place);
  ir::Value affine(Loop& loop, const ir::Op& op, const Place& place);
  ir::Value bound(ir::Value value);
  // Without the dimension `without`; none where nothing is left to ask.
  std::vector<ir::Value> bounds(Loop& loop, const ir::Op& op, const Place& place, int without = -1);
  DType wider(ir::Value a, ir::Value b) const;

  // ---- Elements of tiles (thread_elements.cpp)
  ir::Value element(Loop& loop, ir::Value value, const Place& place);
  ir::Value viewed(Loop& loop, const ir::Op& op, ir::Value value, const Place& place);
  ir::Value indexed(Loop& loop, const ir::Op& op, const Place& place);
  ir::Value joined(Loop& loop, const ir::Op& op, const Place& place);
  ir::Value computed(Loop& loop, const ir::Op& op, ir::Value value, const Place& place);
  ir::Value arm(Loop& loop, ir::Value value, const Place& place);
  ir::Value line(Loop& loop, ir::Value value, ir::Value made, const Place& place);
  ir::Value array(ir::Value value) const { return arrays_.at(schedule_.storage(value).id); }
  ir::Value register_index(const Loop& loop, ir::Value value, const Place& place);
  ir::Value loaded(Loop& loop, const ir::Op& op, const Place& place);
  void store(Loop& loop, const ir::Op& op);

  // ---- Loops (thread_loops.cpp)
  Loop make(const Step& step, const TileLayout& layout);
  void open(Loop& loop, std::size_t variable, const char* over, bool unrolls) {
    open_rounds(loop, variable, over, unrolls ? -1 : 1);
  }
  void open_rounds(Loop& loop, std::size_t variable, const char* over, std::int64_t unroll,
                   ir::Location location = {}, std::int64_t first = 0);
  void close(Loop& loop, std::size_t variable);
  // That over slices stays a loop unless all registers have to be known.
  void open_all(Loop& loop, bool unrolls_slices = false);
  void close_all(Loop& loop);
  ir::Value make_array(const std::string& name, const ir::Type& element, std::int64_t count,
                       ir::Location location = {});
  ir::Value make_shared(const std::string& name, const ir::Type& element, std::int64_t count,
                        const ir::KernelBuffer& buffer);
  void declare(ir::Value value);
  void elements(const Step& step);
  void load_first(Loop& loop, std::vector<Preload>& preloads, bool is_inside);
  void load_vector(Loop& loop, const Preload& preload, ir::Value tile, ir::Value start);
  bool is_only_loaded(const Step& step, const std::vector<Preload>& preloads) const;
  void write_delayed();
  void element_ops(Loop& loop, const std::map<const ir::Op*, ir::Value>& vectors,
                   const std::vector<VectorKeep>& keeps);
  void keep(Loop& loop, ir::Value value, const std::vector<VectorKeep>& keeps);
  ir::Value vector_pointer(Loop& loop, const VectorAccess& access);
  ir::Value vector_condition(Loop& loop, const VectorAccess& access);
  Guards vector_guards(Loop& loop, const VectorAccess& access);
  std::vector<ir::Attribute> vector_attributes(const Loop& loop, const VectorAccess& access,
                                               const Guards& guards) const;
  ir::Value other_of(const ir::Op& load, const ir::Type& element);
  void store_vector(Loop& loop, const VectorAccess& access, ir::Value from);

  // ---- Long rows (thread_rows.cpp)
  void declare_shift();
  std::vector<ir::Value> rotated_place(const Loop& loop, const VectorAccess& access);
  std::vector<ir::Attribute> rotated_attributes(const Loop& loop, const VectorAccess& access) const;
  void load_rotated(Loop& loop, const VectorAccess& access, ir::Value into);
  void store_rotated(const Loop& loop, const VectorAccess& access, ir::Value from);
  void declare_row();
  ir::Value row_index(const Loop& loop, const Place& place);
  ir::Value row_vector(Loop& loop, const Place& place);
  void fill_row(Loop& loop, std::vector<Preload>& loads);
  bool is_one_copy(const Loop& loop, const VectorAccess& access) const;
  void copy_to_row(Loop& loop, const VectorAccess& access);
  void load_to_row(Loop& loop, const Preload& load);

  // ---- Tiles in shared memory (thread_tiles.cpp)
  ir::Value array_index(Loop& loop, ir::Value value, const Place& place);
  ir::Value view(ir::Value array, ir::Value index);
  ir::Value shared_vector(Loop& loop, ir::Value value, const Place& place);
  void write_element(Loop& loop, ir::Value to, ir::Value value);
  void refuse_beside_readers(const Loop& loop, const TileReads& reads);
  void part_accesses(const Loop& loop, const TileReads& reads,
                     const std::vector<Preload>& preloads);
  std::vector<VectorKeep> plan_vector_keeps(const Loop& loop, const std::vector<Preload>& preloads);
  static bool keeps_all(const Step& step, const std::vector<VectorKeep>& keeps);
  void keep_vector(Loop& loop, const VectorKeep& kept);
  void across(const Step& step);
  void for_each_result(const Step& step, const std::function<ir::Value(Loop&)>& make_element);
  void note_scratch(const ir::Op& control);
  ir::Value put_aside(const Step& step, ir::Value to, ir::Value from, const std::string& scratch);
  void assign_aside(const Step& step, ir::Value to, ir::Value aside);
  ir::Value aside_index(Loop& loop, ir::Value to);
  void gather(const Step& step);
  void concatenate(const Step& step);

  // ---- Scans, sorts, histograms and prints (thread_scans.cpp, thread_sorts.cpp)
  void scan(const Step& step);
  Reduction begin_scan(const ir::Op& op, const ScanPlan& plan);
  int log_threads() const;

  // ---- Scans through shared memory (thread_shared_scans.cpp)
  struct ScanShape;
  struct Stretch;
  void scan_shared(const Step& step);
  ScanShape scan_shape(const ir::Op& op) const;
  Reduction begin_running(const ir::Op& op, const char* name, const std::string& type);
  void shared_lines(const Step& step, const ScanShape& shape);
  void own_lines(const Step& step, const ScanShape& shape);
  void scan_stretch(const Step& step, const ScanShape& shape, const Stretch& stretch);
  void add_first(const Stretch& stretch, const std::vector<ir::Value>& values);
  std::vector<ir::Value> added(const Reduction& to, const std::vector<ir::Value>& values);
  void set_all(const Reduction& to, const std::vector<ir::Value>& values);
  ir::Value make_scratch(const ir::Op& op, const ir::Type& element, std::int64_t count,
                         const char* name);
  ir::Value sorted_place(Loop& loop, int log_count);
  void sort(const Step& step);
  void for_each_number(const Step& step, std::int64_t count,
                       const std::function<void(Loop&)>& body);
  void histogram(const Step& step);
  void print(const Step& step);
  void print_scalars(const ir::Op& op);

  // ---- Products (thread_dots.cpp)
  void dot(const Step& step);
  Loop loop_over_sums(const Step& step);
  ir::Value register_of(const Loop& loop);
  // `from_nothing`: whoever adds to them sets them first.
  Sums begin_sums(const Step& step, bool from_nothing);
  void end_sums(const Step& step, const Sums& sums);
  Patch patch_of(const Step& step);
  ir::Value read_operand(Loop& loop, ir::Value value, const IndexMap& map, std::size_t variable);
  void multiply_add(const Step& step, ir::Value sums);

  // ---- Products of units (thread_mma.cpp)
  Loop loop_with(const Step& step, std::vector<SpaceVariable> variables,
                 std::vector<ir::Value> values);
  ir::Value part(ir::Value array, const Loop& loop, int low);
  ir::Value moved(ir::Value at, std::uint64_t image, const Loop& loop, const IndexMap& map);
  OperandWords words_of(const Step& step, const DotOperand& operand);
  ir::Value make_words(const OperandWords& words, int log_steps);
  void read_words(const Step& step, const OperandWords& words, ir::Value into, const Loop& around,
                  ir::Value from = {});  // instead of the operand's own array
  void collect_words(const Step& step, const DotOperand& operand, ir::Value into,
                     const Loop& around);
  bool can_hold(const Step& loop, const Step& dot, ir::Value operand) const;
  void hold_operands(const Step& loop);
  void hold_operand(const Step& loop, const Step& dot, bool is_left);
  void multiply_matrices(const Step& step, ir::Value sums);
  void multiply_words(const Step& step, ir::Value sums,
                      const std::vector<std::pair<OperandWords, ir::Value>>& both,
                      const Loop& around);

  // ---- Products whose words are read ahead (thread_ahead.cpp)
  std::vector<Carried> begin_rounds(const Step& step) override;
  std::vector<ir::Value> end_rounds(const Step& step) override;
  Ahead* ahead() { return aheads_.empty() || !aheads_.back() ? nullptr : &*aheads_.back(); }
  bool is_taken_ahead(const Step& step);
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
  void multiply_ahead(const Step& step, ir::Value sums);
  void place_copies(Ahead& ahead, const ir::Op& loop);
  ir::Value odd(ir::Value value);
  ir::Value has_next(const ir::Op& loop);
  ir::Value moved_pointer(ir::Value pointer, Loop& loop, const ir::Op& affine, const Place& place);
  void carry_pointer(CopyBeside& copy, const ir::Op& loop);
  void begin_beside();
  void start_beside(CopyBeside& copy, const Loop& steps, int first_step);

  // ---- Copies that run ahead (thread_copies.cpp)
  ir::Value buffer_array(const ir::Op& op);
  ir::Value slot_of(const ir::Op& op, ir::Value slot);  // a view without a name
  void read_buffer(const Step& step);
  ir::Value begin_copies(const ir::Op& op);  // the slot that they go to
  void copy_ahead(const Step& step);
  void copy_vectors(Loop& loop, const ir::Op& op, ir::Value slot);
  CopyPlace copy_place(const Loop& loop, const ir::Op& op);
  ir::Value advanced_pointer(Loop& loop, ir::Value pointer, const Place& place);
  std::vector<ir::Value> whole_conditions(const ir::Op& op);
  void copy_from_one_place(Loop& loop, const ir::Op& op, ir::Value slot);
  void copy_elements(Loop& loop, const ir::Op& op, ir::Value slot);
  ir::Value copy_wanted(Loop& loop, const ir::Op& op);  // none: always
  void start_copy(const Loop& loop, const ir::Op& op, std::vector<ir::Value> operands);
  void wait_for_copies(const ir::Op& op);

  // ---- Products of warpgroups (thread_groups.cpp)
  void call_statement(LibraryKind function, std::vector<ir::Value> operands = {},
                      std::vector<std::int64_t> numbers = {}, ir::Location location = {},
                      std::vector<ir::Attribute> more = {});
  ir::Value warpgroup();
  ir::Value describe(const Step& step, const DescribedOperand& from, bool is_left);
  ir::Value further(const Loop& tiles, const DescribedOperand& from, ir::Value descriptor,
                    bool is_left);
  ir::Value collect_all_words(const Step& step, const SpaceVariable& depth);
  ir::Value words_of_tile(const Loop& tiles, ir::Value words);
  void start_product(const Step& step, const Sums& sums);
  void wait_for_products(std::int64_t pending);
  void wait_for_touched(const ir::Op& op);
  void note_computed(const Step& step);
  void show_written();
  void note_written(ir::Value tile);
  std::vector<Started> lagging_products(const ir::Op& loop) const;
  bool are_lagging(const std::vector<Started>& lagging) const;
  void rounds(const Step& step, const std::vector<ir::Value>& initial) override;
  void round(const Step& step) override;

  // ---- Roles, rings and tensor maps (thread_rings.cpp)
  bool parts_roles(const ir::Op& op) const;
  void set_up_rings(ir::Location location);
  void roles(const Step& step);
  void meet(ir::Location location = {});  // of the threads that come here
  ir::Value slots_of_buffer(std::size_t number);
  ir::Value position(ir::Value value);
  ir::Value slot_number(ir::Value value, int slots);
  ir::Value slot(const ir::Op& op, const std::string& name);
  void read_slot(const ir::Op& op);
  std::int64_t ring_bytes(const ir::KernelRing& ring) const;
  void ring_op(const ir::Op& op);
  void give_back(const ir::Op& op);
  MapBox box_of(const ir::Op& op) const;
  void copy_map(const ir::Op& op);
  // What is stored by tensor maps, from a copy in shared memory (thread_stores.cpp).
  void store_map(const Step& step);
  ir::Value slab_of(const ir::Op& op);
  void fill_slab(const Step& step, ir::Value slab, const Swizzle& swizzle);
  struct WarpLines {  // that a warp stores
    int lines = 0;    // from each place on
    std::vector<std::int64_t> first = {0};       // the places, from where the warp's lines begin
    std::vector<std::uint64_t> by_thread = {};  // where they do, by bits of the thread's number
  };
  std::optional<WarpLines> own_lines_of_warp(const ir::Op& op) const;
  WarpLines lines_of_warp(const ir::Op& op) const;
  void store_boxes(const Step& step, ir::Value slab, MapBox box);
  void begin_branch(const Step& step, std::size_t side) override;
  void end_branch(const Step& step, std::size_t side) override;
  void swap_lanes(ir::Value value);

  // ---- Atomics (thread_atomics.cpp)
  ir::Value make_atomic(const ir::Op& op, const std::vector<ir::Value>& operands,
                        const std::string& order, const std::string& name);
  void fence(const ir::Op& atomic);
  void atomic_element(Loop& loop, const ir::Op& op);
  void share_old(Loop& loop, const ir::Op& op, std::vector<ir::Value> operands,
                 const std::vector<ir::Value>& conditions);
  void begin_fenced(const TileReads& reads, const std::vector<Preload>& preloads, const Step& step);
  void end_fenced();
  // The attributes of a vector that is added.
  void note_atomic(const VectorAccess& access, std::vector<ir::Attribute>& out) const;
  void scalar_atomic(const ir::Op& op);
  void spin(const Step& step);

  // ---- Reductions (thread_reductions.cpp)
  Reduction begin_reduction(const Step& step, const ir::Op& op);
  std::vector<ir::Type> total_types(const Reduction& reduction) const;
  void declare_totals(Reduction& reduction);
  std::vector<ir::Value> make_group(const Reduction& reduction, ir::Space space, std::int64_t count,
                                    Statements& list, const std::string& name = "");
  std::vector<ir::Value> is_first(const Loop& loop, const ir::Op& reduce);
  ir::Value total_index(const Loop& loop, const Reduction& reduction);
  std::vector<ir::Value> combined(const ir::Region& region, const std::vector<ir::Value>& both);
  void add_to(Loop& loop, const Reduction& reduction);
  void end_reduction(const Reduction& reduction);
  void combine_threads(const Reduction& reduction);
  void call_combining(const Reduction& reduction, LibraryKind function,
                      std::vector<std::int64_t> numbers, const std::vector<ir::Value>& more = {});
  std::vector<ir::Value> make_slots(const Reduction& reduction);
  void publish(const Reduction& reduction, std::size_t number_of_result);
  void share_total(const Reduction& reduction, ir::Value result, ir::Value k, ir::Value total);
  void for_all_registers(std::int64_t count, const std::function<void(ir::Value)>& body);

  const CudaExpressions text_;
  ir::Value thread_;        // as it is asked for now
  ir::Value whole_thread_;  // as it was asked for first
  Statements prologue_;
  Statements shared_;  // arrays in shared memory
  std::unordered_map<std::uint32_t, ir::Value> arrays_;  // by the value that owns the array
  // Words that are read before a loop, by the product and whether it is its left operand.
  std::map<std::pair<const ir::Op*, bool>, ir::Value> held_;
  std::vector<std::optional<Ahead>> aheads_;  // of the loops that are open
  std::map<std::size_t, ir::Value> buffers_;  // arrays with slots, by number
  std::map<std::uint64_t, ir::Value> owners_;            // by the bits of copies
  // Scratch through which a tile is handed on, by the tile that it becomes and by itself.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> aside_;
  std::vector<Delayed> delayed_;
  ir::Value warpgroup_;                         // its number, where an operand has parts
  std::vector<Started> started_;                // products that go on, oldest first
  std::vector<Started> lagging_;                // of the loop that begins
  std::vector<const ir::Op*> owed_;             // releases that wait for some of them
  ir::Value last_computed_;                     // an array of words that was computed since
  const ir::Op* loop_ = nullptr;                // the innermost `for`
  bool drains_ = false;      // products go on through the rounds of the loop that is lowered
  bool is_unshown_ = false;  // what products read was written to shared memory
  bool is_consuming_ = false;
  std::map<std::string, ir::Value> rings_;      // their words
  std::map<std::size_t, ir::Value> slots_;      // arrays of buffers that rings have, by number
  const bool has_products_;                     // of warpgroups
  const bool advances_copies_;                  // pointers of copies are moved on from where they began
  const std::set<std::uint32_t> settled_;       // tiles of indices that are kept
  std::map<std::string, ir::Value> slabs_;      // what maps store from, by its scratch
  const std::set<std::size_t> warp_buffers_;    // of tiles that warps exchange among their lanes
  const MemoryMeetings meetings_;
  const SharedLooks shares_seen_;   // what is seen in memory and decides is one thread's for all
  std::int64_t shared_end_;         // behind all buffers
  const ir::Op* fenced_ = nullptr;  // an atomic whose order is kept by fences around its loop
  SweepRefusals refusals_;          // what other ones would have to do otherwise
  ir::Value shift_;                 // by how much rows are turned round
  bool fits_shape_ = true;          // the row could be put where it is to lie
  bool has_begun_ = false;          // every block of the program
  std::string spinning_;            // the order of the exchange that a loop waits for
  int loop_depth_ = 0;
  std::int64_t loop_words_ = 0;  // the most registers that a step of a loop loads and adds to
};

}  // namespace tilewright
