// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/map_copies.h — the copies of tensor maps that an emulated block has
// under way.
//
// A copy arrives at once or when somebody waits for its word, whichever the seed says; both are
// legal moments. Until then its place holds a poison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright {

class MapCopies {
 public:
  struct Copy {
    void (*run)(const void* closure) = nullptr;
    std::byte* to = nullptr;
    std::uint32_t bytes = 0;
    void* word = nullptr;
    std::uint32_t line = 0;
    std::uint32_t thread = 0;
    std::vector<std::max_align_t> closure;
  };

  void clear() { under_way_.clear(); }
  void start(Copy copy, const void* closure, std::size_t closure_bytes);
  // Takes the oldest copy that tells this word; without a run: there is none.
  Copy take(const void* word);
  static void land(const Copy& copy) { copy.run(copy.closure.data()); }

 private:
  std::vector<Copy> under_way_;
};

}  // namespace tilewright
