// SPDX-License-Identifier: Apache-2.0
// graph/graph.cpp — nodes that are kept; printing of graphs.
#include "graph/graph.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "tensor/shape.h"

namespace tilewright::graph {
namespace {

std::string number_text(const Argument& number) {
  if (number.dtype == DType::Float64) return fmt::format("{}", std::bit_cast<double>(number.bits));
  if (is_floating(number.dtype))
    return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(number.bits)));
  return fmt::format("{}", static_cast<std::int64_t>(number.bits));
}

std::string value_text(const Graph& graph, const Value& value) {
  if (value.is_number()) return number_text(value.number);
  const Node& node = graph.nodes[static_cast<std::size_t>(value.node)];
  std::string text = fmt::format("%{}", value.node);
  if (value.shape != node.shape || value.strides != node.strides || value.offset != 0)
    text += fmt::format(".view({}, {}, {})", shape_text(value.shape), shape_text(value.strides),
                        value.offset);
  return text;
}

}  // namespace

void NodeList::keep(const std::vector<bool>& is_kept) {
  const auto count = static_cast<std::size_t>(std::count(is_kept.begin(), is_kept.end(), true));
  Chunks<Node> kept(std::max<std::size_t>(count, 1));
  for (std::size_t i = 0; i < all_.size(); ++i)
    all_[i] = is_kept[i] ? &kept.emplace_back(std::move(*all_[i])) : nullptr;
  memory_ = std::move(kept);
}

std::string_view node_name(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Input:
      return "input";
    case Node::Kind::Captured:
      return node.call.empty() ? "captured" : std::string_view(node.call);
    case Node::Kind::Contract:
    case Node::Kind::Call:
      return node.call;
    case Node::Kind::Gather:
      return "embedding";
    case Node::Kind::Join:
      return "cat";
    case Node::Kind::Pointwise:
    case Node::Kind::Reduce:
    case Node::Kind::Index:
      break;
  }
  return facts_of(node.op).name;
}

std::string Graph::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    text += fmt::format("%{}: {}{} = {}(", i, name_of(node.dtype), shape_text(node.shape),
                        node_name(node));
    if (node.kind == Node::Kind::Input) text += std::to_string(node.input);
    for (std::size_t o = 0; o < node.operands.size(); ++o)
      text += (o == 0 ? "" : ", ") + value_text(*this, node.operands[o]);
    for (const std::int64_t number : node.attributes) text += fmt::format(", {}", number);
    if (node.kind == Node::Kind::Reduce) text += fmt::format(", dimensions {:#b}", node.mask);
    text += ")\n";
  }
  text += "return";
  for (std::size_t o = 0; o < outputs.size(); ++o)
    text += (o == 0 ? " " : ", ") + value_text(*this, outputs[o]);
  return text + "\n";
}

}  // namespace tilewright::graph
