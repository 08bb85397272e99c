// SPDX-License-Identifier: Apache-2.0
// graph/lower/group.cpp — the program of each mode: its values, and which loops it has.
#include "graph/lower/group.h"

#include <fmt/format.h>

#include "base/check.h"
#include "graph/lower/emit.h"
#include "graph/lower/group_places.h"
#include "graph/lower/outside.h"
#include "ir/builder.h"

namespace tilewright::graph {
namespace {

using Kind = ir::OpKind;
using ir::Value;

// Only programs that reduce a row look behind its end.
Outside outside_of(const Formula& formula, const WalkClass& walk) {
  std::vector<bool> is_masked(formula.leaves.size(), false);
  if (walk.mode == Mode::Whole || walk.mode == Mode::Looped)
    for (std::size_t o = 0; o < is_masked.size(); ++o)
      is_masked[o] = walk.access[o] != Access::Repeated && walk.access[o] != Access::PerRow;
  return values_outside(formula, is_masked);
}

class GroupLowering : GroupPlaces {
 public:
  GroupLowering(const Formula& formula, const WalkClass& walk)
      : GroupPlaces(formula, walk), outside_(outside_of(formula, walk)) {
    kernel_.name = formula.name;
    kernel_.stage = ir::Stage::Source;
  }

  ir::Kernel run() {
    add_arguments();
    switch (walk_.mode) {
      case Mode::Linear:
      case Mode::Flat:
        lower_blocks(program());
        break;
      case Mode::Rows:
        lower_rows();
        break;
      case Mode::Whole:
        lower_whole();
        break;
      case Mode::Looped:
      case Mode::Columns:
        lower_looped();
        break;
    }
    return std::move(kernel_);
  }

  ir::Kernel run_lists(int count) {
    std::vector<std::vector<Operand>> lists;
    for (int list = 0; list < count; ++list) {
      operands_.clear();
      add_pointers(fmt::format("_{}", list));
      lists.push_back(operands_);
    }
    add_numbers();
    std::vector<Value> sizes;
    for (int list = 0; list < count; ++list) {
      sizes.push_back(integer_argument(fmt::format("n_{}", list)));
      if (walk_.is_aligned) kernel_.arguments.back().divisible = 16;
    }
    lower_list(lists, sizes, 0, program());
    return std::move(kernel_);
  }

 private:
  // ---- Values.

  Value load(std::size_t leaf) {
    const Elements place = elements(leaf);
    const DType dtype = formula_.leaves[leaf].dtype;
    if (formula_.leaves[leaf].is_place) {
      if (!place.lanes) return place.pointer;
      const Value lanes = builder_.cast(place.lanes, i64);
      return add(builder_.splat(place.pointer, builder_.type(lanes)), lanes);
    }
    if (!place.lanes) return builder_.cast(builder_.load(place.pointer), compute_dtype(dtype));
    Value other;
    if (place_.inside && outside_.values[leaf])
      other = builder_.constant(tile_type().with_element(dtype), *outside_.values[leaf]);
    return builder_.cast(builder_.load(pointers(place), place_.inside, other),
                         compute_dtype(dtype));
  }

  Value full(Value value) {
    return builder_.type(value).is_scalar() ? builder_.splat(value, tile_type()) : value;
  }

  const Step& step_of(int value) const {
    return formula_.steps[static_cast<std::size_t>(value - formula_.first_step())];
  }

  // The value at the present place.
  Value value(int number) {
    Value& known = values_[static_cast<std::size_t>(number)];
    if (known) return known;
    Value made;
    if (number < formula_.first_number()) made = load(static_cast<std::size_t>(number));
    else made = step(step_of(number));
    if (is_in_loop_) local_.push_back(number);
    return values_[static_cast<std::size_t>(number)] = made;
  }

  Value step(const Step& step) {
    if (step.op == Op::RowIndex) return walk_.mode == Mode::Columns ? place_.step : column();
    if (facts_of(step.op).op_class == OpClass::Reduce) {
      TW_CHECK(walk_.mode == Mode::Whole, "a reduction is needed before its loop");
      return reduced_row(step);
    }
    std::vector<Value> in;
    bool is_tile = false;
    for (int i = 0; i < facts_of(step.op).operands; ++i) {
      in.push_back(value(step.operands[static_cast<std::size_t>(i)]));
      is_tile |= builder_.type(in.back()).is_tile();
    }
    if (is_tile)
      for (Value& operand : in) operand = full(operand);
    return emit_pointwise(builder_, step, std::move(in));
  }

  // What the elements at the present place give; neutral outside of the row.
  std::vector<Value> partial(const Step& step) {
    const Value operand = full(value(step.operands[0]));
    const bool keeps_place = step.op == Op::ArgMax || step.op == Op::ArgMin;
    Value place;
    if (keeps_place) place = full(walk_.mode == Mode::Columns ? place_.step : column());
    std::vector<Value> made = emit_partial(builder_, step, operand, place);
    if (walk_.mode == Mode::Columns) return made;  // columns that are not there are not stored
    if (!place_.inside || outside_.is_neutral(formula_, step)) return made;
    const std::vector<Value> neutral = emit_neutral(builder_, step, tile_type());
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = builder_.select(place_.inside, made[i], neutral[i]);
    return made;
  }

  Value reduced_row(const Step& step) {
    const std::vector<Value> results = emit_reduced(builder_, step, partial(step));
    return finished(step, emit_result(step, results));
  }
  Value finished(const Step& step, Value result) {
    return builder_.cast(result, compute_dtype(step.dtype));
  }

  void store(std::size_t number) {
    const Output& output = formula_.outputs[number];
    const std::size_t o = formula_.leaves.size() + number;
    Value stored = builder_.cast(value(output.value), output.dtype);
    Elements place = elements(o);
    // Rows of one element, the first of the tile.
    if (builder_.type(stored).is_tile() && !place.lanes) place.lanes = place_.lane;
    if (!place.lanes) return builder_.store(place.pointer, stored);
    if (builder_.type(stored).is_scalar())
      stored = builder_.splat(stored, builder_.type(place.lanes));
    builder_.store(pointers(place), stored, place_.inside);
  }

  // ---- Programs.

  void store_all() {
    for (std::size_t i = 0; i < formula_.outputs.size(); ++i) store(i);
  }

  // Nested branches: the program's block is in this list, or in one of those behind it.
  void lower_list(const std::vector<std::vector<Operand>>& lists, const std::vector<Value>& sizes,
                  std::size_t list, Value number) {
    const auto lower_here = [&] {
      operands_ = lists[list];
      sizes_ = {sizes[list]};
      for (std::size_t value = 0; value < values_.size(); ++value) {
        const bool is_number = value >= static_cast<std::size_t>(formula_.first_number()) &&
                               value < static_cast<std::size_t>(formula_.first_step());
        if (!is_number) values_[value] = {};
      }
      lower_blocks(number);
    };
    if (list + 1 == lists.size()) return lower_here();
    sizes_ = {sizes[list]};
    const Value blocks = block_count();
    ir::Op* op = builder_.create(Kind::If, {builder_.compare("lt", number, blocks)},
                                 std::vector<ir::Type>());
    op->regions.resize(2);
    {
      const ir::Builder::Into into(builder_, op->regions[0]);
      lower_here();
      builder_.yield({});
    }
    const ir::Builder::Into into(builder_, op->regions[1]);
    lower_list(lists, sizes, list + 1, builder_.binary(Kind::Subtract, number, blocks));
    builder_.yield({});
  }

  void lower_blocks(Value number) {
    Value end = sizes_[0];
    for (std::size_t d = 1; d < sizes_.size(); ++d) end = multiply(end, sizes_[d]);
    set_columns(multiply(number, integer(block())), end);
    if (walk_.mode == Mode::Flat) place_.at = places_of(column(), walk_.rank);
    store_all();
  }

  void lower_rows() {
    const Value blocks = block_count();
    const Value row = builder_.binary(Kind::Divide, program(), blocks);
    const Value number = builder_.binary(Kind::Remainder, program(), blocks);
    set_bases(row, walk_.rank - 1);
    set_columns(multiply(number, integer(block())), sizes_.back());
    store_all();
  }

  void lower_whole() {
    set_bases(program(), walk_.rank - 1);
    set_columns({}, length());
    store_all();
  }

  // Looped: the place of a slice of the row that begins at `first`. Columns: row `first`.
  void enter(Value first) {
    if (walk_.mode == Mode::Columns) {
      place_.step = first;
      return;
    }
    set_columns(first, sizes_.back());
  }

  void forget_local() {
    for (const int number : local_) values_[static_cast<std::size_t>(number)] = {};
    local_.clear();
  }

  // Makes a loop over [begin, end) of the row whose body carries `initial` on to what `body` gives,
  // `rows` times in a turn of Columns.
  template <class Body>
  std::vector<Value> loop_over(Value begin, Value end, int rows, const std::vector<Value>& initial,
                               const Body& body) {
    const std::int64_t step = walk_.mode == Mode::Columns ? rows : block();
    std::vector<Value> operands = {begin, end, integer(step)};
    operands.insert(operands.end(), initial.begin(), initial.end());
    std::vector<ir::Type> types;
    for (const Value v : initial) types.push_back(builder_.type(v));
    ir::Op* op = builder_.create(Kind::For, std::move(operands), types);
    ir::Region& region = op->regions.emplace_back();
    region.arguments.push_back(kernel_.make_value(ir::Type::scalar(i64), "first", nullptr));
    for (const ir::Type& type : types)
      region.arguments.push_back(kernel_.make_value(type, "", nullptr));
    const Place outside = place_;
    {
      const ir::Builder::Into into(builder_, region);
      is_in_loop_ = true;
      const Value first = region.arguments[0];
      std::vector<Value> carried(region.arguments.begin() + 1, region.arguments.end());
      for (int row = 0; row < rows; ++row) {
        enter(row == 0 ? first : add(first, integer(row)));
        carried = body(carried);
        forget_local();
      }
      builder_.yield(carried);
    }
    is_in_loop_ = false;
    place_ = outside;
    return op->results;
  }

  // Over the whole row. What carries nothing stores: one row after the other.
  template <class Body>
  std::vector<Value> loop(std::vector<Value> initial, const Body& body) {
    const bool is_columns = walk_.mode == Mode::Columns;
    const Value end = is_columns ? sizes_[static_cast<std::size_t>(walk_.rank - 2)] : sizes_.back();
    Value begin = integer(0);
    if (const int rows = 1 << walk_.log_rows; rows > 1 && !initial.empty()) {
      const Value rest = builder_.binary(Kind::Remainder, end, integer(rows));
      const Value middle = builder_.binary(Kind::Subtract, end, rest);
      initial = loop_over(begin, middle, rows, initial, body);
      begin = middle;
    }
    return loop_over(begin, end, 1, initial, body);
  }

  // Reductions whose operands need no other reduction that is not there yet share a loop.
  bool is_ready(int number) const {
    if (values_[static_cast<std::size_t>(number)] || number < formula_.first_step()) return true;
    const Step& s = step_of(number);
    if (facts_of(s.op).op_class == OpClass::Reduce) return false;
    for (int i = 0; i < facts_of(s.op).operands; ++i)
      if (!is_ready(s.operands[static_cast<std::size_t>(i)])) return false;
    return true;
  }

  bool reduce_what_is_ready() {
    std::vector<int> ready;
    for (std::size_t i = 0; i < formula_.steps.size(); ++i) {
      const int number = formula_.first_step() + static_cast<int>(i);
      const Step& s = formula_.steps[i];
      const bool is_due = facts_of(s.op).op_class == OpClass::Reduce &&
                          !values_[static_cast<std::size_t>(number)] && is_ready(s.operands[0]);
      if (is_due) ready.push_back(number);
    }
    if (ready.empty()) return false;
    reduce_in_loop(ready);
    return true;
  }

  void reduce_in_loop(const std::vector<int>& ready) {
    std::vector<Value> initial;
    for (const int number : ready)
      for (const Value v : emit_neutral(builder_, step_of(number), tile_type()))
        initial.push_back(v);
    const std::vector<Value> totals = loop(initial, [&](std::span<const Value> carried) {
      std::vector<Value> next;
      for (const int number : ready) {
        const std::vector<Value> parts = partial(step_of(number));
        const auto before = carried.subspan(next.size(), parts.size());
        for (const Value v : emit_combined(builder_, step_of(number), before, parts))
          next.push_back(v);
      }
      return next;
    });
    std::size_t at = 0;
    for (const int number : ready) {
      const Step& s = step_of(number);
      const std::size_t count = s.op == Op::ArgMax || s.op == Op::ArgMin ? 2 : 1;
      std::vector<Value> parts(totals.begin() + static_cast<std::ptrdiff_t>(at),
                               totals.begin() + static_cast<std::ptrdiff_t>(at + count));
      at += count;
      if (walk_.mode == Mode::Looped) parts = emit_reduced(builder_, s, parts);
      values_[static_cast<std::size_t>(number)] = finished(s, emit_result(s, parts));
    }
  }

  void lower_looped() {
    if (walk_.mode == Mode::Columns) {
      const Value blocks = block_count();
      const Value row = builder_.binary(Kind::Divide, program(), blocks);
      const Value number = builder_.binary(Kind::Remainder, program(), blocks);
      set_bases(row, walk_.rank - 2);
      set_columns(multiply(number, integer(block())), sizes_.back());
    } else {
      set_bases(program(), walk_.rank - 1);
    }
    while (reduce_what_is_ready()) {
    }
    bool is_any_full = false;
    for (std::size_t i = 0; i < formula_.outputs.size(); ++i) {
      if (formula_.outputs[i].is_per_row) store(i);
      else is_any_full = true;
    }
    if (!is_any_full) return;
    loop({}, [&](std::span<const Value>) {
      for (std::size_t i = 0; i < formula_.outputs.size(); ++i)
        if (!formula_.outputs[i].is_per_row) store(i);
      return std::vector<Value>();
    });
  }

  const Outside outside_;
  std::vector<int> local_;  // values that the present loop made
  bool is_in_loop_ = false;
};

}  // namespace

ir::Kernel lower_group(const Formula& formula, const WalkClass& walk) {
  return GroupLowering(formula, walk).run();
}

ir::Kernel lower_lists(const Formula& formula, const WalkClass& walk, int lists) {
  return GroupLowering(formula, walk).run_lists(lists);
}

int walk_arguments(const Walk& walk, std::int64_t* out) {
  int count = 0;
  for (int d = 0; d < walk.rank; ++d) out[count++] = walk.sizes[d];
  for (int o = 0; o < walk.operands; ++o) {
    if (!has_strides(walk.access[o])) continue;
    for (int d = 0; d + 1 < walk.rank; ++d) out[count++] = walk.strides[o][d];
    if (walk.access[o] == Access::Strided || walk.mode == Mode::Flat)
      out[count++] = walk.strides[o][walk.rank - 1];
  }
  return count;
}

}  // namespace tilewright::graph
