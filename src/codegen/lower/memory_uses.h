// SPDX-License-Identifier: Apache-2.0
// codegen/lower/memory_uses.h — what the threads of a program did to global memory since their
// last barrier, and where the next barrier must stand: the accesses of a program happen in the
// order of its source, whichever thread makes them.
//
// At the begin of a loop's body everything that the body does counts as done by any thread in a
// round before; a second walk may assume what was pending at the end of the body in the first one,
// and is right when its own bodies end with no more than that.
#pragma once

#include <map>
#include <vector>

#include "ir/analysis/memory_order.h"
#include "layout/index_map.h"
#include "layout/layout.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {

class MemoryUses {
 public:
  struct Use {
    const ir::Op* op = nullptr;
    // Which threads did it: those that the layout gives the elements to; none: of a scalar, all
    // threads read and thread 0 writes.
    const Layout* layout = nullptr;
    IndexMap map = {};             // from the layout's elements to those of the access
    bool is_anyone = false;        // not known which
    const ir::Op* loop = nullptr;  // done in a round of this loop before the present one
    friend bool operator==(const Use&, const Use&) = default;
  };
  using Uses = std::vector<Use>;
  using LoopUses = std::map<const ir::Op*, Uses>;  // pending at the end of a loop's body

  explicit MemoryUses(const ir::Kernel& kernel) : kernel_(kernel), order_(kernel) {}

  // Whether another thread may have used the same memory in a way that must come before.
  bool needs_barrier(const ir::Op& op) { return needs_barrier(Use{.op = &op}); }
  bool needs_barrier(const TileAccess& access, const Layout& layout) {
    return needs_barrier(Use{.op = access.op, .layout = &layout, .map = access.map});
  }
  void note(const ir::Op& op) { note(Use{.op = &op}); }
  void note(const TileAccess& access, const Layout& layout) {
    note(Use{.op = access.op, .layout = &layout, .map = access.map});
  }
  void note_barrier() { uses_.clear(); }

  const Uses& uses() const { return uses_; }
  void restore(Uses uses) { uses_ = std::move(uses); }
  void merge(const Uses& uses);  // what may have happened on another way here

  // Around the body of a loop; what was pending before the loop may still be after it.
  void begin_loop(const ir::Op& loop);
  void end_loop(const ir::Op& loop, const Uses& before);

  void assume(const LoopUses& ends) { assumed_ = ends; }
  const LoopUses& loop_ends() const { return loop_ends_; }
  bool holds_assumed() const;
  // Whether a barrier was asked for because of what is only feared of another round.
  bool has_feared_rounds() const { return has_feared_rounds_; }

 private:
  bool needs_barrier(const Use& use);
  void note(Use use);
  bool is_ordered(const Use& before, const Use& use) const;

  const ir::Kernel& kernel_;
  const ir::MemoryOrder order_;
  Uses uses_;
  LoopUses assumed_;
  LoopUses loop_ends_;
  bool has_feared_rounds_ = false;
};

}  // namespace tilewright
