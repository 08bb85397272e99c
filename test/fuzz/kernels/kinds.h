// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/kinds.h — what a generated kernel may contain, by name.
#pragma once

#include <bitset>
#include <string>
#include <string_view>

namespace tilewright::fuzz {

enum class Kind : std::uint8_t {
  AliasedArguments,  // two arguments into one memory
  CarriedPointers,   // advanced and exchanged by loops
  SelectedPointers,  // by if and where
  CastPointers,      // through integers
  GatheredPointers,  // through indices from memory, and tiles of pointers that loops carry
  Stores,            // to memory that is read too
  Atomics,           // on it
  Loops,
  Whiles,
  Branches,
  Stages,  // tl.range(num_stages=...)
  Ties,    // results of argmax that depend on the order, as conditions
  Reductions,
  Scans,
  Sorts,
  Gathers,
  Products,
  Histograms,
  Moves,  // transposes, reshapes, splits and joins
  Matrices,
  SmallTypes,
  Floats,
  Programs,   // more than one
  Exchanges,  // of tiles: x, y = y, x
  LongRows,   // of floats, at the end (long_rows.cpp)
};
inline constexpr int kind_count = static_cast<int>(Kind::LongRows) + 1;

class Kinds {
 public:
  static Kinds all() {
    Kinds kinds;
    kinds.bits_.set();
    return kinds;
  }
  bool has(Kind kind) const { return bits_.test(static_cast<std::size_t>(kind)); }
  void set(Kind kind, bool value = true) { bits_.set(static_cast<std::size_t>(kind), value); }

 private:
  std::bitset<kind_count> bits_;
};

std::string_view name_of(Kind kind);  // "carried_pointers"
// "loops,sorts"; throws std::invalid_argument with the names that there are.
Kinds parse_kinds(const std::string& names);

}  // namespace tilewright::fuzz
