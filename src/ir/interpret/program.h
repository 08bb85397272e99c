// SPDX-License-Identifier: Apache-2.0
// ir/interpret/program.h — one program of the grid: its values, its control flow, its accesses.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/interpret/arrays.h"
#include "ir/interpret/checkpoint.h"
#include "ir/interpret/copies.h"
#include "ir/interpret/group_products.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/jitter.h"
#include "ir/interpret/map_stores.h"
#include "ir/interpret/memory.h"
#include "ir/interpret/order.h"
#include "ir/interpret/ring_words.h"
#include "ir/interpret/rings.h"
#include "ir/interpret/shared.h"
#include "ir/interpret/thread_copies.h"
#include "ir/interpret/tile.h"
#include "ir/interpret/watch.h"
#include "machine/library.h"

namespace tilewright::ir {

class Program {
 public:
  Program(const Kernel& kernel, const Memory& memory, const InterpretOptions& options,
          std::array<std::int64_t, 3> id)
      : kernel_(kernel),
        memory_(memory),
        options_(options),
        id_(id),
        values_(kernel.value_count()),
        copies_(kernel),
        rings_(kernel),
        products_(kernel),
        turns_(options.role_seed * 0x2545f4914f6cdd1d +
               static_cast<std::uint64_t>(id[0]) * 0x9e3779b97f4a7c15 + 1),
        jitter_(jitter_seed(options, id)) {}

  void set(Value value, Tile tile) { values_[value.id] = std::move(tile); }
  // All threads where the kernel is one's program: from meeting to meeting one after the other, in
  // an order by the seed (threads.cpp).
  void run();
  // From where the checkpoint of the same kernel and program was made.
  void resume(const Checkpoint& checkpoint);

  // ---- For those who watch.
  const Kernel& kernel() const { return kernel_; }
  const Memory& memory() const { return memory_; }
  const std::array<std::int64_t, 3>& id() const { return id_; }
  // The value as it was computed last; no elements: not yet.
  const Tile& value(Value value) const { return values_[value.id]; }
  // Of an op that is about to be run.
  Checkpoint checkpoint_before(const Op& op) const;

 private:
  const Tile& get(Value value) const { return values_[value.id]; }
  const Tile& operand(const Op& op, std::size_t i) const { return get(op.operands[i]); }
  std::int64_t integer(const Op& op, std::size_t i) const { return operand(op, i).elements[0].i; }
  const Type& result_type(const Op& op, std::size_t i = 0) const {
    return kernel_.type(op.results[i]);
  }
  void set_result(const Op& op, Tile tile, std::size_t i = 0) {
    set(op.results[i], std::move(tile));
  }
  std::string place_of(const Op& op) const;  // "k.py:12:5: kernel 'k'"
  [[noreturn]] void fail(const Op& op, const std::string& what) const;
  // Of a rule that the kernel breaks: returns when whoever watches lets it go on.
  void report(const Op& op, const std::string& what) const;
  void note_moves(std::span<const Value> to, std::span<const Value> from) const {
    if (options_.watch != nullptr) options_.watch->moves(to, from);
  }
  // Another one for each program; 0 stays 0.
  static std::uint64_t jitter_seed(const InterpretOptions& options, std::array<std::int64_t, 3> id);

  const Op* run_region(const Region& region);  // the op that ended it, or null
  std::size_t first_op(const Region& region);  // 0, or where a resumed program goes on
  void run_to_end(const Op& op);               // of an op under way: what is left of it
  // Around an op with regions. True: it was under way, and goes on where `path_.back()` says.
  bool enter(const Op& op);
  void leave() { path_.pop_back(); }
  void set_all(std::span<const Value> to, std::vector<Tile>& tiles);
  void run_op(const Op& op);
  void dispatch(const Op& op);
  std::vector<Tile> values_of(const std::vector<Value>& values, std::size_t from = 0) const;

  std::vector<Element> scalars(const Op& op) const;  // the operands of an op on scalars

  void constant(const Op& op);
  void elementwise(const Op& op);
  void source(const Op& op);
  void view(const Op& op);
  void access(const Op& op);
  void final_stage(const Op& op);
  void make_array(const Op& op);
  void make_group(const Op& op);
  Element view_of(const Op& op) const;
  // Of the operand with this number, an array or a pointer to memory.
  Element read_array(const Op& op, std::size_t array, std::int64_t index) const;
  void write_array(const Op& op, std::size_t array, std::int64_t index, Element element);
  bool is_moved(const Op& op, std::size_t first, std::size_t guards, std::int64_t i) const;
  // Where element i of a vector is in memory, which the operand points to; none: it is not moved.
  std::optional<std::int64_t> moved_place(const Op& op, std::size_t pointer, std::size_t guards,
                                          std::int64_t i) const;
  void check_parts(const Op& op) const;
  // Rows that are turned round or the thread's own (rows.cpp).
  std::optional<std::int64_t> rotated_place(const Op& op, std::size_t pointer, std::int64_t i) const;
  void check_rotated(const Op& op, std::size_t pointer) const;
  void start_copy(const Op& op, std::size_t guards);
  void finish_copies();
  void check_copies_done() const;
  void check_stores_done() const;
  void load_vector(const Op& op);
  void store_vector(const Op& op);
  Element sum_in_memory(const Op& op, std::int64_t pointer, const Type& type, Element element);
  void linear(const Op& op);
  void call(const Op& op);
  Element value_of_call(const Op& op, ValueCall function);
  void call_of_host(const Op& op, HostCall function);
  void call_of_thread(const Op& op, ThreadCall function);
  bool is_run(const Op& op) const;
  void stream(const Op& op);
  double value_at(const Region& region, std::int64_t i);
  void write_row(const Op& op, std::size_t pointer, std::int64_t first, std::int64_t last);
  void sum_row(const Op& op);
  void largest_of_row(const Op& op);
  Tile array_tile(const Op& op, std::size_t array, std::int64_t rows, std::int64_t columns,
                  std::int64_t by_row, std::int64_t by_column) const;
  void write_tile(const Op& op, std::size_t array, const Tile& tile);
  void dot_of_arrays(const Op& op);
  void running_sum(const Op& op);
  void across(const Op& op);
  void control(const Op& op);
  void sync(const Op& op);
  void check(const Op& op);
  void dot(const Op& op);
  // Of the pointers and, where there are any, mask and other.
  Tile read_tile(const Op& op, const Tile& pointers, const Tile* mask, const Tile* other) const;
  void load(const Op& op);
  void copy_async(const Op& op);
  void wait_copies(const Op& op);
  void read_buffer(const Op& op);
  // Of rings (roles.cpp).
  void run_roles(const Op& op);
  void wait_for_other_role(const Op& op, std::int64_t position);
  void ring_op(const Op& op);
  void copy_map(const Op& op);
  Tile read_map(const Op& op, const std::vector<std::int64_t>& coordinates) const;
  std::optional<std::int64_t> map_address(const KernelMap& map,
                                          const std::vector<std::int64_t>& coordinates,
                                          DType dtype) const;
  Element read_map_element(const Op& op, const KernelMap& map,
                           const std::vector<std::int64_t>& coordinates, DType dtype) const;
  void store(const Op& op);
  void atomic_rmw(const Op& op);
  void atomic_cas(const Op& op);
  void reduce(const Op& op);
  void scan(const Op& op);
  void for_loop(const Op& op);
  void while_loop(const Op& op);
  void branch(const Op& op);
  void sweep(const Op& op);
  void print(const Op& op);
  void check_assert(const Op& op);

  // Runs the region of a reduce or scan on lanes a and b: all at once, or lane by lane where it has
  // control flow.
  std::vector<Tile> combine(const Op& op, const std::vector<Tile>& a, const std::vector<Tile>& b);
  Element checked_read(const Op& op, std::int64_t pointer, DType dtype) const;
  void note_order(const Op& op, std::int64_t pointer, DType dtype, OrderWatch::Access access,
                  bool writes) const;
  void checked_write(const Op& op, std::int64_t pointer, DType dtype, Element element) const;

  // ---- Threads (threads.cpp)
  struct ThreadState {
    std::vector<Tile> values;
    Arrays arrays;
    ThreadCopies copies;
  };
  // Whether the kernel is the program of one thread.
  bool is_thread() const { return kernel_.stage == Stage::Final; }
  // ---- Copies that run ahead of a thread (thread_copies.cpp)
  void start_copy(const Op& op);
  void read_copied(ThreadCopies::Copy& copy) const;
  void wait_own_copies(const Op& op);
  void end_copies() const;
  void for_each_thread(const std::function<void()>& run);
  const Op* run_together(const Region& region);
  void meet(const Op& op);
  void call_together(const Op& op, TogetherCall function);
  Element agreed(const Op& op, Value value) const;
  void hand_on(std::span<const Value> to, std::span<const Value> from);
  void for_together(const Op& op);
  void while_together(const Op& op);
  void branch_together(const Op& op);
  std::vector<Tile> totals_of(const Op& op, std::size_t count, std::int64_t index);
  std::vector<Tile> combined_over(const Op& op, const std::vector<Tile>& tiles, std::int64_t bit,
                                  bool in_order);
  void combine_threads(const Op& op);
  void combine_warps(const Op& op, std::vector<std::vector<Tile>>& all);
  // ---- Scans and sorts of all threads (together.cpp)
  struct ScanNumbers {
    std::int64_t lanes = 0, warps = 0, inner = 0, outer = 0, count = 0;
    bool is_reverse = false;
    std::size_t members = 1;  // arrays of one element each
    std::int64_t lines = 0;   // bits of a register's number that tell lines apart
    std::int64_t first_of(std::int64_t line, std::int64_t chunk) const;
    std::int64_t within(std::int64_t i) const;
  };
  // Something that may be there; what is added comes after it. An element for each thread.
  struct Before {
    std::vector<Tile> value;
    std::vector<bool> is_some;
  };
  std::vector<Tile> combined_where(const Op& op, const std::vector<Tile>& left,
                                   const std::vector<Tile>& right, const std::vector<bool>& flags);
  void add_after(const Op& op, Before& before, const std::vector<Tile>& next,
                 const std::vector<bool>& flags);
  ScanNumbers scan_numbers(const Op& op) const;
  std::vector<Tile> scan_lanes(const Op& op, const ScanNumbers& scan, std::vector<Tile> value);
  std::int64_t scan_slot(const ScanNumbers& scan, std::int64_t item, std::int64_t warp) const;
  void write_scan_slots(const Op& op, const ScanNumbers& scan, std::int64_t item,
                        const std::vector<Tile>& until);
  Before scan_warps(const Op& op, const ScanNumbers& scan, std::int64_t item, Before& before,
                    const std::vector<Tile>& like);
  void scan_threads(const Op& op);
  void end_stretch(const Op& op, const ScanNumbers& scan, std::int64_t line, std::int64_t chunk,
                   const std::vector<std::vector<Tile>>& until, Before& carried,
                   std::vector<std::vector<Tile>>& x);
  void scan_before(const Op& op);
  Before warps_before(const Op& op, const std::vector<Tile>& until);
  void sort_threads(const Op& op);
  void count_one(const Op& op);
  // Of units of products (matrices.cpp).
  std::int64_t word_of(const Op& op) const;
  void load_matrices(const Op& op);
  void multiply_matrices(const Op& op);
  void note_threads(const Op& op, std::int64_t pointer, bool writes) const;
  // ---- Products of warpgroups (group_products.cpp)
  std::int64_t descriptor_of(const Op& op) const;
  std::vector<Element> described_operand(const Op& op, std::size_t operand, std::int64_t group,
                                         std::size_t lines, GroupProducts::Product& product);
  std::vector<Element> operand_in_words(const Op& op, std::int64_t group);
  void for_each_group(const std::function<void(std::int64_t)>& run);
  void start_product(const Op& op, std::int64_t group);
  void wait_products(const Op& op);
  void swap_lanes(const Op& op);
  // ---- Rings of stage Final and threads with roles (ring_words.cpp)
  RingWords::Word& ring_word(const Op& op, std::size_t array, std::int64_t index);
  void set_up_ring(const Op& op);
  bool give_turn(bool waits);
  void wait_phase(const Op& op, RingWords::Word& word, std::int64_t parity);
  void acquire_slot(const Op& op);
  void await_slot(const Op& op);
  void release_slot(const Op& op);
  const KernelMap& map_named(const Op& op) const;
  std::vector<Element> read_box(const Op& op, const std::vector<std::int64_t>& coordinates) const;
  void copy_box(const Op& op);
  void land_copies(RingWords::Word& word);
  // ---- Stores by tensor maps (map_stores.cpp)
  void store_map_element(const Op& op, const KernelMap& map,
                         const std::vector<std::int64_t>& coordinates, const Type& type,
                         Element element, MapStores::Store& store, std::vector<Element>& elements);
  void store_map(const Op& op);
  void store_box(const Op& op);
  void wait_stores(bool in_memory);
  void run_thread_roles(const Op& op);

  const Kernel& kernel_;
  const Memory& memory_;
  const InterpretOptions& options_;
  std::array<std::int64_t, 3> id_;
  std::int64_t thread_ = 0;
  std::int64_t thread_count_ = 1;
  std::int64_t lanes_ = 1;  // of a warp
  std::vector<ThreadState> threads_;
  std::uint64_t turn_ = 0;  // how often all threads have run since they met
  mutable SharedArrays shared_;
  // An element that is copied beside the thread.
  struct RowCopy {
    const Op* op;
    std::int64_t array;  // from its place on
    std::optional<std::int64_t> from;
    Element other;
  };
  std::unordered_map<std::int64_t, std::vector<RowCopy>> row_copies_;  // by thread, not done yet
  std::vector<Tile> values_;
  Copies copies_;
  Rings rings_;
  mutable GroupProducts products_;
  RingWords words_;
  MapStores stores_;
  bool is_adding_ = false;  // what is written now, as one access
  RoleTurns turns_;
  Arrays arrays_;
  ThreadCopies own_copies_;  // of the thread that runs
  Jitter jitter_;
  std::vector<ControlPlace> path_;
  const Checkpoint* resumed_ = nullptr;  // until its op is reached
  std::int64_t steps_ = 0;
  bool is_combining_ = false;  // in the region of a reduce or scan
};

}  // namespace tilewright::ir
