// SPDX-License-Identifier: Apache-2.0
// ir/interpret/map_stores.h — stores by tensor maps that are under way, and what nobody may touch
// until they are waited for.
//
// A store may read shared memory until somebody has waited for that, and write memory until
// somebody has waited for that: both are done at once here, and who would notice that they come
// later is reported.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

class MapStores {
 public:
  struct Store {
    std::int64_t thread = 0;
    std::size_t first = 0, end = 0;  // of the bytes of shared memory that it reads
    bool adds = false;
    bool is_read = false;
    std::vector<std::int64_t> addresses = {};  // that it writes
  };

  // These give what is wrong, or nothing.
  std::string start(Store store, const std::vector<Element>& elements);
  // Of bytes of shared memory that anybody writes.
  std::string write_problem(std::size_t first, std::size_t end) const;
  std::string end_problem() const;
  // The stores of the thread that are read by now; those that are in memory are under way no more.
  std::vector<Store> wait(std::int64_t thread, bool in_memory);

 private:
  struct Written {
    Element element;
    bool adds = false;
  };
  std::vector<Store> under_way_;
  std::unordered_map<std::int64_t, Written> written_;  // by address
};

}  // namespace tilewright::ir
