// SPDX-License-Identifier: Apache-2.0
// passes/laid/form_sweeps.h — Tile to Laid: which ops share a walk over elements, and which
// tiles are kept between walks.
//
// Loops over elements become sweeps. What a sweep keeps for later is yielded into a buffer; tiles
// that follow each other in a loop, or come together after a branch, have one buffer where that is
// safe. What is computed again where it is needed is repeated in each sweep that needs it; views
// are index arithmetic inside the sweep. Inside a sweep loads come before the writes that follow
// them in the program.
//
//   %x = load %p : f32[64]              %x, %m = sweep {shape = [64], into = ["x", ""]} {
//   %m = reduce %x ..             =>      %x = load %p : f32[64]
//   %d = sub %x, splat %m                 %r = reduce %x ..
//   store %q, %d                          yield %x, %r }
//                                       sweep {shape = [64]} {
//                                         %d = sub %x, ..  store %q, %d  yield }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace tilewright {

struct SweepPolicy {
  // A product is added to its accumulator's own array where nothing else reads that.
  bool shares_accumulators = false;
  // A load is repeated in later loops instead of keeping its tile, from this many elements on.
  std::int64_t reload_from = 0;
  // The most that a chain of ops may cost (about one per arithmetic op) to be repeated.
  int recompute_limit = 6;
  // A tile that is broadcast to one at least four times its size is kept when its chain costs this
  // much: what is computed from it is then cheap enough to be repeated. 0: never.
  int keep_broadcast_from = 0;
  // The most that a chain of pointers may cost to be repeated, where that is more: a loop over
  // vectors needs few of them.
  int pointer_limit = 0;
  // What is computed by a few ops from one load of a narrower type, or of one that is kept anyway,
  // is computed again where it is needed: the load takes less space.
  bool keeps_narrow = false;
  // A load that is needed only later is not asked for later to that end in tiles of fewer elements:
  // there are registers enough for them.
  std::int64_t narrow_from = 0;
  // What is computed from a kept load is computed again, up to the limit, instead of being kept
  // too.
  bool repeats_from_loads = false;
  // Loads of a few small tiles do not wait for stores to other memory that stand before them.
  bool loads_before_stores = false;
  // By value: kept in an array, and read from there by steps after the one that makes it. Shorter
  // than the values: none of the others.
  std::vector<bool> apart = {};
  // By value, as above: never made in the array of the tile that it replaces in a loop.
  std::vector<bool> unshared = {};
  // By value: an integer that may overflow and wraps then.
  std::vector<bool> wraps = {};
  // By value: one that the user gave no name gets this one, and so a line of its own.
  std::vector<bool> lines = {};
  std::string line_name = {};
};

struct LaidForm {
  ir::Kernel kernel;
  std::vector<ir::Value> origins;  // by value of that: what it was in the Tile kernel
};

LaidForm form_sweeps(const ir::Kernel& kernel, const SweepPolicy& policy);

}  // namespace tilewright
