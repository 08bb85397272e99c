// SPDX-License-Identifier: Apache-2.0
// graph/print/svg.cpp — boxes in the order in which they run, arcs at their right.
#include "graph/print/svg.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quote.h"
#include "base/units.h"
#include "tensor/shape.h"

namespace tilewright::graph {
namespace {

constexpr int row = 44, box = 32, width = 560, left = 10, most_text = 74;

std::string label_of(const Plan& plan, const PlannedStep& step) {
  if (step.node >= 0)
    return std::string(node_name(plan.graph.nodes[static_cast<std::size_t>(step.node)]));
  std::vector<std::string_view> names;
  for (const Step& one : step.formula->steps) names.push_back(facts_of(one.op).name);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (lists_of(step) > 1) text = fmt::format("{} lists: {}", lists_of(step), text);
  return text;
}

std::string shortened(std::string text) {
  if (text.size() > most_text) text = text.substr(0, most_text - 3) + "...";
  return text;
}

std::string box_of(const Plan& plan, std::size_t number) {
  const PlannedStep& step = plan.steps[number];
  const int y = left + static_cast<int>(number) * row;
  const std::string label = label_of(plan, step);
  const char* const colour = step.node >= 0 ? "#e8d9c0" : "#cfe3f5";
  return fmt::format(
      "<g><title>kernel {0}: {1}</title><rect x=\"{2}\" y=\"{3}\" width=\"{4}\" height=\"{5}\" "
      "rx=\"5\" "
      "fill=\"{6}\" stroke=\"#667\"/><text x=\"{7}\" y=\"{8}\" font-size=\"13\" fill=\"#111\" "
      "font-family=\"sans-serif\">{9}. {10}</text></g>\n",
      number + 1, xml_text(label), left, y, width, box, colour, left + 8, y + 21, number + 1,
      xml_text(shortened(label)));
}

// From the kernel that writes a node to one that reads it; the further, the wider.
std::string arc_of(const Plan& plan, std::size_t from, std::size_t to, int node) {
  const Node& n = plan.graph.nodes[static_cast<std::size_t>(node)];
  const auto bytes =
      static_cast<std::size_t>(checked_numel(n.shape, size_of(n.dtype))) * size_of(n.dtype);
  const int x = left + width;
  const int y = left + static_cast<int>(from) * row + box / 2 + 6;
  const int end = left + static_cast<int>(to) * row + box / 2 - 6;
  const int bulge = x + std::min(24 + 10 * static_cast<int>(to - from), 190);
  return fmt::format(
      "<g><title>%{4}: {5}{6}, {7}</title><path d=\"M{0} {1} C{2} {1}, {2} {3}, {0} {3}\" "
      "fill=\"none\" "
      "stroke=\"#778\"/><circle cx=\"{0}\" cy=\"{3}\" r=\"3\" fill=\"#778\"/></g>\n",
      x, y, bulge, end, node, name_of(n.dtype), shape_text(n.shape), format_bytes(bytes));
}

}  // namespace

std::string to_svg(const Plan& plan) {
  std::map<int, std::size_t> writer;
  std::string boxes, arcs;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const PlannedStep& step = plan.steps[s];
    boxes += box_of(plan, s);
    std::set<int> read;
    for (const PlannedLeaf& leaf : step.leaves) read.insert(leaf.node);
    if (step.node >= 0)
      for (const Value& value : plan.graph.nodes[static_cast<std::size_t>(step.node)].operands)
        if (!value.is_number()) read.insert(value.node);
    for (const int node : read)
      if (const auto found = writer.find(node); found != writer.end())
        arcs += arc_of(plan, found->second, s, node);
    for (const int node : step.written) writer[node] = s;
  }
  const int height = 2 * left + static_cast<int>(plan.steps.size()) * row;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{0} kernels and the "
      "values "
      "between them\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">\n{3}{4}</svg>\n",
      plan.steps.size(), left + width + 160, height, boxes, arcs);
}

}  // namespace tilewright::graph
