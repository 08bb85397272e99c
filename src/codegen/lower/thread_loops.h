// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_loops.h — sweeps: the loops of a thread over its elements of a tile.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "codegen/lower/thread_elements.h"
#include "codegen/lower/thread_reductions.h"
#include "codegen/lower/thread_tiles.h"

namespace tilewright {

class ThreadLoops : private ThreadElements {
 public:
  explicit ThreadLoops(ThreadState& state);

  void elements(const Step& step);
  // Around the steps of a loop of the kernel.
  void begin_loop() { ++loop_depth_; }
  void end_loop() { --loop_depth_; }
  // The most registers that a step of a loop loads and adds to.
  std::int64_t loop_words() const { return loop_words_; }

 private:
  using Preload = ElementPlans::Preload;
  using VectorAccess = ElementPlans::VectorAccess;
  using Reductions = std::vector<ThreadReductions::Reduction>;
  // Written when the element's ops are done.
  struct Delayed {
    ir::Value array, index, value;
    ir::Value condition = {};
  };

  std::vector<Preload> take_late(const Loop& loop, const TileReads& reads,
                                 std::vector<Preload>& preloads);
  std::vector<VectorAccess> vector_stores(const Loop& loop, const Step& step) const;
  void work_on_vector(Loop& loop, const Step& step, const std::vector<Preload>& preloads,
                      const Reductions& reductions);
  void end_step(const Step& step, const Reductions& reductions);
  void load_first(Loop& loop, std::vector<Preload>& preloads, bool is_inside);
  bool is_only_loaded(const Step& step, const std::vector<Preload>& preloads) const;
  void write_delayed();
  void element_ops(Loop& loop, const std::map<const ir::Op*, ir::Value>& vectors,
                   const std::vector<VectorKeep>& keeps);
  void keep(Loop& loop, ir::Value value, const std::vector<VectorKeep>& keeps);

  std::vector<Delayed> delayed_;
  const std::set<std::uint32_t> settled_;  // tiles of indices that are kept
  int loop_depth_ = 0;
  std::int64_t loop_words_ = 0;
};

}  // namespace tilewright
