// SPDX-License-Identifier: Apache-2.0
// ir/interpret/rings.h — the rings of one program, and who runs while its two roles wait for each
// other.
//
// The roles run in turns, each on a thread of its own: one goes on until it must wait, or, by a
// seed, at any op of a ring. A copy arrives when it is awaited, never before. What a real machine
// would let happen by chance is a problem here: a slot that is filled before it was given back or
// read before it was awaited, a position given back twice, or while a product reads it, and roles
// that wait for each other for ever.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// One of two roles runs at a time.
class RoleTurns {
 public:
  explicit RoleTurns(std::uint64_t seed) : seed_(seed) {}
  // Runs both to their ends; what one of them throws ends both.
  void run(const std::function<void()>& producer, const std::function<void()>& consumer);
  bool is_running() const { return is_running_; }
  // Of the role that runs: the other one goes on. False: it has ended, or waits too.
  bool hand_over(bool waits);
  // Something has changed: whoever waits may go on.
  void stop_waiting() { waits_[0] = waits_[1] = false; }
  // Sometimes, by the seed.
  void maybe_hand_over();
  bool chooses_other();

 private:
  struct Ended {};
  void work(int role, const std::function<void()>& body);
  void give_turn(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable turned_;
  int turn_ = 0;
  bool has_ended_[2] = {};
  bool waits_[2] = {};
  bool is_running_ = false;
  std::exception_ptr failure_;
  std::uint64_t seed_;
};

class Rings {
 public:
  struct Copy {
    const Op* op = nullptr;
    std::vector<std::int64_t> coordinates;
    Tile content;
  };

  explicit Rings(const Kernel& kernel);
  bool is_empty() const { return rings_.empty(); }

  // Whether the op has to wait for the other role.
  bool must_wait(const Op& op, std::int64_t position) const;
  // These give what is wrong, or nothing.
  std::string acquire(const Op& op, std::int64_t position);
  std::string start(const Op& op, std::int64_t position, Copy copy);
  std::string await(const Op& op, std::int64_t position, std::vector<Copy>& arrived);
  // Where it waits, for products that read the position by the same name.
  std::string release(const Op& op, std::int64_t position, bool waits);
  std::string read(std::size_t buffer, std::int64_t position, Value result, Tile& content);
  // Of an op that uses tiles of a ring, or starts a product that reads them.
  std::string use_problem(const Op& op);
  void drain();  // products under way are done

 private:
  struct Filling {
    std::vector<Copy> copies;  // by buffer of the ring; without an op: not started
  };
  struct Ring {
    const KernelRing* facts = nullptr;
    std::int64_t slots = 0;
    std::int64_t acquired = 0, awaited = 0, released = 0;  // how many positions
    std::deque<Filling> fillings;                          // of positions from `released` on
  };
  struct Origin {
    int ring = -1;
    std::int64_t position = 0;
    Value named = {};  // what the kernel calls the position
  };
  Ring& ring_of(const Op& op);
  const Ring& ring_of(const Op& op) const { return const_cast<Rings*>(this)->ring_of(op); }
  void wait_for_readers(int ring, Value position);

  const Kernel& kernel_;
  std::vector<Ring> rings_;
  std::vector<Origin> origins_;              // by value
  std::deque<std::vector<Origin>> started_;  // what products under way read
};

}  // namespace tilewright::ir
