// SPDX-License-Identifier: Apache-2.0
// graph/group/roll.cpp — which expressions are alike, and where their parts lie.
#include "graph/group/roll.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "tensor/shape.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

constexpr std::size_t fewest = 8;  // pieces; fewer gain little

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool is_whole(const Value& value, const Node& node) {
  return value.offset == 0 && value.strides == contiguous_strides(value.shape) &&
         checked_numel(value.shape, 1) == checked_numel(node.shape, 1);
}

// The number that changes nothing as the second operand.
std::optional<double> neutral_number(Op op) {
  if (op == Op::Multiply || op == Op::Divide) return 1;
  if (op == Op::Add) return -0.0;  // 0 would make 0 of -0
  if (op == Op::Subtract) return 0;
  return std::nullopt;
}

std::optional<Argument> number_like(const Argument& like, double value) {
  Argument made = like;
  if (like.dtype == DType::Float32)
    made.bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  else if (like.dtype == DType::Float64) made.bits = std::bit_cast<std::uint64_t>(value);
  else return std::nullopt;
  return made;
}

class Roller {
 public:
  explicit Roller(Graph graph) : old_(std::move(graph)) {}

  Graph run() {
    const bool has_lists = std::any_of(old_.nodes.begin(), old_.nodes.end(), is_list);
    if (!has_lists) return std::move(old_);
    made_.device = old_.device;
    for (const Node& node : old_.nodes) {
      const std::optional<int> rolled = is_list(node) ? roll_join(node) : std::nullopt;
      if (!rolled) made_.nodes.push_back(moved(node));
      place_.push_back(rolled ? *rolled : static_cast<int>(made_.nodes.size()) - 1);
    }
    for (const Value& value : old_.outputs) made_.outputs.push_back(moved(value));
    return std::move(made_);
  }

 private:
  static bool is_list(const Node& node) {
    return node.kind == Node::Kind::Join && node.operands.size() >= fewest;
  }
  Value moved(Value value) const {
    if (!value.is_number()) value.node = place_[at(value.node)];
    return value;
  }
  Node moved(Node node) const {
    for (Value& value : node.operands) value = moved(std::move(value));
    return node;
  }
  const Node& node_of(const Value& value) const { return old_.nodes[at(value.node)]; }

  // The node whose memory is that of the join; nothing where the pieces are not alike.
  std::optional<int> roll_join(const Node& join) {
    const Values& pieces = join.operands;
    for (const Value& piece : pieces)
      if (piece.is_number() || piece.shape != pieces[0].shape || piece.shape.empty() ||
          node_of(piece).dtype != join.dtype)
        return std::nullopt;
    for (int d = 0; d < join.axis; ++d)
      if (pieces[0].shape[at(d)] != 1) return std::nullopt;  // pieces lie among each other
    if (checked_numel(pieces[0].shape, 1) == 0) return std::nullopt;
    // Pieces that are parts of one tensor as it is are better copied.
    if (!std::any_of(pieces.begin(), pieces.end(), [&](const Value& piece) {
          return node_of(piece).kind == Node::Kind::Pointwise;
        }))
      return std::nullopt;
    period_ = static_cast<std::int64_t>(pieces.size());
    for (int attempt = 0; attempt < 2; ++attempt) {
      const std::size_t before = made_.nodes.size();
      const std::int64_t tried = period_;
      const std::optional<Value> rolled = roll(pieces, pieces[0].shape.size());
      const bool is_new = rolled && rolled->node >= static_cast<int>(before);
      if (is_new) return rolled->node;
      made_.nodes.shrink(before);
      if (period_ == tried) return std::nullopt;  // else a list has shown where it goes on
    }
    return std::nullopt;
  }

  std::int64_t count_of(const Values& list) const { return static_cast<std::int64_t>(list.size()); }
  // Of the loops, before those of a piece.
  Shape with_loops(const Values& list, const Shape& shape) const {
    Shape all = {count_of(list) / period_, period_};
    all.insert(all.end(), shape.begin(), shape.end());
    return all;
  }

  // The list as one value of `rank` dimensions behind those of the loops.
  std::optional<Value> roll(const Values& list, std::size_t rank) {
    if (std::all_of(list.begin(), list.end(), [](const Value& v) { return v.is_number(); }))
      return roll_numbers(list, rank);
    if (const std::optional<Value> places = roll_places(list, rank)) return places;
    return roll_steps(list, rank);
  }

  std::optional<Value> roll_numbers(const Values& list, std::size_t rank) {
    bool is_one = true;
    for (const Value& value : list) {
      if (value.number.dtype != list[0].number.dtype) return std::nullopt;
      is_one &= value.number.bits == list[0].number.bits;
    }
    if (is_one) return list[0];
    const DType dtype = list[0].number.dtype;
    Tensor constant;
    if (dtype == DType::Float32) {
      std::vector<float> numbers;
      for (const Value& value : list)
        numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(value.number.bits)));
      constant = tensor<float>(numbers, Device::cpu());
    } else if (dtype == DType::Float64) {
      std::vector<double> numbers;
      for (const Value& value : list) numbers.push_back(std::bit_cast<double>(value.number.bits));
      constant = tensor<double>(numbers, Device::cpu());
    } else {
      return std::nullopt;
    }
    Node node{.kind = Node::Kind::Captured, .dtype = dtype};
    node.captured = constant.to(made_.device);
    node.shape = constant.shape();
    node.strides = constant.strides();
    node.is_made = node.is_constant = true;
    made_.nodes.push_back(std::move(node));
    Value value{.node = static_cast<int>(made_.nodes.size()) - 1,
                .shape = with_loops(list, Shape(rank, 1)),
                .strides = Shape(rank + 2, 0)};
    value.strides[0] = period_;
    value.strides[1] = 1;
    return value;
  }

  // Views of one node, at places that grow by the same step.
  std::optional<Value> roll_places(const Values& list, std::size_t rank) {
    const Value& first = list[0];
    for (const Value& value : list)
      if (value.node != first.node || value.is_number() || value.shape != first.shape ||
          value.strides != first.strides)
        return std::nullopt;
    const std::int64_t count = count_of(list);
    const auto offset = [&](std::int64_t i) { return list[static_cast<std::size_t>(i)].offset; };
    const std::int64_t step = period_ > 1 ? offset(1) - offset(0) : 0;
    const std::int64_t outer = count > period_ ? offset(period_) - offset(0) : 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (offset(i) == offset(0) + i / period_ * outer + i % period_ * step) continue;
      // The inner loop may end here.
      if (period_ == count && i > 1 && count % i == 0) period_ = i;
      return std::nullopt;
    }
    Value value{.node = place_[at(first.node)], .offset = first.offset};
    value.shape = {count / period_, period_};
    value.strides = {outer, step};
    value.shape.resize(2 + rank - first.shape.size(), 1);
    value.strides.resize(2 + rank - first.shape.size(), 0);
    value.shape.insert(value.shape.end(), first.shape.begin(), first.shape.end());
    value.strides.insert(value.strides.end(), first.strides.begin(), first.strides.end());
    return value;
  }

  // The same operation of every piece. A piece that it would not change may be without it.
  std::optional<Value> roll_steps(const Values& list, std::size_t rank) {
    const Node* like = nullptr;
    for (const Value& value : list)
      if (!value.is_number() && node_of(value).kind == Node::Kind::Pointwise && like == nullptr)
        like = &node_of(value);
    if (like == nullptr || like->shape.size() > rank) return std::nullopt;
    const std::size_t operands = like->operands.size();
    std::vector<Values> columns(operands);
    for (const Value& value : list) {
      if (value.is_number()) return std::nullopt;
      const std::optional<Values> row = operands_of(value, *like);
      if (!row) return std::nullopt;
      for (std::size_t o = 0; o < operands; ++o) columns[o].push_back((*row)[o]);
    }
    Node node = *like;
    node.operands.clear();
    for (const Values& column : columns) {
      const std::optional<Value> rolled = roll(column, like->shape.size());
      if (!rolled) return std::nullopt;
      node.operands.push_back(*rolled);
    }
    node.shape = with_loops(list, like->shape);
    node.strides = contiguous_strides(node.shape);
    made_.nodes.push_back(std::move(node));
    // As the pieces see it, which may have more dimensions of one.
    Value value{.node = static_cast<int>(made_.nodes.size()) - 1};
    const Shape seen(list[0].shape);
    value.shape = {count_of(list) / period_, period_};
    value.shape.resize(2 + rank - seen.size(), 1);
    value.shape.insert(value.shape.end(), seen.begin(), seen.end());
    value.strides = contiguous_strides(value.shape);
    return value;
  }

  std::optional<Values> operands_of(const Value& value, const Node& like) const {
    const Node& node = node_of(value);
    const bool is_alike = node.kind == like.kind && node.op == like.op &&
                          node.dtype == like.dtype && node.operand_dtype == like.operand_dtype &&
                          node.shape == like.shape && node.operands.size() == like.operands.size();
    if (is_alike) return is_whole(value, node) ? std::optional(node.operands) : std::nullopt;
    const std::optional<double> neutral = neutral_number(like.op);
    if (!neutral || like.operands.size() != 2 || !like.operands[1].is_number()) return std::nullopt;
    if (node.dtype != like.dtype || node.dtype != like.operand_dtype) return std::nullopt;
    const std::optional<Argument> number = number_like(like.operands[1].number, *neutral);
    if (!number || checked_numel(value.shape, 1) != checked_numel(like.shape, 1))
      return std::nullopt;
    // Without the dimensions of one that the join has added.
    Value seen = value;
    while (seen.shape.size() > like.shape.size() && seen.shape[0] == 1) {
      seen.shape.erase(seen.shape.begin());
      seen.strides.erase(seen.strides.begin());
    }
    if (seen.shape != like.shape) return std::nullopt;
    Value nothing;
    nothing.number = *number;
    return Values{seen, nothing};
  }

  Graph old_, made_;
  std::vector<int> place_;   // of each old node that was seen, in the new graph
  std::int64_t period_ = 1;  // of the inner loop
};

}  // namespace

Graph roll_lists(Graph graph) { return Roller(std::move(graph)).run(); }

}  // namespace tilewright::graph
