// SPDX-License-Identifier: Apache-2.0
// compiler/specialization_table.h — from the key of a launch to what was compiled for it, read
// without a lock.
#pragma once

#include <atomic>
#include <bit>
#include <memory>
#include <vector>

#include "compiler/launch_key.h"

namespace tilewright {

struct Specialization;

// Readers see a whole table or the one before; writers hold the kernel's lock. Tables that were
// outgrown live as long as this one, since a reader may still be inside: together they are smaller
// than the last.
class SpecializationTable {
 public:
  SpecializationTable() { grow(16); }

  const Specialization* find(const LaunchKey& key) const {
    const Slots& slots = *current_.load(std::memory_order_acquire);
    for (std::size_t i = slots.first(key.hash());; i = slots.after(i)) {
      const Entry* found = slots.entries[i].load(std::memory_order_acquire);
      if (found == nullptr) return nullptr;
      if (found->is_of(key)) return found->value;
    }
  }

  // False when there are too many keys: the caller then goes the long way each time.
  bool add(const LaunchKey& key, const Specialization* value);
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t max_keys = 4096;

  struct Entry {
    std::uint64_t hash;
    std::vector<std::uint64_t> words;
    const Specialization* value;

    // Word by word: the key was written that way a moment ago, and wider loads would wait for it.
    bool is_of(const LaunchKey& key) const {
      const std::span<const std::uint64_t> others = key.words();
      if (hash != key.hash() || words.size() != others.size()) return false;
      for (std::size_t i = 0; i < others.size(); ++i)
        if (words[i] != others[i]) return false;
      return true;
    }
  };
  struct Slots {
    explicit Slots(std::size_t size)
        : shift(64 - std::countr_zero(size)), mask(size - 1), entries(size) {}
    // The upper bits of a sum of products depend on every word.
    std::size_t first(std::uint64_t hash) const { return hash >> shift; }
    std::size_t after(std::size_t i) const { return (i + 1) & mask; }

    int shift;
    std::size_t mask;
    std::vector<std::atomic<const Entry*>> entries;
  };

  void grow(std::size_t size);
  static void insert(Slots& slots, const Entry& entry);

  std::atomic<Slots*> current_{nullptr};
  std::vector<std::unique_ptr<Slots>> all_;
  std::vector<std::unique_ptr<const Entry>> entries_;
};

}  // namespace tilewright
