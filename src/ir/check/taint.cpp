// SPDX-License-Identifier: Apache-2.0
// ir/check/taint.cpp — how marks go through each kind of op.
#include "ir/check/taint.h"

#include <algorithm>
#include <cmath>

#include "ir/interpret/shapes.h"

namespace tilewright::ir {
namespace {

bool is_not_finite(double value) { return !(std::fabs(value) <= 1.7976931348623157e308); }

bool has_any(const MarkTile& marks) {
  return std::any_of(marks.begin(), marks.end(), [](Marks each) { return each != 0; });
}

// Results that a remainder, a mask of bits or a comparison has brought back into bounds: whoever
// wraps on purpose (a hash) does that.
bool bounds_integers(const Op& op) {
  return op.kind == OpKind::Remainder ||
         !(op.facts().integers == IntegerUse::HandsOn || op.facts().integers == IntegerUse::Index);
}

bool has_wrapped(const Op& op, DType dtype, std::int64_t a, std::int64_t b, std::int64_t result) {
  std::int64_t exact = 0;
  const bool is_beyond = op.kind == OpKind::Add        ? __builtin_add_overflow(a, b, &exact)
                         : op.kind == OpKind::Subtract ? __builtin_sub_overflow(a, b, &exact)
                                                       : __builtin_mul_overflow(a, b, &exact);
  return is_beyond || (dtype != DType::Int64 && exact != result);
}

// Ops that compute, and do not only move or choose, make NaN and infinity.
bool can_begin_at(const Op& op) {
  if (op.facts().has(Combines) || op.kind == OpKind::Dot) return true;
  return op.facts().is(Family::Elementwise) && (op.facts().has(Inexact) || op.kind == OpKind::Cast);
}

// What an op was given.
struct Taken {
  bool not_finite = false;
  bool nan = false;
  void add(double value) {
    not_finite |= is_not_finite(value);
    nan |= std::isnan(value);
  }
};

Taken taken_at(const Program& program, const Op& op, std::size_t i) {
  Taken taken;
  for (const Value operand : op.operands)
    if (program.kernel().type(operand).is_float()) taken.add(program.value(operand).at(i).f);
  return taken;
}

Taken taken_everywhere(const Program& program, const Op& op) {
  Taken taken;
  for (const Value operand : op.operands)
    if (program.kernel().type(operand).is_float())
      for (const Element element : program.value(operand).elements) taken.add(element.f);
  return taken;
}

}  // namespace

Taint::Taint(const Kernel& kernel)
    : marks_(kernel.value_count()), number_by_result_(kernel.value_count()) {
  walk(kernel.body, [&](const Op& op) {
    if (ops_.size() >= 0xfffe) return;
    ops_.push_back(&op);
    for (const Value result : op.results)
      number_by_result_[result.id] = static_cast<std::uint16_t>(ops_.size());
  });
}

void Taint::begin_program() {
  for (MarkTile& marks : marks_) marks.clear();
}

std::uint16_t Taint::number_of(const Op& op) const {
  return op.results.empty() ? 0 : number_by_result_[op.result().id];
}

void Taint::moves(std::span<const Value> to, std::span<const Value> from) {
  const bool all_clean =
      std::all_of(from.begin(), from.end(), [&](Value value) { return is_clean(value); });
  if (all_clean) {
    for (const Value value : to) marks_[value.id].clear();
    return;
  }
  std::vector<MarkTile> moved;
  for (const Value value : from) moved.push_back(marks_[value.id]);
  for (std::size_t i = 0; i < to.size(); ++i) marks_[to[i].id] = std::move(moved[i]);
}

bool Taint::is_any_marked(const Op& op) const {
  return std::any_of(op.operands.begin(), op.operands.end(),
                     [&](Value value) { return !is_clean(value); });
}

MarkTile& Taint::marks_for(const Program& program, Value value) {
  MarkTile& marks = marks_[value.id];
  if (marks.empty()) marks.assign(program.value(value).size(), 0);
  return marks;
}

Tile Taint::as_tile(const Program& program, Value value) const {
  const Tile& like = program.value(value);
  Tile tile{like.type, std::vector<Element>(like.size())};
  for (std::size_t i = 0; i < like.size(); ++i)
    tile.elements[i].i = static_cast<std::int64_t>(at(value, i));
  return tile;
}

void Taint::set_from(Value value, const Tile& tile) {
  MarkTile marks(tile.size());
  for (std::size_t i = 0; i < tile.size(); ++i) marks[i] = static_cast<Marks>(tile.elements[i].i);
  if (!has_any(marks)) marks.clear();
  set(value, std::move(marks));
}

void Taint::follow(const Program& program, const Op& op) {
  if (!is_any_marked(op)) {
    for (const Value result : op.results) marks_[result.id].clear();
  } else if (op.facts().has(Elementwise)) {
    elementwise(program, op);
  } else {
    if (op.facts().is(Family::Reduction)) reduce(program, op);
    else if (op.facts().is(Family::Across)) across(program, op);
    else if (op.facts().is(Family::View)) view(program, op);
    else all_of(program, op);
  }
  if (op.results.empty()) return;
  const Type& type = program.kernel().type(op.result());
  if (type.is_float()) note_not_finite(program, op);
  else if (type.is_int() && is_signed(type.dtype)) note_wrapped(program, op);
  if (type.is_int()) note_zero_division(program, op);
}

Marks Taint::element_marks(const Program& program, const Op& op, std::size_t i) const {
  const auto value = [&](std::size_t k) { return program.value(op.operands[k]).at(i); };
  const auto mark = [&](std::size_t k) { return at(op.operands[k], i); };
  if (op.kind == OpKind::Select) return merged(mark(0), value(0).i ? mark(1) : mark(2));
  const bool is_or = op.kind == OpKind::Or && program.kernel().type(op.result()).is_bool();
  const auto decides = [&](std::size_t k) { return mark(k) == 0 && (value(k).i != 0) == is_or; };
  if ((op.kind == OpKind::And || is_or) && (decides(0) || decides(1))) return 0;
  Marks marks = 0;
  for (std::size_t k = 0; k < op.operands.size(); ++k) marks = merged(marks, mark(k));
  return marks;
}

void Taint::elementwise(const Program& program, const Op& op) {
  const Type& type = program.kernel().type(op.result());
  MarkTile marks(program.value(op.result()).size());
  const bool drops_wrapped = bounds_integers(op) || type.is_float();
  for (std::size_t i = 0; i < marks.size(); ++i) {
    marks[i] = element_marks(program, op, i);
    if (drops_wrapped) marks[i] = without(marks[i], Mark::Wrapped);
    if (!type.is_float()) marks[i] = without(marks[i], Mark::NotFinite);
  }
  if (!has_any(marks)) marks.clear();
  set(op.result(), std::move(marks));
}

// The marks move as the elements do.
void Taint::view(const Program& program, const Op& op) {
  const Type& type = program.kernel().type(op.result());
  const auto marks = [&](std::size_t k) { return as_tile(program, op.operands[k]); };
  switch (view_op(op.kind)) {
    case ViewOp::Splat:
      return set(op.result(),
                 MarkTile(static_cast<std::size_t>(type.numel()), at(op.operands[0], 0)));
    case ViewOp::Broadcast:
      return set_from(op.result(), broadcast_tile(marks(0), type));
    case ViewOp::Reshape:
      return set(op.result(), marks_[op.operands[0].id]);
    case ViewOp::Permute:
      return set_from(op.result(), permute_tile(marks(0), op.integers("order"), type));
    case ViewOp::Join:
      return set_from(op.result(), join_tiles(marks(0), marks(1), type));
    case ViewOp::Split:
      set_from(op.results[0], split_tile(marks(0), 0, type));
      return set_from(op.results[1], split_tile(marks(0), 1, type));
    case ViewOp::Affine:
    case ViewOp::Bounds:
    case ViewOp::Hint:
      return all_of(program, op);
  }
}

void Taint::across(const Program& program, const Op& op) {
  switch (across_op(op.kind)) {
    case AcrossOp::Scan:
      return scan(program, op);
    case AcrossOp::Dot:
      return dot(program, op);
    case AcrossOp::Concatenate: {
      const auto marks = [&](std::size_t k) { return as_tile(program, op.operands[k]); };
      return set_from(op.result(), concatenate_tiles(marks(0), marks(1), op.integer("axis"),
                                                     program.kernel().type(op.result())));
    }
    case AcrossOp::Gather:
      return gather(program, op);
    case AcrossOp::ReadBuffer:
    case AcrossOp::Sort:
    case AcrossOp::Histogram:
    case AcrossOp::Print:
    case AcrossOp::StoreMap:
      return all_of(program, op);
  }
}

void Taint::gather(const Program& program, const Op& op) {
  bool is_outside = false;
  Tile taken = gather_tile(as_tile(program, op.operands[0]), program.value(op.operands[1]),
                           op.integer("axis"), program.kernel().type(op.result()), &is_outside);
  for (std::size_t i = 0; i < taken.size(); ++i)
    taken.elements[i].i = static_cast<std::int64_t>(
        merged(static_cast<Marks>(taken.elements[i].i), at(op.operands[1], i)));
  set_from(op.result(), taken);
}

void Taint::reduce(const Program& program, const Op& op) {
  const AxisView view(program.kernel().type(op.operands[0]), op.integer("axis"));
  const std::int64_t parts = op.integer("parts", 1);
  MarkTile marks(program.value(op.result()).size());
  for (const Value operand : op.operands)
    for (std::int64_t o = 0; o < view.outer; ++o)
      for (std::int64_t k = 0; k < view.length; ++k)
        for (std::int64_t i = 0; i < view.inner; ++i) {
          Marks& to =
              marks[static_cast<std::size_t>((o * parts + k % parts) * view.inner + i)];
          to = merged(to, at(operand, view.index(o, k, i)));
        }
  for (const Value result : op.results) set(result, marks);
}

void Taint::scan(const Program& program, const Op& op) {
  const AxisView view(program.kernel().type(op.operands[0]), op.integer("axis"));
  const bool is_reverse = op.integer("reverse") != 0;
  MarkTile marks(program.value(op.result()).size());
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      Marks so_far = 0;
      for (std::int64_t step = 0; step < view.length; ++step) {
        const std::size_t at_step = view.index(o, is_reverse ? view.length - 1 - step : step, i);
        for (const Value operand : op.operands) so_far = merged(so_far, at(operand, at_step));
        marks[at_step] = so_far;
      }
    }
  for (const Value result : op.results) set(result, marks);
}

void Taint::dot(const Program& program, const Op& op) {
  const Type& a = program.kernel().type(op.operands[0]);
  const Type& b = program.kernel().type(op.operands[1]);
  const std::int64_t rows = a.size(a.rank - 2), depth = a.size(a.rank - 1),
                     columns = b.size(b.rank - 1);
  const std::int64_t batches = a.numel() / (rows * depth);
  MarkTile marks(program.value(op.result()).size());
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    MarkTile by_row(static_cast<std::size_t>(rows)), by_column(static_cast<std::size_t>(columns));
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t m = 0; m < rows; ++m) {
        Marks& to = by_row[static_cast<std::size_t>(m)];
        to = merged(to,
                    at(op.operands[0], static_cast<std::size_t>((batch * rows + m) * depth + k)));
      }
      for (std::int64_t n = 0; n < columns; ++n) {
        Marks& to = by_column[static_cast<std::size_t>(n)];
        to = merged(
            to, at(op.operands[1], static_cast<std::size_t>((batch * depth + k) * columns + n)));
      }
    }
    for (std::int64_t m = 0; m < rows; ++m)
      for (std::int64_t n = 0; n < columns; ++n) {
        const auto i = static_cast<std::size_t>((batch * rows + m) * columns + n);
        marks[i] = merged(
            merged(by_row[static_cast<std::size_t>(m)], by_column[static_cast<std::size_t>(n)]),
            at(op.operands[2], i));
      }
  }
  set(op.result(), std::move(marks));
}

// Every element may come of every other.
void Taint::all_of(const Program& program, const Op& op) {
  Marks marks = 0;
  for (const Value operand : op.operands)
    for (const Marks each : marks_[operand.id]) marks = merged(marks, each);
  for (const Value result : op.results) {
    const std::size_t size = program.value(result).size();
    set(result, marks == 0 ? MarkTile() : MarkTile(size, marks));
  }
}

void Taint::note_not_finite(const Program& program, const Op& op) {
  for (const Value result : op.results) {
    const Tile& tile = program.value(result);
    if (!tile.type.is_float()) continue;
    bool has_one = false;
    for (const Element element : tile.elements) has_one |= is_not_finite(element.f);
    MarkTile& marks = marks_[result.id];
    if (!has_one) {
      for (Marks& each : marks) each = without(each, Mark::NotFinite);
      continue;
    }
    const bool is_elementwise = op.facts().has(Elementwise);
    Taken taken = is_elementwise ? Taken{} : taken_everywhere(program, op);
    for (std::size_t i = 0; i < tile.size(); ++i) {
      const double value = tile.elements[i].f;
      if (!is_not_finite(value)) {
        if (!marks.empty()) marks[i] = without(marks[i], Mark::NotFinite);
        continue;
      }
      if (!can_begin_at(op)) continue;
      if (is_elementwise) taken = taken_at(program, op, i);
      if (taken.not_finite && (!std::isnan(value) || taken.nan)) continue;
      Marks& mark = marks_for(program, result)[i];
      mark = without(mark, Mark::NotFinite) | marks_of(Mark::NotFinite, number_of(op));
    }
  }
}

void Taint::note_wrapped(const Program& program, const Op& op) {
  const bool is_sum = op.kind == OpKind::Add || op.kind == OpKind::Subtract;
  if (!is_sum && op.kind != OpKind::Multiply) return;
  const Tile& a = program.value(op.operands[0]);
  const Tile& b = program.value(op.operands[1]);
  const Tile& result = program.value(op.result());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!has_wrapped(op, result.type.dtype, a.at(i).i, b.at(i).i, result.elements[i].i)) continue;
    Marks& mark = marks_for(program, op.result())[i];
    mark = merged(marks_of(Mark::Wrapped, number_of(op)), mark);
  }
}

void Taint::note_zero_division(const Program& program, const Op& op) {
  if (op.kind != OpKind::Divide && op.kind != OpKind::Remainder) return;
  const Tile& divisor = program.value(op.operands[1]);
  const std::size_t size = program.value(op.result()).size();
  for (std::size_t i = 0; i < size; ++i) {
    if (divisor.at(i).i != 0) continue;
    Marks& mark = marks_for(program, op.result())[i];
    mark = merged(marks_of(Mark::ZeroDivision, number_of(op)), mark);
  }
}

}  // namespace tilewright::ir
