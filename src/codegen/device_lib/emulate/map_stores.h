// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/map_stores.h — the stores by tensor maps that one emulated thread has
// under way.
//
// A store reads shared memory when it starts or when it is waited for, and writes memory when it
// has read or later, when that is waited for or the thread ends: the seed says which, and all are
// legal moments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright {

class MapStoreQueue {
 public:
  struct Store {
    void (*run)(const void* closure, const unsigned char* read) = nullptr;
    const unsigned char* from = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t line = 0;
    std::vector<std::max_align_t> closure = {};
    std::vector<unsigned char> at_start = {};  // what was there
    bool is_read = false;
  };

  void clear() { under_way_.clear(); }
  void start(Store store, const void* closure, std::size_t closure_bytes);
  std::vector<Store>& under_way() { return under_way_; }
  // Those that have been read come to memory.
  void land();
  bool is_all_read() const;

 private:
  std::vector<Store> under_way_;
};

}  // namespace tilewright
