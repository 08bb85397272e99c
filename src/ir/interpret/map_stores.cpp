// SPDX-License-Identifier: Apache-2.0
// ir/interpret/map_stores.cpp — stores by tensor maps that are under way.
#include "ir/interpret/map_stores.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tilewright::ir {

std::string MapStores::start(Store store, const std::vector<Element>& elements) {
  for (std::size_t i = 0; i < store.addresses.size(); ++i) {
    const auto [at, is_new] = written_.try_emplace(store.addresses[i], elements[i], store.adds);
    if (is_new || (at->second.adds && store.adds)) continue;
    if (at->second.adds || store.adds || at->second.element.i != elements[i].i)
      return "memory that another store is under way to, which nobody has waited for";
  }
  under_way_.push_back(std::move(store));
  return "";
}

std::string MapStores::write_problem(std::size_t first, std::size_t end) const {
  for (const Store& store : under_way_)
    if (!store.is_read && first < store.end && store.first < end)
      return fmt::format("what a store of thread {} reads, which it has not waited for",
                         store.thread);
  return "";
}

std::string MapStores::end_problem() const {
  const bool all_read = std::all_of(under_way_.begin(), under_way_.end(),
                                    [](const Store& store) { return store.is_read; });
  return all_read ? "" : "the program ends before what it stores by a tensor map has been read";
}

std::vector<MapStores::Store> MapStores::wait(std::int64_t thread, bool in_memory) {
  std::vector<Store> read;
  for (Store& store : under_way_) {
    if (store.thread != thread) continue;
    if (!std::exchange(store.is_read, true)) read.push_back(store);
    if (in_memory)
      for (const std::int64_t address : store.addresses) written_.erase(address);
  }
  if (in_memory)
    std::erase_if(under_way_, [&](const Store& store) { return store.thread == thread; });
  return read;
}

}  // namespace tilewright::ir
