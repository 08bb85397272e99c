// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/copies.h — the asynchronous copies that one emulated thread has under
// way.
//
// The destination holds a poison from the start of a copy until its group has been waited for. The
// source is read at the start or at the wait, whichever the seed says: both are legal moments, so a
// kernel whose result depends on it is wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright {

class CopyQueue {
 public:
  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;  // null: zeros arrive
    std::uint32_t bytes = 0;
    std::uint32_t line = 0;  // of the user's source
    bool is_early = false;   // `arriving` already holds what was read
    std::array<std::byte, 16> arriving{};
  };

  void clear();
  // `is_early`: the source is read now.
  void start(const Copy& copy, bool is_early);
  void commit();
  // The copies of all groups but the `pending` newest ones arrive; `arrived(copy)` after each.
  template <class Arrived>
  void wait(std::size_t pending, Arrived arrived) {
    while (groups_.size() > pending) {
      for (Copy& copy : groups_.front()) {
        arrive(copy);
        arrived(copy);
      }
      groups_.erase(groups_.begin());
    }
  }

 private:
  static void arrive(const Copy& copy);

  std::vector<Copy> open_;  // of no group yet
  std::vector<std::vector<Copy>> groups_;
};

}  // namespace tilewright
