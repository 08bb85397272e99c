// SPDX-License-Identifier: Apache-2.0
// ir/interpret/program.h — one program of the grid: its control flow, and the families of ops that
// it hands everything else to.
#pragma once

#include "ir/interpret/final_ops.h"
#include "ir/interpret/library_calls.h"
#include "ir/interpret/map_ops.h"
#include "ir/interpret/matrices.h"
#include "ir/interpret/program_view.h"
#include "ir/interpret/roles.h"
#include "ir/interpret/threads.h"
#include "ir/interpret/tile_ops.h"

namespace tilewright::ir {

class Program;

// What one family needs of another it asks for here.
struct ProgramParts {
  Program& program;  // control flow
  TileOps tiles;
  TileAccesses accesses;
  Roles roles;
  FinalOps final_ops;
  LibraryCalls library;
  Threads threads;
  ThreadScans scans;
  Matrices matrices;
  RingOps rings;
  MapOps maps;
};

class Program : private ProgramState, private ProgramView {
 public:
  Program(const Kernel& kernel, const Memory& memory, const InterpretOptions& options,
          std::array<std::int64_t, 3> id);
  // Its parts see its state.
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  using ProgramView::set;
  // All threads where the kernel is one's program: from meeting to meeting one after the other, in
  // an order by the seed (threads.cpp).
  void run() { parts_.threads.run(); }
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

  // ---- For the families
  const Op* run_region(const Region& region);  // the op that ended it, or null
  void run_op(const Op& op);
  // Around an op with regions. True: it was under way, and goes on where `path_.back()` says.
  bool enter(const Op& op);
  void leave() { path_.pop_back(); }
  // A round of a loop, which may be endless.
  void count_round(const Op& loop);
  // Runs the region of a reduce or scan on lanes a and b: all at once, or lane by lane where it has
  // control flow.
  std::vector<Tile> combine(const Op& op, const std::vector<Tile>& a, const std::vector<Tile>& b);

 private:
  std::size_t first_op(const Region& region);  // 0, or where a resumed program goes on
  void run_to_end(const Op& op);               // of an op under way: what is left of it
  void dispatch(const Op& op);
  void control(const Op& op);
  void sync(const Op& op);
  void for_loop(const Op& op);
  void while_loop(const Op& op);
  void branch(const Op& op);
  void sweep(const Op& op);
  void give_results(const Op& op, const Op* end);

  ProgramParts parts_;
  const Checkpoint* resumed_ = nullptr;  // until its op is reached
  std::int64_t steps_ = 0;
};

}  // namespace tilewright::ir
