// SPDX-License-Identifier: Apache-2.0
// ir/check/taint.h — marks on elements whose value means nothing, carried from op to op.
//
// An element of a tile gets a mark where it is made: a masked-off element of a load without
// `other`, an integer that wrapped, a quotient by zero, a NaN or an infinity that came of numbers.
// Marks go along with what is computed of the element, and end where it does not matter: in the arm
// of a select that is not taken, behind a mask that is off, in a NaN that became a number again.
// What reaches a store, an address or a branch is a finding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/interpret/program.h"
#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

enum class Mark : std::uint8_t { MaskedOff, Wrapped, ZeroDivision, NotFinite };
inline constexpr int mark_count = 4;

// For each mark the number of the op that made it, 16 bits each; 0: none.
using Marks = std::uint64_t;

inline Marks marks_of(Mark mark, std::uint16_t origin) {
  return static_cast<Marks>(origin) << 16 * static_cast<int>(mark);
}
inline std::uint16_t origin_of(Marks marks, Mark mark) {
  return static_cast<std::uint16_t>(marks >> 16 * static_cast<int>(mark));
}
inline Marks without(Marks marks, Mark mark) { return marks & ~marks_of(mark, 0xffff); }
// All marks of both; where both have one, that of `a`.
inline Marks merged(Marks a, Marks b) {
  for (int k = 0; k < mark_count; ++k) {
    const Marks lane = Marks{0xffff} << 16 * k;
    if ((a & lane) == 0) a |= b & lane;
  }
  return a;
}

// The marks of a tile; empty: none has any.
using MarkTile = std::vector<Marks>;

class Taint {
 public:
  explicit Taint(const Kernel& kernel);

  void begin_program();
  bool is_clean(Value value) const { return marks_[value.id].empty(); }
  Marks at(Value value, std::size_t i) const {
    const MarkTile& tile = marks_[value.id];
    return tile.empty() ? 0 : tile[tile.size() == 1 ? 0 : i];
  }
  void set(Value value, MarkTile marks) { marks_[value.id] = std::move(marks); }
  void moves(std::span<const Value> to, std::span<const Value> from);

  // Numbers of ops, as marks hold them.
  std::uint16_t number_of(const Op& op) const;
  const Op& op_of(std::uint16_t number) const { return *ops_[number - 1u]; }

  // The marks of the op's results, from those of its operands and what the op does itself. Not of
  // ops that touch memory or have control flow.
  void follow(const Program& program, const Op& op);

 private:
  bool is_any_marked(const Op& op) const;
  void elementwise(const Program& program, const Op& op);
  void view(const Program& program, const Op& op);
  void across(const Program& program, const Op& op);
  void gather(const Program& program, const Op& op);
  void reduce(const Program& program, const Op& op);
  void scan(const Program& program, const Op& op);
  void dot(const Program& program, const Op& op);
  void all_of(const Program& program, const Op& op);
  Marks element_marks(const Program& program, const Op& op, std::size_t i) const;
  Tile as_tile(const Program& program, Value value) const;
  void set_from(Value value, const Tile& tile);
  // NaN and infinity: marked where they come of numbers, unmarked where numbers come of them.
  void note_not_finite(const Program& program, const Op& op);
  void note_wrapped(const Program& program, const Op& op);
  void note_zero_division(const Program& program, const Op& op);
  MarkTile& marks_for(const Program& program, Value value);

  std::vector<MarkTile> marks_;  // by value
  std::vector<const Op*> ops_;
  std::vector<std::uint16_t> number_by_result_;  // of the op that makes a value
};

}  // namespace tilewright::ir
