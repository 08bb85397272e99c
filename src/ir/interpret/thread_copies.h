// SPDX-License-Identifier: Apache-2.0
// ir/interpret/thread_copies.h — the copies from memory to shared arrays that a thread of stage
// Final has under way, in groups.
//
// A copy reads memory when it starts or when it is waited for, by the seed; between them nobody may
// touch where it goes (SharedArrays).
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

class ThreadCopies {
 public:
  struct Copy {
    const Op* op = nullptr;
    std::int64_t array = 0;  // its handle
    std::int64_t pointer = 0;
    bool is_wanted = true;               // else zeros arrive
    std::vector<Element> elements = {};  // none: not read yet
  };

  void start(Copy copy) { started_.push_back(std::move(copy)); }
  void commit() { groups_.push_back(std::exchange(started_, {})); }
  // All but the `pending` newest groups are done.
  std::vector<Copy> finish(std::int64_t pending) {
    std::vector<Copy> done;
    while (static_cast<std::int64_t>(groups_.size()) > pending) {
      for (Copy& copy : groups_.front()) done.push_back(std::move(copy));
      groups_.pop_front();
    }
    return done;
  }
  // One that nobody has waited for; null: none.
  const Copy* first() const {
    for (const std::vector<Copy>& group : groups_)
      if (!group.empty()) return &group.front();
    return started_.empty() ? nullptr : &started_.front();
  }

 private:
  std::vector<Copy> started_;             // not yet in a group
  std::deque<std::vector<Copy>> groups_;  // oldest first
};

}  // namespace tilewright::ir
