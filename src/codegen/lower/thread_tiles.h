// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_tiles.h — tiles that threads share, and copies of tiles.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/lower_to_threads.h"
#include "codegen/lower/thread_elements.h"

namespace tilewright {

// A tile whose elements go to shared memory in vectors, after they were worked on.
struct VectorKeep {
  ir::Value value;
  ir::Value from = {};
  bool is_own = false;  // an array for this alone, of one vector
};

class ThreadTiles : private ThreadElements {
 public:
  using Preload = ElementPlans::Preload;

  explicit ThreadTiles(ThreadState& state) : ThreadElements(state) {}

  // ---- What a sweep cannot do
  void refuse_beside_readers(const Loop& loop, const TileReads& reads);
  void part_accesses(const Loop& loop, const TileReads& reads,
                     const std::vector<Preload>& preloads);
  const SweepRefusals& refusals() const { return refusals_; }

  // ---- Vectors of kept elements
  std::vector<VectorKeep> plan_vector_keeps(const Loop& loop, const std::vector<Preload>& preloads);
  static bool keeps_all(const Step& step, const std::vector<VectorKeep>& keeps);
  void keep_vector(Loop& loop, const VectorKeep& kept);

  // ---- Ops that take elements from anywhere
  // Loops over the elements of the result and keeps what `make_element` gives for each.
  void for_each_result(const Step& step, const std::function<ir::Value(Loop&)>& make_element);
  void gather(const Step& step);
  void concatenate(const Step& step);

  // ---- Copies
  // Arrays of the tiles that a loop or a branch hands on.
  void begin_control(const ir::Op& control);
  // All tiles take their new elements at once.
  void copy(const Step& step, const std::vector<std::pair<ir::Value, ir::Value>>& copies);
  void copy(const Step& step, ir::Value to, ir::Value from);

 private:
  void note_scratch(const ir::Op& control);
  ir::Value put_aside(const Step& step, ir::Value to, ir::Value from, const std::string& scratch);
  void assign_aside(const Step& step, ir::Value to, ir::Value aside);
  ir::Value aside_index(Loop& loop, ir::Value to);

  // Scratch through which a tile is handed on, by the tile that it becomes and by itself.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> aside_;
  SweepRefusals refusals_;  // what other sweeps would have to do otherwise
};

}  // namespace tilewright
