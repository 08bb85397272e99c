// SPDX-License-Identifier: Apache-2.0
// compiler/specialization_table.cpp — the writing side: at most half full, doubled when it is.
#include "compiler/specialization_table.h"

namespace tilewright {

// In turns. Two threads may remember the same one twice, which costs a comparison.
void SpecializationTable::remember(const KnownLaunch& found) const {
  const unsigned turn = remembered_.fetch_add(1, std::memory_order_relaxed);
  recent_[turn % recent_count].store(&found, std::memory_order_release);
}

void SpecializationTable::insert(Slots& slots, const KnownLaunch& entry) {
  std::size_t i = slots.first(entry.hash);
  while (slots.entries[i].load(std::memory_order_relaxed) != nullptr) i = slots.after(i);
  slots.entries[i].store(&entry, std::memory_order_release);
}

void SpecializationTable::grow(std::size_t size) {
  auto slots = std::make_unique<Slots>(size);
  for (const std::unique_ptr<const KnownLaunch>& entry : entries_) insert(*slots, *entry);
  all_.push_back(std::move(slots));
  current_.store(all_.back().get(), std::memory_order_release);
}

bool SpecializationTable::add(const LaunchKey& key, KnownLaunch known) {
  if (find(key) != nullptr) return true;
  if (entries_.size() >= max_keys) return false;
  if (2 * (entries_.size() + 1) > all_.back()->entries.size())
    grow(2 * all_.back()->entries.size());
  entries_.push_back(std::make_unique<const KnownLaunch>(std::move(known)));
  insert(*all_.back(), *entries_.back());
  return true;
}

}  // namespace tilewright
