// SPDX-License-Identifier: Apache-2.0
// graph/plan/draft.cpp — from groups to drafts: formulas, what they read and write, and their
// order.
#include "graph/plan/draft.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "graph/group/recompute.h"

namespace tilewright::graph {
namespace {

std::size_t slot(int i) { return static_cast<std::size_t>(i); }

// That kernels are made for.
DeviceKind device_of(const Graph& graph) {
  return emulated_target() != nullptr ? DeviceKind::Cuda : graph.device.kind;
}

class GroupPlanner {
 public:
  GroupPlanner(const Graph& graph, const Fusion& fusion, const Group& group,
               const std::vector<bool>& is_written)
      : graph_(graph),
        fusion_(fusion),
        group_(group),
        is_written_(is_written),
        formula_(std::make_unique<Formula>()) {}

  Draft run() {
    std::vector<int> all;
    std::merge(group_.nodes.begin(), group_.nodes.end(), group_.recomputed.begin(),
               group_.recomputed.end(), std::back_inserter(all));
    for (const int i : all) find_leaves(i);
    for (const int i : all) find_numbers(i);
    for (const int i : all) add_step(i);
    for (const int i : group_.nodes)
      if (is_written_[slot(i)]) add_output(i);
    draft_.domain = group_.domain;
    draft_.mask = group_.mask;
    draft_.formula = &shared_formula(std::move(formula_));
    return std::move(draft_);
  }

 private:
  const Node& node(int i) const { return graph_.nodes[slot(i)]; }
  bool is_recomputed(int i) const {
    return std::binary_search(group_.recomputed.begin(), group_.recomputed.end(), i);
  }
  bool is_inside(const Value& value) const {
    const int number = fusion_.group_of[slot(value.node)];
    return (number >= 0 && number == fusion_.group_of[slot(group_.nodes[0])]) ||
           is_recomputed(value.node);
  }

  // A node that is computed again has the domain's shape.
  std::vector<int> reads_at(int i) const {
    if (node(i).kind != Node::Kind::Reduce && !is_recomputed(i)) return fusion_.place_of[slot(i)];
    std::vector<int> all(group_.domain.size());
    for (std::size_t d = 0; d < all.size(); ++d) all[d] = static_cast<int>(d);
    return all;
  }

  int leaf_of(int i, const Value& value) {
    const Shape strides = domain_strides(group_, value, reads_at(i));
    const bool is_place = reads_place(i, value);
    for (std::size_t l = 0; l < draft_.leaves.size(); ++l) {
      const PlannedLeaf& known = draft_.leaves[l];
      if (known.node == value.node && known.offset == value.offset && known.strides == strides &&
          formula_->leaves[l].is_place == is_place)
        return static_cast<int>(l);
    }
    draft_.leaves.push_back({value.node, value.offset, strides});
    return is_place ? formula_->place_leaf() : formula_->leaf(node(value.node).dtype);
  }

  // Rows along several dimensions may have to be copied together first, which needs memory.
  bool reads_place(int i, const Value& value) const {
    return node(value.node).is_counting && node(i).kind == Node::Kind::Pointwise &&
           std::popcount(group_.mask) <= 1;
  }

  void find_leaves(int i) {
    for (std::size_t o = 0; o < node(i).operands.size(); ++o) {
      const Value& value = node(i).operands[o];
      if (!value.is_number() && !is_inside(value)) values_[{i, o}] = leaf_of(i, value);
    }
  }

  void find_numbers(int i) {
    for (std::size_t o = 0; o < node(i).operands.size(); ++o) {
      const Value& value = node(i).operands[o];
      if (!value.is_number()) continue;
      values_[{i, o}] = formula_->number(value.number.dtype);
      draft_.numbers.push_back({i, o});
    }
  }

  void add_step(int i) {
    const Node& n = node(i);
    if (divides_by_row(n)) return add_product_by_reciprocal(i);
    Step step{.op = divides_quickly(n) ? Op::Quotient : n.op,
              .operand_dtype = n.operand_dtype,
              .dtype = n.dtype};
    for (std::size_t o = 0; o < n.operands.size(); ++o) {
      const Value& value = n.operands[o];
      const bool is_step = !value.is_number() && is_inside(value);
      step.operands[o] =
          static_cast<std::int16_t>(is_step ? steps_.at(value.node) : values_.at({i, o}));
    }
    formula_->steps.push_back(step);
    steps_[i] = last_step();
  }

  // Within 2 ulp instead of 0.5, as torch.compile divides: where the result is rounded to fewer
  // bits anyway, and where all elements of a row are divided by one number.
  bool divides_quickly(const Node& n) const {
    if (n.op != Op::Divide) return false;
    if (n.operand_dtype == DType::Float16 || n.operand_dtype == DType::BFloat16) return true;
    const Value& divisor = n.operands[1];
    return n.operand_dtype == DType::Float32 && group_.mask != 0 && n.shape == group_.domain &&
           !divisor.is_number() && node(divisor.node).shape != group_.domain;
  }

  // All elements of a row by one number that the kernel has computed. A loop on a CPU makes the
  // product itself (codegen/lower/loop_elements), and knows of a sum of powers that it needs no
  // power of two.
  bool divides_by_row(const Node& n) const {
    return device_of(graph_) == DeviceKind::Cuda && divides_quickly(n) && group_.mask != 0 &&
           n.shape == group_.domain && !n.operands[0].is_number() && !n.operands[1].is_number() &&
           is_inside(n.operands[1]) && node(n.operands[1].node).shape != group_.domain;
  }

  // x / s => x * (1 / (s * p)) * p, one division a row: within 2 ulp as a quick division, since p,
  // a power of two, keeps 1 / s a normal number where s is very small or large. A quick division
  // takes registers for each element of a thread (a layer norm of 4096 bfloat16, 4 warps: 79 for
  // 63, six resident blocks for eight; divided it had 3.20 TB/s on an H200, the builtin norm, which
  // multiplies, 3.91).
  void add_product_by_reciprocal(int i) {
    const Node& n = node(i);
    const DType computed = compute_dtype(n.operand_dtype);
    const auto value_of = [&](std::size_t o) {
      const Value& value = n.operands[o];
      return static_cast<std::int16_t>(is_inside(value) ? steps_.at(value.node)
                                                        : values_.at({i, o}));
    };
    const auto add = [&](Op op, std::int16_t a, std::int16_t b = -1) {
      formula_->steps.push_back(
          {.op = op, .operand_dtype = computed, .dtype = computed, .operands = {a, b, -1}});
      return static_cast<std::int16_t>(last_step());
    };
    const std::int16_t divisor = value_of(1), power = add(Op::Balance, divisor);
    const std::int16_t reciprocal = add(Op::Reciprocal, add(Op::Multiply, divisor, power));
    add(Op::Multiply, add(Op::Multiply, value_of(0), reciprocal), power);
    formula_->steps.back().dtype = n.dtype;
    steps_[i] = last_step();
  }

  int last_step() const {
    return formula_->first_step() + static_cast<int>(formula_->steps.size()) - 1;
  }

  void add_output(int i) {
    const bool is_per_row = group_.mask != 0 && node(i).shape != group_.domain;
    formula_->output(steps_.at(i), node(i).dtype, is_per_row);
    draft_.written.push_back(i);
    const Value whole{.node = i, .shape = node(i).shape, .strides = node(i).strides};
    draft_.written_strides.push_back(domain_strides(group_, whole, fusion_.place_of[slot(i)]));
  }

  const Graph& graph_;
  const Fusion& fusion_;
  const Group& group_;
  const std::vector<bool>& is_written_;  // of all nodes
  std::unique_ptr<Formula> formula_;
  Draft draft_;
  std::map<std::pair<int, std::size_t>, int> values_;  // of operands: leaves and numbers
  std::map<int, int> steps_;                           // of nodes
};

bool is_ready(const Draft& draft, const Graph& graph, const std::vector<bool>& is_there) {
  if (draft.node >= 0) {
    for (const Value& value : graph.nodes[slot(draft.node)].operands)
      if (!is_there[slot(value.node)]) return false;
    return true;
  }
  for (const PlannedLeaf& leaf : draft.leaves)
    if (!is_there[slot(leaf.node)]) return false;
  return true;
}

std::vector<Draft> in_order(std::vector<Draft> drafts, const Graph& graph) {
  std::vector<bool> is_there(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) is_there[i] = graph.nodes[i].is_given();
  std::vector<bool> is_done(drafts.size(), false);
  std::vector<Draft> ordered;
  ordered.reserve(drafts.size());
  while (ordered.size() < drafts.size()) {
    const std::size_t before = ordered.size();
    for (std::size_t s = 0; s < drafts.size(); ++s) {
      if (is_done[s] || !is_ready(drafts[s], graph, is_there)) continue;
      for (const int i : drafts[s].written) is_there[slot(i)] = true;
      is_done[s] = true;
      ordered.push_back(std::move(drafts[s]));
    }
    TW_CHECK(ordered.size() > before, "groups wait for each other");
  }
  return ordered;
}

}  // namespace

bool set_walk(PlannedStep& step, const Draft& draft, const Graph& graph,
              std::span<const std::int64_t> sizes) {
  Walk walk;
  walk.set_sizes(step.domain);
  for (const PlannedLeaf& leaf : step.leaves) walk.add_operand(step.domain, leaf.strides);
  Shape strides(step.domain.size());
  for (const Shape& own : draft.written_strides) {
    for (std::size_t d = 0; d < own.size(); ++d)
      strides[d] = sizes[static_cast<std::size_t>(own[d])];
    walk.add_operand(step.domain, strides);
  }
  if (!walk.finish(step.mask, step.mask != 0, device_of(graph))) return false;
  step.walk = walk;
  step.strides = walk.packed_strides();
  return true;
}

std::vector<Draft> draft_steps(const Graph& graph, bool fuses) {
  const Fusion fusion = fuse(graph, fuses);
  const std::vector<bool> is_written = written_nodes(graph, fusion);
  std::vector<Draft> drafts;
  for (const Group& group : fusion.groups)
    if (std::any_of(group.nodes.begin(), group.nodes.end(),
                    [&](int i) { return is_written[slot(i)]; }))
      drafts.push_back(GroupPlanner(graph, fusion, group, is_written).run());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!fusion.is_needed[i] || graph.nodes[i].is_given() || graph.nodes[i].is_fusible()) continue;
    Draft draft;
    draft.node = static_cast<int>(i);
    draft.written = {static_cast<int>(i)};
    drafts.push_back(std::move(draft));
  }
  return in_order(std::move(drafts), graph);
}

PlannedStep step_of(const Draft& draft, const Graph& graph, std::span<const std::int64_t> sizes) {
  PlannedStep step;
  step.node = draft.node;
  step.formula = draft.formula;
  step.mask = draft.mask;
  step.written = draft.written;
  if (step.node >= 0) return step;
  const auto size_at = [&](std::int64_t place) { return sizes[static_cast<std::size_t>(place)]; };
  step.domain.reserve(draft.domain.size());
  for (const std::int64_t place : draft.domain) step.domain.push_back(size_at(place));
  step.leaves.reserve(draft.leaves.size());
  for (const PlannedLeaf& leaf : draft.leaves) {
    PlannedLeaf& bound = step.leaves.emplace_back(leaf);
    bound.offset = size_at(leaf.offset);
    for (std::int64_t& stride : bound.strides) stride = size_at(stride);
  }
  step.numbers.reserve(draft.numbers.size());
  for (const Draft::Number& number : draft.numbers)
    step.numbers.push_back(graph.nodes[slot(number.node)].operands[number.operand].number);
  return step;
}

}  // namespace tilewright::graph
