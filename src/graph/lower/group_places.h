// SPDX-License-Identifier: Apache-2.0
// graph/lower/group_places.h — the arguments of a group's program, and where the elements of an
// operand are that it computes now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/formula.h"
#include "graph/layout.h"
#include "ir/builder.h"

namespace tilewright::graph {

// Whether an operand with such an access has strides among the arguments.
inline bool has_strides(Access access) {
  return access != Access::Dense && access != Access::PerRow;
}

class GroupPlaces {
 protected:
  using Value = ir::Value;

  GroupPlaces(const Formula& formula, const WalkClass& walk)
      : formula_(formula), walk_(walk), builder_(kernel_) {
    values_.resize(static_cast<std::size_t>(formula.first_step()) + formula.steps.size());
  }

  struct Operand {
    Value pointer;
    std::vector<Value> strides;  // of the outer dimensions, then of the innermost where Strided
    Value base;                  // the first element of the program's row, i64
  };
  // Where the elements are that are computed now.
  struct Place {
    Value first;            // in the innermost dimension, i64; none: 0
    Value lane;             // from there, i32
    Value inside;           // which of them there are; none: all
    std::vector<Value> at;  // Flat: the places in all dimensions
    Value step;             // Columns: the row
  };

  // ---- Arguments.
  Value integer_argument(const std::string& name);
  Value stride_argument(const std::string& name);
  void add_pointer(DType dtype, std::string name, bool is_const);
  void add_pointers(const std::string& ending);
  void add_numbers();
  void add_arguments();

  // ---- Integers.
  Value integer(std::int64_t value);
  Value add(Value a, Value b);
  Value multiply(Value a, Value b);
  void match(Value& a, Value& b);
  Value program();
  Value block_count();
  ir::Type tile_type() const;
  std::int64_t block() const;
  // Of the innermost dimension.
  Value length();
  // The program's elements, or those of a loop's turn, begin at `first` (none: 0) of `end`. Tiles
  // of places are 32 bits wide: a tile is short, however long the row is.
  void set_columns(Value first, Value end);
  // The place in the innermost dimension.
  Value column();
  // The places of a linear index in dimensions 0 .. count - 1.
  std::vector<Value> places_of(Value index, int count);
  // The first element of each operand's row, for a program at `row` of the first `count`
  // dimensions.
  void set_bases(Value row, int count);

  // ---- Elements.
  // The elements of an operand: at a pointer, and for each lane behind it; no lanes: one element.
  struct Elements {
    Value pointer;
    Value lanes;
  };
  Elements elements(std::size_t o);
  Value pointers(const Elements& place);

  const Formula& formula_;
  const WalkClass& walk_;
  ir::Kernel kernel_;
  ir::Builder builder_;
  std::vector<Operand> operands_;  // leaves, then outputs
  std::vector<Value> sizes_;
  std::vector<Value> values_;  // by number, as far as they are known at the present place
  Place place_;
};

}  // namespace tilewright::graph
