// SPDX-License-Identifier: Apache-2.0
// ir/interpret/copies.h — the buffers of one program, and the copies into them that are under way.
//
// A copy arrives at the wait that allows it to be relied on, never before. What a real machine
// would let happen by chance is a problem here: a slot that is read before its copy is done, or was
// never written; a slot that is written while a copy into it is under way; and the use of a tile
// whose slot has been given to a newer copy, because generated code reads tiles of buffers where
// they lie.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

class Copies {
 public:
  struct Copy {
    const Op* op = nullptr;
    std::size_t buffer = 0;
    std::int64_t slot = 0;
    Tile pointers;
    Tile mask;   // no elements: none
    Tile other;  // no elements: none
    Tile content;
  };

  explicit Copies(const Kernel& kernel);

  // These give what is wrong, or nothing.
  std::string start(Copy copy);
  std::string read_problem(std::size_t buffer, std::int64_t slot) const;
  // Of an op that uses a tile (or a view of one) that was read from a buffer. Views of such tiles
  // are noted.
  std::string use_problem(const Op& op);

  void commit();
  // All but the `pending` newest groups are done; gives the copies that were not before.
  std::vector<Copy> finish(std::int64_t pending);

  const Tile& content(std::size_t buffer, std::int64_t slot) const;
  void note_read(Value value, std::size_t buffer, std::int64_t slot);

 private:
  struct Slot {
    bool is_written = false;
    bool is_under_way = false;
    std::int64_t copies = 0;  // started so far
    Tile content;
  };
  // Where a tile was read, and how many copies the slot had seen then.
  struct Origin {
    std::int64_t buffer = -1;
    std::int64_t slot = 0;
    std::int64_t copies = 0;
  };
  Slot& slot_at(std::size_t buffer, std::int64_t slot) {
    return slots_[buffer][static_cast<std::size_t>(slot)];
  }
  std::string outside_problem(std::size_t buffer, std::int64_t slot) const;

  const Kernel& kernel_;
  std::vector<std::vector<Slot>> slots_;  // by buffer
  std::vector<Copy> started_;             // not yet in a group
  std::deque<std::vector<Copy>> groups_;  // oldest first
  std::vector<Origin> origins_;           // by value; empty when the kernel has no buffers
};

}  // namespace tilewright::ir
