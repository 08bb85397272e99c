// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_indices.h — the loops of a thread, and linear maps of its number and of
// their variables as ops. What does not change within a vector gets a name.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "codegen/lower/thread_builder.h"

namespace tilewright {

// The number of an element among those of the variables with the lowest bits.
IndexMap number_map(const Space& space, int bits);

class ThreadIndices : protected ThreadBuilder {
 public:
  explicit ThreadIndices(ThreadState& state) : ThreadBuilder(state) {}

 protected:
  // ---- Loops. The variables of one over elements:
  static constexpr std::size_t within_vector = 0, over_vectors = 1, over_slices = 2, of_thread = 3;

  Loop make(const Step& step, const TileLayout& layout);
  // Over other variables than those of elements, inside of loops that are open.
  Loop loop_with(const Step& step, std::vector<SpaceVariable> variables,
                 std::vector<ir::Value> values);
  void open(Loop& loop, std::size_t variable, const char* over, bool unrolls) {
    open_rounds(loop, variable, over, unrolls ? -1 : 1);
  }
  void open_rounds(Loop& loop, std::size_t variable, const char* over, std::int64_t unroll,
                   ir::Location location = {}, std::int64_t first = 0);
  void close(Loop& loop, std::size_t variable);
  // That over slices stays a loop unless all registers have to be known.
  void open_all(Loop& loop, bool unrolls_slices = false);
  void close_all(Loop& loop);

  // ---- Indices
  ir::Value linear(const Loop& loop, const IndexMap& map, std::size_t first, std::size_t last);
  ir::Value linear(const Loop& loop, const IndexMap& map) {
    return linear(loop, map, 0, loop.plan.frame.space.variables.size());
  }
  ir::Value index(Loop& loop, const IndexMap& map);
  ir::Value coordinate(Loop& loop, const Place& place, const ir::Type& type, int dimension);
  // That of the first variable, or 0 where it has one value.
  ir::Value register_of(const Loop& loop);
  // The array from where the variables choose on, each place 2^low elements.
  ir::Value part(ir::Value array, const Loop& loop, int low);
  // A place whose bits are known, with what the loops turn round and add.
  ir::Value moved(ir::Value at, std::uint64_t image, const Loop& loop, const IndexMap& map);

  // ---- Addresses and bounds
  // What is added to the base of an affine op at a place.
  std::vector<ir::Value> affine_terms(Loop& loop, const ir::Op& affine, const Place& place);
  ir::Value affine(Loop& loop, const ir::Op& op, const Place& place);
  // The pointer with what an affine op adds to its base at a place.
  ir::Value moved_pointer(ir::Value pointer, Loop& loop, const ir::Op& affine, const Place& place);
  ir::Value bound(ir::Value value);
  // Without the dimension `without`; none where nothing is left to ask.
  std::vector<ir::Value> bounds(Loop& loop, const ir::Op& op, const Place& place, int without = -1);

 private:
  // An index as what the thread adds and what the loops add; none where bits of both meet.
  struct SplitIndex {
    ir::Value thread, loops;
  };
  std::optional<SplitIndex> split_index(const Loop& loop, const ir::Type& type, const Place& map);
  ir::Value narrow(ir::Value value) const;
  bool counts_up_to(ir::Value index, ir::Value end) const;
  void add_parts(ir::Value index, std::vector<ir::Value>& out);
  DType wider(ir::Value a, ir::Value b) const;
};

}  // namespace tilewright
