// SPDX-License-Identifier: Apache-2.0
// ir/interpret/tile_ops.h — ops on whole tiles: what they compute (tile_ops.cpp), and what they do
// to memory and to buffers that are copied to (tile_accesses.cpp).
#pragma once

#include "ir/interpret/program_view.h"

namespace tilewright::ir {

class TileOps : private ProgramView {
 public:
  explicit TileOps(ProgramState& state) : ProgramView(state) {}

  void source(const Op& op);
  void view(const Op& op);
  void elementwise(const Op& op);
  void reduce(const Op& op);
  void across(const Op& op);
  void check(const Op& op);

 private:
  void constant(const Op& op);
  void scan(const Op& op);
  void dot(const Op& op);
  void print(const Op& op);
  void check_assert(const Op& op);
};

class TileAccesses : private ProgramView {
 public:
  explicit TileAccesses(ProgramState& state) : ProgramView(state) {}

  void access(const Op& op);
  void wait_copies(const Op& op);
  void read_buffer(const Op& op);

 private:
  // Of the pointers and, where there are any, mask and other.
  Tile read_tile(const Op& op, const Tile& pointers, const Tile* mask, const Tile* other) const;
  void load(const Op& op);
  void copy_async(const Op& op);
  void store(const Op& op);
  void atomic_rmw(const Op& op);
  void atomic_cas(const Op& op);
};

}  // namespace tilewright::ir
