// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_shape.cpp — the same elements in another shape or order.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {

ir::Value reshape(Semantic& semantic, ir::Value value, const std::vector<std::int64_t>& shape) {
  const ir::Type& from = semantic.type(value);
  if (from.shape() == shape) return value;
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  if (elements != from.numel())
    throw Mistake{fmt::format("reshape of {} to {} changes the number of elements from {} to {}",
                              text_of(from), text_of_shape(shape), from.numel(), elements),
                  ""};
  if (from.is_scalar()) return semantic.broadcast_to(value, shape);
  return semantic.builder().reshape(value, shape);
}

ir::Value scalar_of(Semantic& semantic, ir::Value value) { return reshape(semantic, value, {}); }

namespace {

Value reshape(Call& call) {
  return reshape(call.semantic, call.tensor("input"), call.shape("shape"));
}

Value ravel(Call& call) {
  const ir::Value x = call.tensor("x");
  return reshape(call.semantic, x, {call.type(x).numel()});
}

Value item(Call& call) {
  const ir::Value input = call.tensor("input");
  if (call.type(input).numel() != 1)
    call.fail(fmt::format("needs one element, not {}", text_of(call.type(input))));
  return scalar_of(call.semantic, input);
}

ir::Value permuted(Call& call, ir::Value input, const std::vector<std::int64_t>& dims) {
  const ir::Type& type = call.type(input);
  std::vector<std::int64_t> sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  bool is_right = dims.size() == type.rank;
  for (std::size_t d = 0; is_right && d < sorted.size(); ++d)
    is_right = sorted[d] == static_cast<std::int64_t>(d);
  if (!is_right)
    call.fail(
        fmt::format("needs each dimension of {} once, not {}", text_of(type), text_of_shape(dims)));
  return call.builder().permute(input, dims);
}

Value permute(Call& call) { return permuted(call, call.tensor("input"), call.integers("dims")); }

Value trans(Call& call) {
  const ir::Value input = call.tensor("input");
  std::vector<std::int64_t> dims = call.integers("dims");
  if (dims.empty()) {
    const int rank = call.type(input).rank;
    if (rank < 2)
      call.fail(fmt::format("needs at least two dimensions, not {}", text_of(call.type(input))));
    dims.resize(static_cast<std::size_t>(rank));
    std::iota(dims.begin(), dims.end(), 0);
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  }
  return permuted(call, input, dims);
}

Value expand_dims(Call& call) {
  ir::Value input = call.tensor("input");
  std::vector<std::int64_t> axes = call.integers("axis");
  const auto rank = static_cast<std::int64_t>(call.type(input).rank + axes.size());
  for (std::int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      call.fail(fmt::format("has the axis {}, but the result has {} dimensions", axis, rank));
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) call.fail("names an axis twice");
  for (const std::int64_t axis : axes)
    input = call.semantic.expand_dims(input, static_cast<int>(axis));
  return input;
}

Value squeeze(Call& call) {
  const ir::Value x = call.tile("x");
  const int axis = call.axis("dim", call.type(x).rank);
  std::vector<std::int64_t> shape = call.type(x).shape();
  if (shape[static_cast<std::size_t>(axis)] != 1)
    call.fail(fmt::format("needs the size 1 in dimension {}, not {}", axis,
                          shape[static_cast<std::size_t>(axis)]));
  shape.erase(shape.begin() + axis);
  return reshape(call.semantic, x, shape);
}

Value unsqueeze(Call& call) {
  return call.semantic.expand_dims(call.tensor("x"), static_cast<int>(call.integer("dim")));
}

Value broadcast(Call& call) {
  const auto [x, y] = call.semantic.broadcast(call.tensor("input"), call.tensor("other"));
  return Value::tuple({x, y});
}

Value broadcast_to(Call& call) {
  return call.semantic.broadcast_to(call.tensor("input"), call.shape("shape"));
}

ir::Value joined(Call& call, ir::Value a, ir::Value b) {
  std::tie(a, b) = call.semantic.broadcast(a, b);
  if (call.type(a) != call.type(b))
    call.fail(
        fmt::format("needs one type, not {} and {}", text_of(call.type(a)), text_of(call.type(b))));
  std::vector<std::int64_t> shape = call.type(a).shape();
  shape.push_back(2);
  return call.builder().create_one(ir::OpKind::Join, {a, b}, call.type(a).with_shape(shape));
}

Value join(Call& call) { return joined(call, call.tensor("a"), call.tensor("b")); }

Value interleave(Call& call) {
  const ir::Value both = joined(call, call.tensor("a"), call.tensor("b"));
  std::vector<std::int64_t> shape = call.type(both).shape();
  if (shape.size() == 1) return both;
  shape.pop_back();
  shape.back() *= 2;
  return reshape(call.semantic, both, shape);
}

Value split(Call& call) {
  const ir::Value a = call.tile("a");
  std::vector<std::int64_t> shape = call.type(a).shape();
  if (shape.back() != 2)
    call.fail(fmt::format("needs a last dimension of 2, not {}", text_of(call.type(a))));
  shape.pop_back();
  const ir::Type half = call.type(a).with_shape(shape);
  const ir::Op* op = call.builder().create(ir::OpKind::Split, {a}, {half, half});
  return Value::tuple({op->results[0], op->results[1]});
}

Value cat(Call& call) {
  const ir::Value a = call.tile("input"), b = call.tile("other");
  if (call.type(a) != call.type(b))
    call.fail(fmt::format("needs one type and shape, not {} and {}", text_of(call.type(a)),
                          text_of(call.type(b))));
  const int axis = call.axis("dim", call.type(a).rank);
  std::vector<std::int64_t> shape = call.type(a).shape();
  shape[static_cast<std::size_t>(axis)] *= 2;
  return call.builder().create_one(ir::OpKind::Concatenate, {a, b}, call.type(a).with_shape(shape),
                                   {{"axis", std::int64_t{axis}}});
}

Value gather(Call& call) {
  const ir::Value source = call.tile("src"), index = call.tile("index");
  const ir::Type from = call.type(source), at = call.type(index);
  if (!at.is_int()) call.fail(fmt::format("needs an integer index, not {}", text_of(at)));
  if (from.rank != at.rank)
    call.fail(fmt::format("needs as many dimensions in the index as in the source, not {} and {}",
                          at.rank, from.rank));
  const int axis = call.axis("axis", from.rank);
  for (int d = 0; d < from.rank; ++d)
    if (d != axis && from.size(d) != at.size(d))
      call.fail(fmt::format("needs equal sizes outside axis {}, not {} and {}", axis,
                            text_of_shape(from.shape()), text_of_shape(at.shape())));
  return call.builder().create_one(ir::OpKind::Gather, {source, index}, from.with_shape_of(at),
                                   {{"axis", std::int64_t{axis}}});
}

constexpr BuiltinRow shape_rows[] = {
    {"reshape", "input, *shape, can_reorder=False", reshape, true},
    {"view", "input, *shape", reshape, true},
    {"ravel", "x, can_reorder=False", ravel, true},
    {"item", "input", item, true},
    {"permute", "input, *dims", permute, true},
    {"trans", "input, *dims", trans, true},
    {"expand_dims", "input, axis", expand_dims, true},
    {"squeeze", "x, dim", squeeze, true},
    {"unsqueeze", "x, dim", unsqueeze, true},
    {"broadcast", "input, other", broadcast},
    {"broadcast_to", "input, *shape", broadcast_to, true},
    {"join", "a, b", join},
    {"interleave", "a, b", interleave},
    {"split", "a", split, true},
    {"cat", "input, other, can_reorder=False, dim=0", cat},
    {"gather", "src, index, axis", gather, true},
};

}  // namespace

std::span<const BuiltinRow> shape_builtins() { return shape_rows; }

}  // namespace tilewright::triton
