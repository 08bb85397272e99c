// SPDX-License-Identifier: Apache-2.0
// codegen/lower/element_plans.h — how the loops of a thread over its elements are to be written:
// which loads and stores are whole vectors, what is loaded first, and which loops go in slices.
//
// The ops of an element are made in a Frame: the variables of the loops around it, and where the
// step's own element is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/cuda/emit.h"
#include "codegen/lower/access_hints.h"
#include "codegen/lower/space.h"
#include "passes/laid/laid_facts.h"
#include "passes/laid/tile_layouts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {

struct Frame {
  const Step* step = nullptr;
  Space space;
  std::size_t index_from = 0;      // variables before this one are left out of named indices
  bool is_whole_vector = false;    // indices are those of the first element of a vector
  const Layout* layout = nullptr;  // of the loop; none where elements are taken from anywhere
  IndexMap place;                  // of the step's own element

  using Key = std::pair<std::uint32_t, std::vector<std::uint64_t>>;
  static Key key(ir::Value value, const IndexMap& place);
};

// A view whose elements are those of its one operand.
bool is_mapped_view(const ir::Op& op);

class ElementPlans {
 public:
  // Of a Laid kernel whose tables are written.
  ElementPlans(const ir::Kernel& kernel, const LaidFacts& facts, const TileLayouts& layouts,
               const CudaEmitOptions& options);

  using Place = IndexMap;

  struct VectorAccess {
    const ir::Op* op = nullptr;
    Place place;
    int width = 1;  // elements that one instruction moves
    int contiguous = -1;
    const ir::Op* affine = nullptr;  // none: pointers without a formula
    const ir::Op* bounds = nullptr;
    ir::Value mask;           // instead of bounds: the same for all elements of a vector
    bool is_rotated = false;  // the elements are those of a tile that is turned round
  };
  struct ElementLoop {
    Frame frame;
    int log_vector = 0;
    int log_vectors = 0;
    int log_slices = 0;
    bool unrolls_slices = false;
  };
  struct Preload {  // read in vectors before the elements are worked on
    ir::Value value;
    Place place;
    std::optional<VectorAccess> access;  // of a load; else an array in shared memory
    std::string tile;
    bool is_bool = false;  // bytes that stand for bools
  };

  std::optional<std::int64_t> constant_of(ir::Value value) const;
  bool is_rotated(const ir::Type& type) const {
    return alignments_.rotation() && type.rank == 1 && type.numel() == alignments_.rotation()->size;
  }
  ir::Value stowed() const { return stowed_; }  // the row in shared memory
  bool is_stowed(ir::Value value) const { return stowed_ && schedule_.storage(value) == stowed_; }
  int uses_of(ir::Value value) const { return uses_[value.id]; }
  bool has_any_dot() const { return has_dot_; }

  // What the array of a value is named after.
  std::string array_base(ir::Value value, ir::Value storage) const;

  // ---- Accesses
  std::optional<VectorAccess> vector_access(const Frame& frame, const ir::Op& op,
                                            const Place& place) const;
  bool is_all_or_nothing(const Frame& frame, const VectorAccess& access) const;
  // How many neighbours of a vector with bounds inside of it are all inside or all outside, where
  // moving them part by part takes fewer instructions than one by one behind a branch: between fixed
  // bounds, and where no instruction moves more of them anyway. (Liger's multimodal rope takes
  // columns 8 to 20 of 32: 400 instructions with a branch, 152 in Triton's code.)
  int part_of_vector(const Frame& frame, const VectorAccess& access) const;
  bool adds_in_vectors(const ir::Op& op) const;
  bool lingers(const ir::Op& op) const;
  // "linger", "cs": what the access asks of the caches; "" where nothing is said.
  std::string_view cache_of(const ir::Op& op) const;
  // Of a whole vector, whose elements may be guarded one by one.
  std::string_view vector_cache(const VectorAccess& access, bool is_guarded) const;

  // ---- Copies that run ahead (copy_plans.cpp)
  ElementLoop copy_loop(const Step& step);
  bool can_copy_vectors(const ElementLoop& loop, const ir::Op& op) const;
  // The affine pointers of copies whose distances from the thread's first one are sums.
  const ir::Op* formula_of(const ElementLoop& loop, const ir::Op& op) const;

  // ---- Loops
  ElementLoop make_loop(const Step& step, const TileLayout& layout);
  std::vector<Preload> plan_preloads(ElementLoop& loop);
  // Loads in slices what is more than this many registers of a thread (streamed_loop.cpp).
  static constexpr std::int64_t most_words_held = 96;
  void slice_streamed(ElementLoop& loop, const TileReads& reads);
  std::int64_t words_held(const ElementLoop& loop, const TileReads& reads,
                          const std::vector<Preload>& preloads) const;
  bool is_late(const ElementLoop& loop, const Preload& preload, bool is_crowded) const;
  bool is_shared_vector(const ElementLoop& loop, ir::Value value, const Place& place) const;
  bool reads_storage_of(const Step& step, ir::Value value) const;
  IndexMap register_map(const Frame& frame, ir::Value value, const Place& place) const;
  bool is_same_in_vector(const Frame& frame, const ir::Op& compare, const Place& place) const;

  // ---- What the loops so far ask for
  void set_stowing(bool is_stowing) { is_stowing_ = is_stowing; }  // through registers
  bool has_rolled_slices() const { return has_rolled_slices_; }
  bool is_crowded() const { return is_crowded_; }

 private:
  // A power of two, up to `most`, that both bounds along the vector are multiples of.
  int bounds_step(const VectorAccess& access, int most) const;
  bool is_uniform_tile(ir::Value value) const;
  bool is_short_arithmetic(ir::Value value) const;
  unsigned repeats(ir::Value value) const;

  void widen_slices(ElementLoop& loop, const TileReads& reads);
  static void set_slices(ElementLoop& loop, int log_vectors);
  bool has_registers_by_slice(const ElementLoop& loop, const TileReads& reads) const;
  bool has_totals_by_slice(const ElementLoop& loop) const;
  bool is_streamed(const ElementLoop& loop, const std::vector<Preload>& preloads) const;
  std::int64_t words_loaded(const ElementLoop& loop, const std::vector<Preload>& preloads) const;

  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const Alignments& alignments_;
  const TileLayouts& layouts_;
  const CudaEmitOptions& options_;
  const ir::Value stowed_;  // the row in shared memory
  std::vector<int> uses_;   // by value
  const AccessHints hints_;
  const bool has_dot_;
  bool is_stowing_ = false;         // through registers
  bool has_rolled_slices_ = false;  // a loop over slices that stays a loop
  bool is_crowded_ = false;         // threads have to hold more than their registers take
};

}  // namespace tilewright
