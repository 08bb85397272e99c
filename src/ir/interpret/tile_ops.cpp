// SPDX-License-Identifier: Apache-2.0
// ir/interpret/tile_ops.cpp — ops that compute tiles, print and check.
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "ir/interpret/program.h"
#include "ir/interpret/shapes.h"

namespace tilewright::ir {
namespace {

std::string element_text(const Type& type, Element element, bool hex) {
  if (type.is_pointer) return fmt::format("{:#x}", TaggedPointer::address(element.i));
  if (type.is_float()) return fmt::format("{}", element.f);
  if (hex) return fmt::format("{:#x}", static_cast<std::uint64_t>(element.i));
  return type.dtype == DType::UInt64 ? fmt::format("{}", static_cast<std::uint64_t>(element.i))
                                     : fmt::format("{}", element.i);
}

Tile scalar(DType dtype, std::int64_t value) {
  return {Type::scalar(dtype), {Element{.i = value}}};
}

}  // namespace

void TileOps::constant(const Op& op) {
  const Type& type = result_type(op);
  const AttributeValue& value = *op.find("value");
  Element element;
  if (type.is_float())
    element.f =
        options_.float64 ? std::get<double>(value) : round_to(type.dtype, std::get<double>(value));
  else
    element.i = type.is_pointer ? std::get<std::int64_t>(value)
                                : wrap(type.dtype, std::get<std::int64_t>(value));
  set_result(op, {type, std::vector<Element>(static_cast<std::size_t>(type.numel()), element)});
}

void TileOps::elementwise(const Op& op) {
  const Tile* operands[3];
  for (std::size_t i = 0; i < op.operands.size(); ++i) operands[i] = &operand(op, i);
  set_result(op, computed(op, result_type(op), {operands, op.operands.size()}));
}

void TileOps::source(const Op& op) {
  switch (source_op(op.kind)) {
    case SourceOp::Constant:
      return constant(op);
    case SourceOp::ProgramId:
      return set_result(op, scalar(i32, id_[static_cast<std::size_t>(op.integer("axis"))]));
    case SourceOp::NumPrograms:
      return set_result(op, scalar(i32, options_.grid[op.integer("axis")]));
    case SourceOp::NumBlocks:
      return set_result(op, scalar(i32, block_count(kernel_, options_.grid[0])));
    case SourceOp::IsProducer:  // the `if` that asks for it runs both of its regions
      return set_result(op, scalar(b1, 0));
    case SourceOp::Arange: {
      const Type& type = result_type(op);
      Tile tile{type, std::vector<Element>(static_cast<std::size_t>(type.numel()))};
      for (std::size_t i = 0; i < tile.size(); ++i)
        tile.elements[i].i = wrap(i32, op.integer("start") + static_cast<std::int64_t>(i));
      return set_result(op, std::move(tile));
    }
  }
}

void TileOps::view(const Op& op) {
  const Type& type = result_type(op);
  switch (view_op(op.kind)) {
    case ViewOp::Splat:
      return set_result(op, {type, std::vector<Element>(static_cast<std::size_t>(type.numel()),
                                                        operand(op, 0).elements[0])});
    case ViewOp::Broadcast:
      return set_result(op, broadcast_tile(operand(op, 0), type));
    case ViewOp::Reshape:
      return set_result(op, {type, operand(op, 0).elements});
    case ViewOp::Permute:
      return set_result(op, permute_tile(operand(op, 0), op.integers("order"), type));
    case ViewOp::Join:
      return set_result(op, join_tiles(operand(op, 0), operand(op, 1), type));
    case ViewOp::Split:
      set_result(op, split_tile(operand(op, 0), 0, type), 0);
      return set_result(op, split_tile(operand(op, 0), 1, type), 1);
    case ViewOp::Affine:
      return set_result(op, affine_tile(scalars(op), type));
    case ViewOp::Bounds:
      return set_result(op, bounds_tile(scalars(op), type));
    case ViewOp::Hint:
      return set_result(op, {type, operand(op, 0).elements});
  }
}

// ---- Across elements

void TileOps::across(const Op& op) {
  switch (across_op(op.kind)) {
    case AcrossOp::Concatenate:
      return set_result(op, concatenate_tiles(operand(op, 0), operand(op, 1), op.integer("axis"),
                                              result_type(op)));
    case AcrossOp::Gather: {
      bool is_outside = false;
      set_result(op, gather_tile(operand(op, 0), operand(op, 1), op.integer("axis"),
                                 result_type(op), &is_outside));
      if (is_outside) report(op, "gather has an index outside the tile");
      return;
    }
    case AcrossOp::ReadBuffer:
      return parts().accesses.read_buffer(op);
    case AcrossOp::Scan:
      return scan(op);
    case AcrossOp::Sort:
      return set_result(
          op, sort_tile(operand(op, 0), op.integer("first"), op.integer("last"), op.text("order")));
    case AcrossOp::Histogram:
      return set_result(op, histogram_tile(operand(op, 0), op.mask() ? &get(op.mask()) : nullptr,
                                           result_type(op)));
    case AcrossOp::Dot:
      return dot(op);
    case AcrossOp::Print:
      return print(op);
    case AcrossOp::StoreMap:
      return parts().maps.store_map(op);
  }
}

void TileOps::dot(const Op& op) {
  set_result(op, product(op, result_type(op), operand(op, 0), operand(op, 1), operand(op, 2)));
}

// Combines neighbours until one is left, so that what is left of a stays left of what is right of
// it: a combination that is associative but not commutative has one result. With jitter and an odd
// seed halves instead, since the order is the device's choice; halves also leave the parts that are
// asked for.
void TileOps::reduce(const Op& op) {
  const Type type = operand(op, 0).type;
  const std::int64_t axis = op.integer("axis");
  std::vector<Tile> tiles = values_of(op.operands);
  const std::int64_t wanted = op.integer("parts", 1);
  const bool by_neighbours = options_.jitter % 2 == 0 && wanted == 1;
  AxisView view(type, axis);
  while (view.length > wanted) {
    const std::int64_t half = view.length / 2;
    std::vector<Tile> a, b;
    for (const Tile& tile : tiles) {
      a.push_back({tile.type, {}});
      b.push_back({tile.type, {}});
      for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t k = 0; k < half; ++k)
          for (std::int64_t i = 0; i < view.inner; ++i) {
            const std::int64_t first = by_neighbours ? 2 * k : k;
            const std::int64_t second = by_neighbours ? 2 * k + 1 : k + half;
            a.back().elements.push_back(tile.elements[view.index(o, first, i)]);
            b.back().elements.push_back(tile.elements[view.index(o, second, i)]);
          }
    }
    tiles = parts().program.combine(op, a, b);
    view.length = half;
  }
  for (std::size_t k = 0; k < tiles.size(); ++k)
    set_result(op, {result_type(op, k), std::move(tiles[k].elements)}, k);
}

void TileOps::scan(const Op& op) {
  const bool is_reverse = op.integer("reverse") != 0;
  const AxisView view(operand(op, 0).type, op.integer("axis"));
  std::vector<Tile> tiles = values_of(op.operands);
  const auto slice = [&](std::int64_t k) {
    std::vector<Tile> lanes;
    for (const Tile& tile : tiles) {
      lanes.push_back({tile.type, {}});
      for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t i = 0; i < view.inner; ++i)
          lanes.back().elements.push_back(tile.elements[view.index(o, k, i)]);
    }
    return lanes;
  };
  for (std::int64_t step = 1; step < view.length; ++step) {
    const std::int64_t k = is_reverse ? view.length - 1 - step : step;
    const std::vector<Tile> next =
        parts().program.combine(op, slice(is_reverse ? k + 1 : k - 1), slice(k));
    for (std::size_t t = 0; t < tiles.size(); ++t)
      for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t i = 0; i < view.inner; ++i)
          tiles[t].elements[view.index(o, k, i)] =
              next[t].elements[static_cast<std::size_t>(o * view.inner + i)];
  }
  for (std::size_t t = 0; t < tiles.size(); ++t)
    set_result(op, {result_type(op, t), std::move(tiles[t].elements)}, t);
}

// ---- Prints and assertions

void TileOps::print(const Op& op) {
  const auto emit = [&](const std::string& line) {
    if (options_.print) options_.print(line);
    else fmt::print("{}\n", line);
  };
  const std::string place = fmt::format("pid ({}, {}, {})", id_[0], id_[1], id_[2]);
  if (op.operands.empty()) emit(fmt::format("{} {}", place, op.text("prefix")));
  if (kernel_.stage == Stage::Final && op.operands.size() == 2) {
    const Tile& element = operand(op, 0);
    return emit(
        fmt::format("{} idx {} {}{}", place, integer(op, 1), op.text("prefix"),
                    element_text(element.type, element.elements[0], op.integer("hex") != 0)));
  }
  for (std::size_t k = 0; k < op.operands.size(); ++k) {
    const Tile& tile = operand(op, k);
    for (std::size_t i = 0; i < tile.size(); ++i) {
      const std::string index = tile.type.is_scalar() ? "" : fmt::format(" idx {}", i);
      emit(fmt::format("{}{} {}{}", place, index, op.text("prefix"),
                       element_text(tile.type, tile.elements[i], op.integer("hex") != 0)));
    }
  }
}

void TileOps::check(const Op& op) {
  switch (check_op(op.kind)) {
    case CheckOp::Assert:
      return check_assert(op);
    case CheckOp::Assume:
      if (!operand(op, 0).elements[0].i) report(op, "an assumption does not hold");
      return;
  }
}

void TileOps::check_assert(const Op& op) {
  const Tile& condition = operand(op, 0);
  for (std::size_t i = 0; i < condition.size(); ++i) {
    const bool is_on = op.operands.size() < 2 || operand(op, 1).at(i).i;
    if (is_on && !condition.elements[i].i)
      return report(op, fmt::format("assertion failed: {}", op.text("message")));
  }
}

}  // namespace tilewright::ir
