// SPDX-License-Identifier: Apache-2.0
// compiler/specialization_table.h — from the key of a launch to what was compiled for it, read
// without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <vector>

#include "compiler/known_launch.h"

namespace tilewright {

// Readers see a whole table or the one before; writers hold the kernel's lock. Tables that were
// outgrown live as long as this one, since a reader may still be inside: together they are smaller
// than the last.
class SpecializationTable {
 public:
  SpecializationTable() { grow(16); }

  const Specialization* find(const LaunchKey& key) const {
    const Slots& slots = *current_.load(std::memory_order_acquire);
    for (std::size_t i = slots.first(key.hash());; i = slots.after(i)) {
      const KnownLaunch* found = slots.entries[i].load(std::memory_order_acquire);
      if (found == nullptr) return nullptr;
      if (!found->is_of(key)) continue;
      remember(*found);
      return found->value;
    }
  }
  // What was found lately, by any thread; null before.
  static constexpr std::size_t recent_count = 4;
  const KnownLaunch* recent(std::size_t i) const {
    return recent_[i].load(std::memory_order_acquire);
  }

  // False when there are too many keys: the caller then goes the long way each time.
  bool add(const LaunchKey& key, KnownLaunch known);
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t max_keys = 4096;

  struct Slots {
    explicit Slots(std::size_t size)
        : shift(64 - std::countr_zero(size)), mask(size - 1), entries(size) {}
    std::size_t first(std::uint64_t hash) const { return hash >> shift; }
    std::size_t after(std::size_t i) const { return (i + 1) & mask; }

    int shift;
    std::size_t mask;
    std::vector<std::atomic<const KnownLaunch*>> entries;
  };

  void remember(const KnownLaunch& found) const;
  void grow(std::size_t size);
  static void insert(Slots& slots, const KnownLaunch& entry);

  std::atomic<Slots*> current_{nullptr};
  mutable std::array<std::atomic<const KnownLaunch*>, recent_count> recent_{};
  mutable std::atomic<unsigned> remembered_{0};
  std::vector<std::unique_ptr<Slots>> all_;
  std::vector<std::unique_ptr<const KnownLaunch>> entries_;
};

}  // namespace tilewright
