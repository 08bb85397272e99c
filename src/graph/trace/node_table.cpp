// SPDX-License-Identifier: Apache-2.0
// graph/trace/node_table.cpp — hashes of nodes, and when two are equal.
#include "graph/trace/node_table.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

#include "graph/mix.h"

namespace tilewright::graph {
namespace {

std::uint64_t hash_of_captured(const Tensor& tensor) {
  Mix mix{1};
  mix.add(reinterpret_cast<std::uintptr_t>(tensor.data()));
  mix.add(tensor.shape());
  return mix.value;
}

std::uint64_t hash_of(const Node& node) {
  Mix mix;
  mix.add(static_cast<std::uint64_t>(node.kind) << 48 | static_cast<std::uint64_t>(node.op) << 32 |
          static_cast<std::uint64_t>(node.operand_dtype) << 16 |
          static_cast<std::uint64_t>(node.dtype));
  mix.add(std::uint64_t{node.mask} << 32 | static_cast<std::uint32_t>(node.axis));
  if (!node.call.empty()) mix.add(std::hash<std::string_view>()(node.call));
  mix.add(node.shape);
  mix.add(node.attributes);
  for (const Value& value : node.operands) {
    mix.add(static_cast<std::uint64_t>(value.node));
    if (value.is_number()) {
      mix.add(value.number.bits);
      continue;
    }
    mix.add(value.strides);
    mix.add(static_cast<std::uint64_t>(value.offset));  // elements of one tensor differ in it alone
  }
  return mix.value;
}

bool is_equal(const Value& a, const Value& b) {
  if (a.node != b.node) return false;
  if (a.is_number()) return a.number.bits == b.number.bits && a.number.dtype == b.number.dtype;
  return a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

bool is_equal(const Node& a, const Node& b) {
  return a.kind == b.kind && a.op == b.op && a.operand_dtype == b.operand_dtype &&
         a.dtype == b.dtype && a.mask == b.mask && a.axis == b.axis && a.call == b.call &&
         a.shape == b.shape && a.attributes == b.attributes &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                    [](const Value& x, const Value& y) { return is_equal(x, y); });
}

}  // namespace

template <class IsEqual>
int NodeTable::find(std::uint64_t hash, const IsEqual& is_same) const {
  for (std::size_t i = hash;; ++i) {
    const Slot& slot = slots_[i & (slots_.size() - 1)];
    if (slot.number < 0 || (slot.hash == hash && is_same(slot.number))) return slot.number;
  }
}

int NodeTable::place(NodeList& nodes, Node&& node) {
  const std::uint64_t hash = hash_of(node);
  const int known =
      find(hash, [&](int other) { return is_equal(nodes[static_cast<std::size_t>(other)], node); });
  return known >= 0 ? known : append(nodes, std::move(node), hash);
}

int NodeTable::place(NodeList& nodes, const Tensor& captured) {
  const std::uint64_t hash = hash_of_captured(captured);
  const int known = find(hash, [&](int number) {
    const Node& other = nodes[static_cast<std::size_t>(number)];
    return other.kind == Node::Kind::Captured && other.captured.data() == captured.data() &&
           other.dtype == captured.dtype() && other.shape == captured.shape() &&
           other.strides == captured.strides();
  });
  if (known >= 0) return known;
  Node node{.kind = Node::Kind::Captured, .dtype = captured.dtype()};
  node.shape = captured.shape();
  node.strides = captured.strides();
  node.captured = captured;
  return append(nodes, std::move(node), hash);
}

void NodeTable::insert(Slot slot) {
  std::size_t i = slot.hash & (slots_.size() - 1);
  while (slots_[i].number >= 0) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = slot;
}

int NodeTable::append(NodeList& nodes, Node&& node, std::uint64_t hash) {
  if (2 * ++count_ > slots_.size()) {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.number >= 0) insert(slot);
  }
  nodes.push_back(std::move(node));
  const int number = static_cast<int>(nodes.size()) - 1;
  insert({hash, number});
  return number;
}

}  // namespace tilewright::graph
