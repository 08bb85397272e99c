// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/map_stores.cpp — bytes that are read now and written later.
#include "codegen/device_lib/emulate/map_stores.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tilewright {

void MapStoreQueue::start(Store store, const void* closure, std::size_t closure_bytes) {
  store.closure.resize((closure_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  std::memcpy(store.closure.data(), closure, closure_bytes);
  store.at_start.assign(store.from, store.from + store.bytes);
  under_way_.push_back(std::move(store));
}

void MapStoreQueue::land() {
  for (const Store& store : under_way_)
    if (store.is_read) store.run(store.closure.data(), store.at_start.data());
  std::erase_if(under_way_, [](const Store& store) { return store.is_read; });
}

bool MapStoreQueue::is_all_read() const {
  return std::all_of(under_way_.begin(), under_way_.end(),
                     [](const Store& store) { return store.is_read; });
}

}  // namespace tilewright
