// SPDX-License-Identifier: Apache-2.0
// compiler/specialization_table.h — from the key of a launch to what was compiled for it, read
// without a lock.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/hash.h"

namespace tilewright {

struct Specialization;

// Readers see a whole table or the one before; writers hold the kernel's lock. Tables that were
// outgrown live as long as this one, since a reader may still be inside: together they are smaller
// than the last.
class SpecializationTable {
 public:
  SpecializationTable() { grow(16); }

  const Specialization* find(const Hash128& key) const {
    const Slots& slots = *current_.load(std::memory_order_acquire);
    for (std::size_t i = key.low & slots.mask;; i = (i + 1) & slots.mask) {
      const Specialization* found = slots.entries[i].value.load(std::memory_order_acquire);
      if (found == nullptr || slots.entries[i].key == key) return found;
    }
  }

  // False when there are too many keys: the caller then goes the long way each time.
  bool add(const Hash128& key, const Specialization* value);
  std::size_t size() const { return count_; }

 private:
  static constexpr std::size_t max_keys = 4096;

  struct Entry {
    Hash128 key;  // written before `value`
    std::atomic<const Specialization*> value{nullptr};
  };
  struct Slots {
    explicit Slots(std::size_t size) : mask(size - 1), entries(size) {}
    std::size_t mask;
    std::vector<Entry> entries;
  };

  void grow(std::size_t size);
  static void insert(Slots& slots, const Hash128& key, const Specialization* value);

  std::atomic<Slots*> current_{nullptr};
  std::vector<std::unique_ptr<Slots>> all_;
  std::size_t count_ = 0;
};

}  // namespace tilewright
