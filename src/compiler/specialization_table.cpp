// SPDX-License-Identifier: Apache-2.0
// compiler/specialization_table.cpp — the writing side: at most half full, doubled when it is.
#include "compiler/specialization_table.h"

namespace tilewright {

void SpecializationTable::insert(Slots& slots, const Hash128& key, const Specialization* value) {
  std::size_t i = key.low & slots.mask;
  while (slots.entries[i].value.load(std::memory_order_relaxed) != nullptr)
    i = (i + 1) & slots.mask;
  slots.entries[i].key = key;
  slots.entries[i].value.store(value, std::memory_order_release);
}

void SpecializationTable::grow(std::size_t size) {
  auto slots = std::make_unique<Slots>(size);
  if (!all_.empty())
    for (const Entry& entry : all_.back()->entries)
      if (const Specialization* value = entry.value.load(std::memory_order_relaxed))
        insert(*slots, entry.key, value);
  all_.push_back(std::move(slots));
  current_.store(all_.back().get(), std::memory_order_release);
}

bool SpecializationTable::add(const Hash128& key, const Specialization* value) {
  if (find(key) != nullptr) return true;
  if (count_ >= max_keys) return false;
  if (2 * (count_ + 1) > all_.back()->entries.size()) grow(2 * all_.back()->entries.size());
  insert(*all_.back(), key, value);
  ++count_;
  return true;
}

}  // namespace tilewright
