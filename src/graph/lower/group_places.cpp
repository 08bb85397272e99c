// SPDX-License-Identifier: Apache-2.0
// graph/lower/group_places.cpp — arithmetic of indices, in the IR.
#include "graph/lower/group_places.h"

#include <utility>

#include <fmt/format.h>

namespace tilewright::graph {

using Kind = ir::OpKind;
using ir::Value;

Value GroupPlaces::integer_argument(const std::string& name) {
  return kernel_.add_argument(ir::Type::scalar(i64), name);
}

Value GroupPlaces::stride_argument(const std::string& name) {
  const Value made = integer_argument(name);
  if (walk_.is_aligned) kernel_.arguments.back().divisible = 16;
  return made;
}

void GroupPlaces::add_pointer(DType dtype, std::string name, bool is_const) {
  Operand operand;
  operand.pointer = kernel_.add_argument(ir::Type::pointer(dtype), std::move(name));
  kernel_.arguments.back().is_const = is_const;
  operands_.push_back(operand);
}

void GroupPlaces::add_pointers(const std::string& ending) {
  for (std::size_t i = 0; i < formula_.leaves.size(); ++i) {
    const std::string name = fmt::format("in{}{}", i, ending);
    if (formula_.leaves[i].is_place) operands_.push_back({.pointer = integer_argument(name)});
    else add_pointer(formula_.leaves[i].dtype, name, true);
  }
  for (std::size_t i = 0; i < formula_.outputs.size(); ++i)
    add_pointer(formula_.outputs[i].dtype, fmt::format("out{}{}", i, ending), false);
}

void GroupPlaces::add_numbers() {
  for (std::size_t i = 0; i < formula_.numbers.size(); ++i)
    values_[static_cast<std::size_t>(formula_.first_number()) + i] =
        kernel_.add_argument(ir::Type::scalar(formula_.numbers[i]), fmt::format("number{}", i));
}

void GroupPlaces::add_arguments() {
  add_pointers("");
  add_numbers();
  for (int d = 0; d < walk_.rank; ++d) {
    sizes_.push_back(integer_argument(d + 1 == walk_.rank ? "n" : fmt::format("size{}", d)));
    if (d + 1 == walk_.rank && walk_.is_aligned) kernel_.arguments.back().divisible = 16;
  }
  for (std::size_t o = 0; o < operands_.size(); ++o) {
    if (!has_strides(walk_.access[o])) continue;
    for (int d = 0; d + 1 < walk_.rank; ++d)
      operands_[o].strides.push_back(stride_argument(fmt::format("stride{}_{}", o, d)));
    if (walk_.access[o] == Access::Strided || walk_.mode == Mode::Flat)
      operands_[o].strides.push_back(integer_argument(fmt::format("step{}", o)));
  }
}

Value GroupPlaces::integer(std::int64_t value) {
  return builder_.constant(ir::Type::scalar(i64), value);
}

Value GroupPlaces::add(Value a, Value b) {
  if (!a) return b;
  if (!b) return a;
  match(a, b);
  return builder_.binary(Kind::Add, a, b);
}

Value GroupPlaces::multiply(Value a, Value b) {
  match(a, b);
  return builder_.binary(Kind::Multiply, a, b);
}

void GroupPlaces::match(Value& a, Value& b) {
  const ir::Type x = builder_.type(a), y = builder_.type(b);
  if (x.is_scalar()) a = builder_.splat(a, y);
  else if (y.is_scalar()) b = builder_.splat(b, x);
}

Value GroupPlaces::program() { return builder_.cast(builder_.program_id(0), i64); }

Value GroupPlaces::block_count() {
  return builder_.binary(Kind::Divide, add(sizes_.back(), integer(block() - 1)), integer(block()));
}

ir::Type GroupPlaces::tile_type() const { return ir::Type::tile(i64, {block()}); }

std::int64_t GroupPlaces::block() const { return std::int64_t{1} << walk_.log_block; }

Value GroupPlaces::length() {
  return walk_.is_exact && walk_.mode == Mode::Whole ? integer(block()) : sizes_.back();
}

void GroupPlaces::set_columns(Value first, Value end) {
  place_.first = first;
  place_.lane = builder_.arange(0, block());
  place_.inside = {};
  if (walk_.is_exact) return;
  Value left = first ? builder_.binary(Kind::Subtract, end, first) : end;
  if (first) left = builder_.binary(Kind::Minimum, left, integer(block()));
  left = builder_.cast(left, i32);
  place_.inside =
      builder_.compare("lt", place_.lane, builder_.splat(left, builder_.type(place_.lane)));
}

Value GroupPlaces::column() { return add(builder_.cast(place_.lane, i64), place_.first); }

std::vector<Value> GroupPlaces::places_of(Value index, int count) {
  std::vector<Value> places(static_cast<std::size_t>(count));
  for (int d = count - 1; d > 0; --d) {
    Value size = sizes_[static_cast<std::size_t>(d)];
    match(index, size);
    places[static_cast<std::size_t>(d)] = builder_.binary(Kind::Remainder, index, size);
    index = builder_.binary(Kind::Divide, index, size);
  }
  if (count > 0) places[0] = index;
  return places;
}

void GroupPlaces::set_bases(Value row, int count) {
  const std::vector<Value> places = places_of(row, count);
  for (std::size_t o = 0; o < operands_.size(); ++o) {
    Operand& operand = operands_[o];
    operand.base = {};
    if (walk_.access[o] == Access::PerRow) operand.base = row;
    if (walk_.access[o] == Access::Dense) operand.base = multiply(row, length());
    if (!has_strides(walk_.access[o])) continue;
    for (int d = 0; d < count; ++d)
      operand.base = add(operand.base, multiply(places[static_cast<std::size_t>(d)],
                                                operand.strides[static_cast<std::size_t>(d)]));
  }
}

GroupPlaces::Elements GroupPlaces::elements(std::size_t o) {
  const Access access = walk_.access[o];
  Operand& operand = operands_[o];
  Value offset = operand.base, lanes = place_.lane;
  if (walk_.mode == Mode::Flat && access != Access::Dense) {
    lanes = {};
    for (std::size_t d = 0; d < operand.strides.size(); ++d)
      lanes = add(lanes, multiply(place_.at[d], operand.strides[d]));
    return {operand.pointer, lanes};
  }
  if (walk_.mode == Mode::Columns && place_.step)
    offset = add(offset,
                 multiply(place_.step, operand.strides[static_cast<std::size_t>(walk_.rank - 2)]));
  if (access == Access::Repeated || access == Access::PerRow) {
    lanes = {};
  } else if (access == Access::Strided) {
    const Value stride = operand.strides.back();
    if (place_.first) offset = add(offset, multiply(place_.first, stride));
    lanes = multiply(builder_.cast(lanes, i64), stride);
  } else if (place_.first) {
    offset = add(offset, place_.first);
  }
  if (o < formula_.leaves.size() && formula_.leaves[o].is_place)
    return {add(operand.pointer, offset), lanes};
  return {offset ? builder_.offset(operand.pointer, offset) : operand.pointer, lanes};
}

Value GroupPlaces::pointers(const Elements& place) {
  return builder_.offset(builder_.splat(place.pointer, builder_.type(place.lanes)), place.lanes);
}

}  // namespace tilewright::graph
