// SPDX-License-Identifier: Apache-2.0
// ir/interpret/program_state.h — what one program of the grid is given, and what it has so far.
//
// What ops mean is in a class per family of them (program.h lists them). What several of them need
// is here, as plain data, and they work on it as a ProgramView.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/interpret/arrays.h"
#include "ir/interpret/checkpoint.h"
#include "ir/interpret/copies.h"
#include "ir/interpret/group_products.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/jitter.h"
#include "ir/interpret/map_stores.h"
#include "ir/interpret/memory.h"
#include "ir/interpret/rings.h"
#include "ir/interpret/shared.h"
#include "ir/interpret/thread_copies.h"
#include "ir/interpret/tile.h"

namespace tilewright::ir {

struct ProgramParts;

struct ProgramState {
  ProgramState(const Kernel& of, const Memory& in, const InterpretOptions& with,
               std::array<std::int64_t, 3> number)
      : kernel(of),
        memory(in),
        options(with),
        id(number),
        values(of.value_count()),
        copies(of),
        rings(of),
        products(of),
        turns(with.role_seed * 0x2545f4914f6cdd1d +
              static_cast<std::uint64_t>(number[0]) * 0x9e3779b97f4a7c15 + 1),
        jitter(Jitter::seed_of(with.jitter, number)) {}

  const Kernel& kernel;
  const Memory& memory;
  const InterpretOptions& options;
  const std::array<std::int64_t, 3> id;

  // ---- The thread that runs (stage Final)
  struct Thread {
    std::vector<Tile> values;
    Arrays arrays;
    ThreadCopies copies;
  };
  std::int64_t thread = 0;
  std::int64_t thread_count = 1;
  std::int64_t lanes = 1;  // of a warp
  std::vector<Tile> values;
  Arrays arrays = {};
  ThreadCopies own_copies = {};
  std::vector<Thread> threads = {};  // all of them; what the one that runs has is above
  std::uint64_t turn = 0;            // how often all threads have run since they met
  SharedArrays shared = {};

  // ---- What goes on beside the program
  Copies copies;
  Rings rings;
  GroupProducts products;
  MapStores stores = {};
  RoleTurns turns;

  // ---- Where it is
  std::vector<ControlPlace> path = {};
  bool is_adding = false;     // what is written now, as one access
  bool is_combining = false;  // in the region of a reduce or scan
  Jitter jitter;
  ProgramParts* parts = nullptr;
};

}  // namespace tilewright::ir
