// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/emitter.h — writes the body of one kernel: scalars (scalars.cpp), elements of tiles
// (body.cpp, memory.cpp), loops over them (elements.cpp), reductions (reductions.cpp), ops that
// move data across elements (across.cpp), asynchronous copies (async_copy.cpp) and control flow
// (control.cpp).
//
// Text for elements is made in a Frame: the variables of the loops around it, where the step's own
// element is, and what has been named so far. element() gives the text of a tile's element at a
// place and writes the statements that it needs first.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/text_writer.h"
#include "codegen/cuda/element_plans.h"
#include "codegen/cuda/emit.h"
#include "codegen/cuda/global_memory.h"
#include "codegen/cuda/shared_memory.h"
#include "codegen/text/wgmma_functions.h"
#include "codegen/cuda/wrapping.h"
#include "codegen/text/expressions.h"
#include "codegen/text/names.h"
#include "codegen/lower/lower_to_threads.h"
#include "layout/map_box.h"
#include "layout/wgmma.h"
#include "passes/laid/access_shape.h"
#include "passes/laid/laid_facts.h"
#include "passes/laid/reduce_plan.h"
#include "passes/laid/tile_layouts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {

// Without parentheses around all of it.
std::string bare(const std::string& text);
// Of an atomic: the name in the device library.
std::string_view scope_text(const ir::Op& atomic);

class Emitter : private ElementPlans {
 public:
  // Of a Laid kernel whose tables are written.
  Emitter(const ir::Kernel& kernel, const LaidFacts& facts, const TileLayouts& layouts,
          const CudaEmitOptions& options);

  // The function, from its signature on.
  std::string run();
  // Whether threads have to hold more than their registers take.
  bool is_crowded() const { return is_crowded_; }
  const SharedMemory& shared() const { return shared_; }
  const GlobalMemory& global() const { return global_; }
  // What another run of the emitter found out about the ends of loops; before it runs.
  void assume(const SharedMemory& other) { shared_.assume(other); }
  void assume(const GlobalMemory& other) { global_.assume(other.loop_ends()); }
  bool holds_assumed() const { return shared_.holds_assumed() && global_.holds_assumed(); }
  // What this schedule cannot be written with.
  const SweepRefusals& refused() const { return refused_; }
  const std::set<std::string>& parts() const { return parts_; }  // of the device library
  const std::set<WgmmaFunction>& wgmmas() const { return wgmmas_; }
  const std::map<std::string, MapBox>& boxes() const { return boxes_; }  // by map

 private:
  // ---- Text
  void statement(const ir::Op& op, const std::string& text);
  void note_line(const ir::Location& location);
  std::string new_name(ir::Value value, std::string_view otherwise = "t");
  std::string type_of(ir::Value value) const;  // C++ type of a scalar or an element
  // `const f32 name = text;`, the element type being that of the value.
  std::string constant_text(ir::Value value, const std::string& name,
                            const std::string& text) const;
  std::string memory_type(ir::Value pointer) const;  // of what a pointer points to
  void barrier();
  bool is_at_barrier() const;
  std::string owner_text(const Layout& layout);  // "" when every thread owns its elements
  const ir::KernelBuffer& scratch_of(const ir::Op& op) const;

  // ---- Scalars
  std::string scalar(ir::Value value);
  OperandText operand(ir::Value value, std::string text) const;
  void scalar_step(const ir::Op& op);
  std::string operation_text(const ir::Op& op, std::span<const OperandText> operands) const;
  void note_parts(const ir::Op& op, const std::string& text);
  void define_scalar(const ir::Op& op, const std::string& text);
  void source_scalar(const ir::Op& op);
  void access_scalar(const ir::Op& op);
  void sync_step(const ir::Op& op);
  void scalar_load(const ir::Op& op);
  void scalar_store(const ir::Op& op);
  void scalar_atomic(const ir::Op& op);
  void print_scalars(const ir::Op& op);
  std::string print_call(const ir::Op& op, ir::Value value, const std::string& index,
                         const std::string& text);
  void assert_scalar(const ir::Op& op);
  std::string parameter_list();
  std::string launch_bounds() const;
  std::string program_text(int axis) const;
  std::string program_count_text(int axis) const;

  // ---- Elements of tiles
  std::string element(Frame& frame, ir::Value value, const Place& place);
  std::string view_element(Frame& frame, const ir::Op& op, ir::Value value, const Place& place);
  std::string computed_element(Frame& frame, const ir::Op& op, ir::Value value, const Place& place);
  std::string arm(Frame& frame, ir::Value value, const Place& place);
  std::string array_element(Frame& frame, ir::Value value, const Place& place);
  // Where an element stands in its array: register_index() or shared_index().
  std::string array_index(Frame& frame, ir::Value value, const Place& place);
  std::string register_index(const Frame& frame, ir::Value value, const Place& place) const;
  // The place of an element in an array in shared memory; every access to one goes by it.
  std::string shared_index(Frame& frame, ir::Value value, const Place& place);
  std::string coordinate(Frame& frame, const Place& place, const ir::Type& type, int dimension);
  // An index as what the thread adds and what the loops add; none where bits of both meet. What the
  // loops add is known when they are unrolled, and the rest is worked out once.
  struct SplitIndex {
    std::string thread;
    std::string loops;
  };
  std::optional<SplitIndex> split_index(const Frame& frame, const ir::Type& type,
                                        const Place& map) const;
  std::string index_text(Frame& frame, const IndexMap& map);
  std::string offset_text(Frame& frame, const ir::Op& affine, const Place& place);
  std::string bound_text(ir::Value bound);
  std::string bounds_text(Frame& frame, const ir::Op& bounds, const Place& place, int without = -1);
  std::string joined_element(Frame& frame, const ir::Op& op, const Place& place);
  std::string indexed_element(Frame& frame, const ir::Op& op, const Place& place);

  // ---- Memory
  // Writes a barrier first when another thread may have used the same memory in a way that must
  // come before, and notes the access.
  void order_memory(const ir::Op& op);
  bool needs_barrier(const TileReads& reads, const Layout& layout);
  // Notes the accesses of a loop over elements; true when a barrier must stand between its loads
  // and its stores.
  bool note_accesses(const TileReads& reads, const Layout& layout);
  void part_accesses(const TileReads& reads, const std::vector<Preload>& preloads);
  std::string mask_text(Frame& frame, const VectorAccess& access);  // of one element or of all
  std::string uniform_text(ir::Value value);
  std::string cache_text(const ir::Op& op) const;
  std::string load_element(Frame& frame, const ir::Op& op, const Place& place);
  void store_element(Frame& frame, const ir::Op& op);
  void atomic_element(Frame& frame, const ir::Op& op);
  void vector_add(Frame& frame, const VectorAccess& access, const std::string& from);
  std::string_view order_of(const ir::Op& atomic) const;
  void begin_fenced(const TileReads& reads, const std::vector<Preload>& preloads, const Step& step);
  void end_fenced();
  void assert_element(Frame& frame, const ir::Op& op);
  void single_load(Frame& frame, const VectorAccess& access, const std::string& into);
  std::string other_text(const ir::Op& load);
  void vector_load(Frame& frame, const VectorAccess& access, const std::string& into);
  void vector_store(Frame& frame, const VectorAccess& access, const std::string& from);
  struct Guard {
    std::string suffix;     // of the library's function
    std::string arguments;  // with a comma before each
  };
  Guard vector_guard(Frame& frame, const VectorAccess& access);
  std::string vector_pointer(Frame& frame, const VectorAccess& access);
  std::string vector_template(const Frame& frame, const VectorAccess& access,
                              const Guard& guard) const;

  std::string atomic_call(const ir::Op& op, const std::string& pointer,
                          const std::vector<std::string>& values, std::string_view order = {});

  // ---- Loops over elements
  struct VectorKeep {  // written to shared memory in vectors after the elements were worked on
    ir::Value value;
    std::string from;
    bool is_own = false;  // an array for this alone, of one vector
  };
  void open_slices(ElementLoop& loop);
  void close_slices(ElementLoop& loop);
  void open_vectors(ElementLoop& loop);
  void close_vectors(ElementLoop& loop);
  void open_elements(ElementLoop& loop);
  void close_elements(ElementLoop& loop);
  void elements_step(const Step& step);
  void swap_lanes(ir::Value value);
  // Of all vectors in a loop of their own, or inside the loop over vectors.
  void emit_preloads(ElementLoop& loop, std::vector<Preload>& preloads, bool is_inside);
  std::vector<VectorKeep> plan_vector_keeps(ElementLoop& loop,
                                            const std::vector<Preload>& preloads);
  bool is_only_loaded(const Step& step, const std::vector<Preload>& preloads);
  static bool keeps_all(const Step& step, const std::vector<VectorKeep>& keeps);
  void keep_vector(ElementLoop& loop, const VectorKeep& kept);
  void element_ops(ElementLoop& loop, const std::map<const ir::Op*, std::string>& vectors,
                   const std::vector<VectorKeep>& keeps);
  void keep(ElementLoop& loop, ir::Value value, const std::vector<VectorKeep>& keeps);
  void flush_delayed();
  // Arrays in shared memory that a step uses.
  struct SharedUse {
    std::set<std::string> own;       // read by the threads that wrote them
    std::set<std::string> crossing;  // read by others too
    std::set<std::string> written;
  };
  SharedUse shared_use(const Frame& frame, const TileReads& reads,
                       const std::vector<ir::Value>& written);
  bool needs_barrier(const SharedUse& use) const;
  // The barrier that a step needs, which may be one of each warp.
  void meet_for(const SharedUse& use);
  void note(const SharedUse& use);
  void synchronize(const Frame& frame, const TileReads& reads,
                   const std::vector<ir::Value>& written);
  void declare_array(ir::Value value);
  std::string array_name(ir::Value value);

  void assign_tile(ir::Value to, ir::Value from, const Step& at);

  // ---- Reductions
  struct Reduction {
    const ir::Op* op = nullptr;
    std::string type;  // of what is combined: the element, or a struct of several
    std::string total;
    ReducePlan plan;
    bool is_wide = false;  // a sum of small floats: `type` is f32, rounded at the end
    int registers = 1;     // of the totals
    std::optional<std::string> identity;
  };
  Reduction begin_reduction(ElementLoop& loop, const ir::Op& op);
  std::string first_text(const Frame& frame, const ir::Op& reduce) const;
  void add_to_reduction(ElementLoop& loop, const Reduction& reduction);
  void end_reduction(const Reduction& reduction);
  void reduce_over_warps(const Reduction& reduction);
  void publish(const Reduction& reduction, std::size_t number);
  // The region's result for two values; statements that it needs are written first.
  std::vector<std::string> combine(const ir::Region& region, const std::vector<std::string>& a,
                                   const std::vector<std::string>& b);
  std::string combine_lambda(const ir::Op& op, const std::string& type);
  std::string combine_lambda(const Reduction& reduction);
  std::string rounded(const Reduction& reduction, const std::string& text) const;
  std::string group_type(const ir::Op& op);

  // ---- Across elements
  void across_step(const Step& step);
  void emit_gather(const Step& step);
  void emit_concatenate(const Step& step);
  void emit_scan(const Step& step);
  void emit_sort(const Step& step);
  void emit_histogram(const Step& step);
  void emit_print(const Step& step);
  // Loops over the elements of the result of an Across op and keeps what `make` gives for each.
  void for_each_result(const Step& step, const std::function<std::string(Frame&)>& make);

  // ---- Scans
  struct ScanShape;  // how lines lie on threads
  struct StretchText {
    std::string type;     // of what is combined
    std::string combine;  // the name of a function
    std::string worker;   // the number of the thread, or of its line
    std::string owner;    // "if (...) " where some threads only do what others do
    std::string running;
    std::string before;  // what comes before the stretch, and whether anything does
    std::string has_before;
    bool keeps = false;  // the results
  };
  void scan_stretch(const Step& step, const ScanShape& shape, const StretchText& text);
  void emit_shared_lines(const Step& step, const ScanShape& shape, const std::string& type,
                         const std::string& lambda);
  void emit_own_lines(const Step& step, const ScanShape& shape, const std::string& type,
                      const std::string& lambda);
  void emit_register_scan(const Step& step, const ScanPlan& plan);
  void scan_registers(const ir::Op& op, const ScanPlan& plan, const std::string& type,
                      const std::string& running);

  // ---- Products
  // What a product adds up: the array of its result, or one of its own where that is in shared
  // memory or of a smaller type.
  struct Sums {
    std::string name;
    bool is_own = false;
  };
  // The variables of the loops around the instructions.
  struct DotLoops {
    SpaceVariable step;
    SpaceVariable batch;
  };
  struct MatrixReads {
    std::string at;           // the variable of the thread's place in the array
    std::uint64_t image = 0;  // the bits that it can have
    SpaceVariable call;       // of the loop over the reads of one step
    IndexMap by_loops;        // over that, steps and batches: where they are from there
    int log_matrices = 0;     // of one read
    std::string function;     // of the device library
  };
  void emit_dot(const Step& step);
  Sums begin_sums(const Step& step, bool from_nothing);
  void end_sums(const Step& step, const Sums& sums);
  void emit_mma(const Step& step, const Sums& sums);
  DotOperand dot_operand(const Step& step, bool is_left);
  std::function<void()> prepare_operand(const Step& step, const DotOperand& operand,
                                        const DotLoops& loops);
  MatrixReads prepare_matrices(const DotOperand& operand, const MatrixView& from);
  // Reads the words of a step, of the first one without loops, from the array into `part`.
  void read_matrices(const MatrixReads& reads, const std::string& array, const std::string& part,
                     const DotLoops* loops);
  // Multiplies what is in the parts of the operands.
  void multiply_parts(const DotPlan& plan, const std::string& sums, const DotOperand& left,
                      const DotOperand& right, const SpaceVariable& batch);
  void collect_words(const Step& step, const DotOperand& operand, const DotLoops& loops);
  void emit_multiply_add(const Step& step, const Sums& sums);

  // ---- Asynchronous products (wgmma.cpp)
  // A product that goes on, and the array that it adds to.
  struct Started {
    const ir::Op* product = nullptr;
    std::string sums;
    std::vector<std::string> operands = {};  // arrays that threads write and it reads
  };
  // The loops around the instructions of one product.
  struct WgmmaLoops {
    SpaceVariable step, row, column;
    int log_columns = 3;  // of one instruction
  };
  bool is_by_warpgroups_of(const Step& loop) const;
  void emit_wgmma(const Step& step, const Sums& sums);
  std::string describe(const Step& step, const DescribedOperand& from, bool is_left);
  std::string further_text(const Step& step, const DescribedOperand& from, const WgmmaLoops& loops,
                           const std::string& descriptor, bool is_left);
  std::string collect_all_words(const Step& step, const WgmmaLoops& loops);
  std::vector<Started> lagging_products(const ir::Op& loop) const;
  bool are_lagging(const std::vector<Started>& lagging) const;
  void wait_for_products(std::int64_t pending);
  void wait_for_touched(const ir::Op& op);
  bool is_read_by_products(const ir::Op& release) const;
  void emit_owed_releases();
  void note_computed(const Step& step);
  void show_to_products();
  void show_written();
  void open_unrolled(const SpaceVariable& variable);
  void close_unrolled(const SpaceVariable& variable);

  // ---- Products of a loop whose words are read ahead (dot_ahead.cpp)
  struct WovenCopy {
    const Step* step = nullptr;
    ElementLoop loop;
    std::string at;  // of the thread's first copy: its place in the slot
    std::uint64_t image = 0;
    IndexMap by_vector;  // where the others are from there
    std::string from;    // where the first one reads; "" when that has no formula
    ir::Value base;      // a carried pointer, which `from` goes along with
    std::string slot;
  };
  struct Ahead {
    bool reads_ahead = false;      // else only copies are woven in
    const Step* dot = nullptr;     // the only reader of the loop's slots, or the first
    const Step* wait = nullptr;    // for the copies; stands inside the product
    const Step* copies = nullptr;  // those between the product's steps, if any
    const Step* commit = nullptr;
    std::array<const ir::Op*, 2> reads = {};  // of the slots with the operands
    ir::Value slot, next_slot;
    ir::Value initial_slot;
    std::string goes_on;  // whether there is another round
    DotOperand left, right;
    std::array<MatrixReads, 2> matrices = {};
    std::vector<WovenCopy> woven;
    std::string starts;  // whether these copies do
  };
  std::optional<Ahead> find_ahead(const Step& loop);
  std::optional<Ahead> find_woven(const Step& loop);
  bool finds_slots(const ir::Op& loop, Ahead& ahead) const;
  bool can_weave(const Step& branch);
  // What stands before such a loop, whose index goes `to` there `by` steps.
  std::optional<Ahead> begin_ahead(const Step& loop, const std::string& index,
                                   const std::string& to, const std::string& by);
  // False, and nothing is written, when there are too few registers for it.
  bool read_first(Ahead& ahead, const ir::Op& loop, const std::string& has_rounds);
  void read_ahead(const Ahead& ahead, std::size_t side, const std::string& array,
                  const std::string& half, const DotLoops* loops);
  void multiply_ahead(const Step& step, const Sums& sums);
  void place_copies(Ahead& ahead, const ir::Op& loop);
  void begin_copies();
  void advance_copies(const ir::Op& loop);
  void weave(WovenCopy& copy, const SpaceVariable& step, int first_step);
  bool is_taken_ahead(const Step& step) const;
  // Reads what stays the same in all rounds of a loop before it.
  void hold_operands(const Step& loop);
  bool can_hold(const Step& loop, const Step& dot, ir::Value operand) const;
  bool is_outside(const ir::Op& loop, ir::Value value) const;
  static std::string step_part(const std::string& part, const SpaceVariable& step);

  // ---- Asynchronous copies (async_copy.cpp)
  void copy_step(const Step& step);
  std::string begin_copy(const Step& step);  // returns the name of the slot
  void copy_vectors(ElementLoop& loop, const ir::Op& op, const std::string& slot);
  std::string whole_text(const ir::Op& op);
  void copy_from_one_place(const Step& step, ElementLoop& loop, const std::string& slot);
  std::string advanced_pointer(Frame& frame, ir::Value pointer, const Place& place);
  bool has_lines_along_depth() const;
  std::set<std::uint32_t> find_copy_indices() const;
  std::string copy_mask(ElementLoop& loop, const ir::Op& op);
  void start_copy(const ElementLoop& loop, const ir::Op& op, std::string_view function,
                  const std::string& to, const std::string& from, const std::string& conditions);
  void copy_elements(ElementLoop& loop, const ir::Op& op, const std::string& slot);
  const std::string& buffer_name(const ir::Op& op);  // declares it when it is new
  std::string slot_text(const ir::Op& op, ir::Value slot);
  std::string slot_text(const ir::Op& op, const std::string& slot);
  void emit_read_buffer(const ir::Op& op);
  void emit_wait(const ir::Op& op);
  void emit_commit(const ir::Op& op);
  const std::string& declare_buffer(std::size_t number);

  // ---- Roles, rings and tensor maps (rings.cpp)
  void emit_roles(const Step& step);
  void declare_rings();
  void emit_ring_op(const ir::Op& op);
  void emit_release(const ir::Op& op);
  void emit_copy_map(const ir::Op& op);
  std::string position_text(ir::Value position);
  std::int64_t ring_bytes(const ir::KernelRing& ring) const;
  MapBox box_of(const ir::Op& op) const;

  // ---- Control
  void steps(const Steps& steps);
  void share_scalars(const ir::Op& sweep);
  void control_step(const Step& step);
  void emit_for(const Step& step);
  void emit_while(const Step& step);
  void emit_spin(const Step& step);
  void emit_if(const Step& step);
  std::string put_aside(ir::Value value, ir::Value to, const std::string& scratch, const Step& at);
  void assign_aside(ir::Value to, const std::string& aside);
  void enter(const ir::Op& control, std::size_t region);  // where that region ends
  void declare_carried(const std::vector<ir::Value>& values, const std::vector<ir::Value>& initial,
                       const Step& at);

  const ProgramShape shape_;
  const int threads_;      // of a program
  const int lanes_;        // of a warp
  std::string programs_;   // the name, where a block takes several

  TextWriter out_;
  Names names_;
  SharedMemory shared_;
  std::set<std::string> parts_;
  std::unordered_map<std::uint32_t, std::string> scalars_;  // value to text
  std::unordered_map<std::uint32_t, std::string> arrays_;   // storage to name
  std::map<std::size_t, std::string> buffers_;              // number to name
  std::map<std::string, std::string> rings_;                // the arrays of their words
  std::map<std::string, std::string> map_names_;            // of parameters
  std::map<std::string, MapBox> boxes_;
  const ir::Op* const producer_;  // who asks for roles; null where there is one
  bool is_consuming_ = false;
  std::map<std::uint64_t, std::string> owners_;  // bits of copies to a variable
  std::vector<std::string> prologue_;
  std::vector<std::string> delayed_;  // statements that end the work on an element
  GlobalMemory global_;
  SweepRefusals refused_;
  std::size_t barrier_end_ = 0;  // of the last barrier, in the text
  ir::Location last_line_;
  int loop_depth_ = 0;
  const ir::Op* loop_ = nullptr;  // the innermost `for` that is written
  const ir::Op* fenced_ = nullptr;  // an atomic whose order is kept by fences around its loop
  std::int64_t loop_words_ = 0;     // the most registers that a step of a loop loads and adds to
  std::optional<Ahead> ahead_;      // of the loop that is written
  // Operands of products, left ones first, that are held: the array of the words of all steps.
  std::map<std::pair<const ir::Op*, bool>, std::string> held_;
  const bool has_products_;            // asynchronous ones
  const bool advances_copies_;         // pointers of copies are moved on from where they began
  const std::set<std::uint32_t> copy_indices_;  // tiles of i32 that copies beside them compute places of
  std::set<WgmmaFunction> wgmmas_;     // those in use
  std::vector<Started> started_;       // products that go on, oldest first
  std::vector<const ir::Op*> owed_;    // releases that wait for some of them
  std::string last_computed_;          // an array of words that was computed since
  bool drains_ = false;                // products go on through the rounds of the loop that is written
  std::set<std::string> product_operands_;  // arrays in shared memory that products read
  std::string warpgroup_;              // the name of its number
  bool keeps_const_ = true;  // pointers to const data, where no control flow mixes pointers
  const std::set<std::size_t> warp_buffers_;  // of tiles that warps exchange among their lanes
};

}  // namespace tilewright
