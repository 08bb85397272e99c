// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/layouts.h — a layout for every loop over elements and every tile that is kept.
//
// Loops and arrays that are read element by element share one layout. The biggest choose first, by
// their memory accesses: the contiguous dimension of the widest access is dealt out first, in
// vectors of up to 16 bytes for those in the deepest loop. Smaller ones take the layout in which
// their bigger neighbour (a broadcast that reads them, a reduction that makes them) has each
// element in the right thread already. Before all of them come the results of products, which are
// laid out as the instructions want them. An array whose readers then find every element in their
// own registers lives in registers; any other one lives in shared memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "codegen/cuda/alignment.h"
#include "codegen/cuda/dot_plan.h"
#include "codegen/cuda/scan_plan.h"
#include "codegen/cuda/tile_reads.h"
#include "codegen/schedule/sweeps.h"
#include "layout/layout.h"
#include "layout/swizzle.h"

namespace tilewright {

// How an access walks through memory.
struct AccessShape {
  int contiguous = -1;  // the dimension of neighbours, or none
  int log_run = 0;      // from multiples of this on as many elements are neighbours
  int log_width = 0;    // of those that are aligned together, at most 16 bytes
};
// `op` is a load, store, atomic or copy. Pointers without a formula (rows that are gathered) are
// known by the analysis of axes.
AccessShape access_shape(const ir::Kernel& kernel, const Alignments& alignments, const ir::Op& op);

struct TileLayout {
  Layout layout;
  int log_vector = 0;        // the lowest register bits that a loop handles as one vector
  int contiguous = 0;        // the dimension of those
  bool is_unrolled = false;  // loops over it are, however many registers there are
};

class TileLayouts {
 public:
  // More values of one tile per thread than this live in shared memory.
  static constexpr int most_registers = 64;
  // The same for tiles that are laid out like the result of a product.
  static constexpr int most_sums = 256;
  // Words of a tile that one thread scans in registers.
  static constexpr int most_scanned = 64;

  struct Options {
    Target target;
    int log_warps = 2;
  };
  TileLayouts(const ir::Kernel& kernel, const Sweeps& schedule, const Alignments& alignments,
              const Options& options);

  const TileLayout& of_step(const Step& step) const { return layouts_.at(steps_.at(step.order)); }
  // Of the array that holds this Stored value.
  const TileLayout& of_array(ir::Value value) const;
  bool is_shared(ir::Value value) const { return is_shared_[schedule_.storage(value).id]; }
  // Whether the array is a slot of a buffer, which copies fill.
  bool is_slot(ir::Value value) const {
    const ir::Op* maker = kernel_.maker(schedule_.storage(value));
    return maker && maker->kind == ir::OpKind::ReadBuffer;
  }
  const Swizzle& swizzle_of_buffer(std::size_t buffer) const { return buffer_swizzles_[buffer]; }
  // Where elements of an array in shared memory stand.
  const Swizzle& swizzle_of(ir::Value value) const {
    return swizzles_.at(schedule_.storage(value).id);
  }
  const DotPlan& plan_of(const ir::Op& dot) const { return dots_.at(&dot); }
  // How a scan is made in registers; null when it goes through shared memory.
  const ScanPlan* scan_plan_of(const ir::Op& scan) const {
    const auto found = scans_.find(&scan);
    return found == scans_.end() ? nullptr : &found->second;
  }
  bool has_scans() const { return !scans_.empty(); }
  // Whether an asynchronous product reads the array, or slots of the buffer, in shared memory.
  bool is_product_operand(ir::Value value) const { return is_product_operand_[schedule_.storage(value).id]; }
  bool is_product_buffer(std::size_t buffer) const { return is_product_buffer_[buffer]; }
  // Whether the array of its result is laid out as the product's instruction wants it.
  bool fits(const ir::Op& dot) const;
  // The layout that a reduction over the step leaves its results in, one register per result.
  Layout of_reduced(const Step& step, const ir::Op& reduce) const;

 private:
  struct Relation {  // element i of the reader's space is element map(i) of the array
    int reader;
    ir::Value storage;
    IndexMap map;
  };
  struct Group {
    ir::Type shape;
    std::vector<AccessShape> accesses;
    std::vector<int> access_bytes;
    std::vector<int> access_depths;  // in how many loops each one stands
    const DotPlan* dot = nullptr;    // one of the products that are made in it
    int scan_axis = -1;              // of a scan that is made in it
    bool is_copy = false;            // of asynchronous copies, which should be wide above all
    bool is_laid = false;
  };
  struct OperandRead {  // of a product
    const ir::Op* dot;
    bool is_left;
    ir::Value storage;
    IndexMap map;
  };

  int find(int node);
  void unite(int a, int b);
  int node_of(ir::Value value);
  void visit(const Steps& steps);
  void visit_elements(const Step& step);
  void visit_across(const Step& step);
  void visit_scan(const Step& step);
  void visit_dot(const Step& step);
  void visit_control(const Step& step);
  void note_reads(int reader, const TileReads& reads);
  void choose_all();
  void choose(int node);
  bool pull(int node);
  void choose_by_access(int node);
  void deal_out_axis(const Group& group, TileLayout& tile) const;
  void decide_scans();
  void decide_shared();
  void choose_buffer_swizzles();
  void choose_swizzles();

  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const Alignments& alignments_;
  const int log_warps_;
  int loop_depth_ = 0;  // of the step that is visited
  const DotOptions dot_options_;
  std::vector<int> parents_;   // of the sets of nodes
  std::vector<Group> groups_;  // by node; that of the set's root counts
  std::vector<Relation> relations_;
  std::unordered_map<const ir::Op*, DotPlan> dots_;
  std::vector<OperandRead> operand_reads_;
  std::vector<const Step*> scan_steps_;
  std::unordered_map<const ir::Op*, ScanPlan> scans_;
  std::unordered_map<std::uint32_t, int> nodes_;  // storage to node
  std::unordered_map<int, int> steps_;            // order of a step to its node, later to the root
  std::unordered_map<int, TileLayout> layouts_;   // by root
  std::vector<bool> is_shared_;                   // by value
  std::vector<bool> is_product_operand_;          // by storage
  std::vector<bool> is_product_buffer_;           // by buffer
  std::vector<bool> has_lines_;                   // by storage: read by lines in shared memory
  std::unordered_map<std::uint32_t, Swizzle> swizzles_;  // by storage
  std::vector<int> buffer_lines_;                        // by buffer: along which dimension
  std::vector<Swizzle> buffer_swizzles_;                 // by buffer
  std::vector<std::pair<const Step*, const ir::Op*>> reduced_;
};

}  // namespace tilewright
