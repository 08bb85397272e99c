// SPDX-License-Identifier: Apache-2.0
// graph/plan/plan.cpp — from groups to steps: formulas, walks, order and lifetimes.
#include "graph/plan/plan.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "graph/lower/group.h"
#include "graph/plan/merge.h"
#include "graph/print/triton.h"
#include "tensor/shape.h"

namespace tilewright::graph {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// "tw_sub_exp_sum": what a profile shows.
std::string name_of_steps(const Formula& formula) {
  std::string name = "tw";
  std::set<std::string_view> used;
  for (const Step& step : formula.steps) {
    if (used.size() == 6) break;
    const Op op = step.op == Op::Quotient ? Op::Divide : step.op;
    if (op != Op::Cast && used.insert(facts_of(op).name).second)
      name += fmt::format("_{}", facts_of(op).name);
  }
  return used.empty() ? "tw_copy" : name;
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

  PlannedStep run() {
    for (const int i : group_.nodes) find_leaves(i);
    for (const int i : group_.nodes) find_numbers(i);
    for (const int i : group_.nodes) add_step(i);
    for (const int i : group_.nodes)
      if (is_written_[index(i)]) add_output(i);
    step_.domain = group_.domain;
    step_.mask = group_.mask;
    step_.formula = &shared_formula(std::move(formula_));
    set_walk();
    return std::move(step_);
  }

 private:
  const Node& node(int i) const { return graph_.nodes[index(i)]; }
  bool is_inside(const Value& value) const {
    return fusion_.group_of[index(value.node)] >= 0 &&
           fusion_.group_of[index(value.node)] == fusion_.group_of[index(group_.nodes[0])];
  }

  std::vector<int> reads_at(int i) const {
    if (node(i).kind != Node::Kind::Reduce) return fusion_.place_of[index(i)];
    std::vector<int> all(group_.domain.size());
    for (std::size_t d = 0; d < all.size(); ++d) all[d] = static_cast<int>(d);
    return all;
  }

  int leaf_of(int i, const Value& value) {
    const Shape strides = domain_strides(group_, value, reads_at(i));
    for (std::size_t l = 0; l < step_.leaves.size(); ++l) {
      const PlannedLeaf& known = step_.leaves[l];
      if (known.node == value.node && known.offset == value.offset && known.strides == strides)
        return static_cast<int>(l);
    }
    step_.leaves.push_back({value.node, value.offset, strides});
    return formula_->leaf(node(value.node).dtype);
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
      step_.numbers.push_back(value.number);
    }
  }

  void add_step(int i) {
    const Node& n = node(i);
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
    steps_[i] = formula_->first_step() + static_cast<int>(formula_->steps.size()) - 1;
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

  void add_output(int i) {
    const bool is_per_row = group_.mask != 0 && node(i).shape != group_.domain;
    formula_->output(steps_.at(i), node(i).dtype, is_per_row);
    step_.written.push_back(i);
  }

  void set_walk() {
    Walk& walk = step_.walk;
    walk.set_sizes(group_.domain);
    for (const PlannedLeaf& leaf : step_.leaves) walk.add_operand(group_.domain, leaf.strides);
    for (const int i : step_.written) {
      const Value whole{.node = i, .shape = node(i).shape, .strides = node(i).strides};
      walk.add_operand(group_.domain, domain_strides(group_, whole, fusion_.place_of[index(i)]));
    }
    const DeviceKind device = emulated_target() != nullptr ? DeviceKind::Cuda : graph_.device.kind;
    step_.needs_copies = !walk.finish(group_.mask, group_.mask != 0, device);
  }

  const Graph& graph_;
  const Fusion& fusion_;
  const Group& group_;
  const std::vector<bool>& is_written_;  // of all nodes
  std::unique_ptr<Formula> formula_;
  PlannedStep step_;
  std::map<std::pair<int, std::size_t>, int> values_;  // of operands: leaves and numbers
  std::map<int, int> steps_;                           // of nodes
};

// Nodes that another kernel, or the caller, reads.
std::vector<bool> find_written(const Graph& graph, const Fusion& fusion) {
  std::vector<bool> is_written(graph.nodes.size(), false);
  for (const Value& value : graph.outputs) is_written[index(value.node)] = true;
  for (std::size_t r = 0; r < graph.nodes.size(); ++r) {
    if (!fusion.is_needed[r]) continue;
    for (const Value& value : graph.nodes[r].operands)
      if (!value.is_number() && fusion.group_of[r] != fusion.group_of[index(value.node)])
        is_written[index(value.node)] = true;
  }
  return is_written;
}

// Steps in an order in which everything is written before it is read.
void order_steps(Plan& plan, std::vector<PlannedStep> steps) {
  std::vector<bool> is_there(plan.graph.nodes.size(), false);
  for (std::size_t i = 0; i < plan.graph.nodes.size(); ++i)
    is_there[i] = plan.graph.nodes[i].is_given();
  std::vector<bool> is_done(steps.size(), false);
  plan.steps.reserve(steps.size());
  for (std::size_t done = 0; done < steps.size();) {
    const std::size_t before = done;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (is_done[s]) continue;
      bool is_ready = true;
      if (steps[s].node >= 0) {
        for (const Value& value : plan.graph.nodes[index(steps[s].node)].operands)
          is_ready &= is_there[index(value.node)];
      } else {
        for (const PlannedLeaf& leaf : steps[s].leaves) is_ready &= is_there[index(leaf.node)];
      }
      if (!is_ready) continue;
      for (const int i : steps[s].written) is_there[index(i)] = true;
      is_done[s] = true;
      ++done;
      plan.steps.push_back(std::move(steps[s]));
    }
    TW_CHECK(done > before, "groups wait for each other");
  }
}

std::vector<int> nodes_read(const Plan& plan, const PlannedStep& step) {
  std::vector<int> read;
  if (step.node >= 0) {
    for (const Value& value : plan.graph.nodes[index(step.node)].operands)
      read.push_back(value.node);
  } else {
    for (const PlannedLeaf& leaf : step.leaves) read.push_back(leaf.node);
  }
  return read;
}

void find_lifetimes(Plan& plan) {
  std::set<int> live;
  for (const Value& value : plan.graph.outputs) live.insert(value.node);
  for (std::size_t s = plan.steps.size(); s-- > 0;)
    for (const int i : nodes_read(plan, plan.steps[s]))
      if (!plan.graph.nodes[index(i)].is_given() && live.insert(i).second)
        plan.steps[s].last_read.push_back(i);
}

std::int64_t bytes_of(const Node& node) {
  return checked_numel(node.shape, size_of(node.dtype)) *
         static_cast<std::int64_t>(size_of(node.dtype));
}

}  // namespace

const Formula& shared_formula(std::unique_ptr<Formula> formula) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, std::unique_ptr<Formula>>();
  const std::lock_guard lock(mutex);
  auto& place = (*known)[formula->key()];
  if (!place) {
    formula->name = name_of_steps(*formula);
    place = std::move(formula);
  }
  return *place;
}

int lists_of(const PlannedStep& step) {
  return step.sizes.empty() ? 1 : static_cast<int>(step.sizes.size());
}

std::int64_t programs_of(const PlannedStep& step) {
  std::int64_t programs = step.walk.programs();
  for (std::size_t list = 1; list < step.sizes.size(); ++list)
    programs += cdiv(step.sizes[list], std::int64_t{1} << step.walk.log_block);
  return programs;
}

Plan make_plan(Graph graph, bool fuses) {
  Plan plan;
  const Fusion fusion = fuse(graph, fuses);
  const std::vector<bool> is_written = find_written(graph, fusion);
  std::vector<PlannedStep> steps;
  steps.reserve(graph.nodes.size());
  for (const Group& group : fusion.groups)
    steps.push_back(GroupPlanner(graph, fusion, group, is_written).run());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!fusion.is_needed[i] || graph.nodes[i].is_given() || graph.nodes[i].is_fusible()) continue;
    PlannedStep step;
    step.node = static_cast<int>(i);
    step.written = {static_cast<int>(i)};
    steps.push_back(std::move(step));
  }
  plan.fuses = fuses;
  plan.graph = std::move(graph);
  order_steps(plan, std::move(steps));
  if (fuses) merge_alike(plan.graph, plan.steps);
  find_lifetimes(plan);
  return plan;
}

std::vector<std::string> Plan::code_names() const {
  std::vector<std::string> names;
  // Steps with the same formula and class of walks share a kernel.
  std::map<std::tuple<const Formula*, std::uint64_t, std::uint64_t, int>, std::string> known;
  for (const PlannedStep& step : steps) {
    names.emplace_back();
    // Rows that are copied together first are walked in a class that only the run knows.
    if (step.node >= 0 || step.needs_copies) continue;
    std::string& name = known[{step.formula, step.walk.head_word(graph.device.kind),
                               step.walk.access_word(), lists_of(step)}];
    if (name.empty()) {
      name = step.formula->name;
      if (known.size() > 1) name += fmt::format("_{}", known.size());
    }
    names.back() = name;
  }
  return names;
}

std::string Plan::output_code() const {
  std::string text = triton_imports();
  const std::vector<std::string> names = code_names();
  std::set<std::string> printed;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const PlannedStep& step = steps[s];
    if (step.node >= 0)
      text += fmt::format("# {} has a kernel of its own.\n\n\n",
                          node_name(graph.nodes[index(step.node)]));
    if (names[s].empty() || !printed.insert(names[s]).second) continue;
    ir::Kernel kernel = lists_of(step) == 1 ? lower_group(*step.formula, step.walk)
                                            : lower_lists(*step.formula, step.walk, lists_of(step));
    kernel.name = names[s];
    text += fmt::format("# {} programs\n{}\n\n", programs_of(step), to_triton(kernel));
  }
  return text;
}

std::string Plan::explain() const {
  std::string text;
  int number = 0;
  for (const PlannedStep& step : steps) {
    text += fmt::format("kernel {}: ", ++number);
    if (step.node >= 0) {
      text += node_name(graph.nodes[index(step.node)]);
    } else {
      std::vector<std::string_view> names;
      for (const Step& one : step.formula->steps) names.push_back(facts_of(one.op).name);
      text += fmt::format("{}", fmt::join(names, ", "));
      if (lists_of(step) > 1) text += fmt::format(" for {} lists of tensors", lists_of(step));
    }
    std::int64_t read = 0, written = 0;
    std::set<int> once;
    for (const int i : nodes_read(*this, step))
      if (once.insert(i).second) read += bytes_of(graph.nodes[index(i)]);
    for (const int i : step.written) written += bytes_of(graph.nodes[index(i)]);
    text += fmt::format("; reads {} bytes, writes {}\n", read, written);
  }
  for (const std::string& reason : fuse(graph, fuses, true).reasons)
    text += "not fused: " + reason + "\n";
  return text;
}

}  // namespace tilewright::graph
