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
#include "graph/plan/keep.h"
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
    if (op != Op::Cast && op != Op::Balance && used.insert(facts_of(op).name).second)
      name += fmt::format("_{}", facts_of(op).name);
  }
  return used.empty() ? "tw_copy" : name;
}

std::vector<int> nodes_read(const Plan& plan, const PlannedStep& step) {
  std::vector<int> read;
  if (step.node >= 0) {
    for (const Value& value : plan.graph.nodes[index(step.node)].operands)
      read.push_back(value.node);
  } else {
    for (std::size_t l = 0; l < step.leaves.size(); ++l)
      if (!step.formula->leaves[l % step.formula->leaves.size()].is_place)
        read.push_back(step.leaves[l].node);
  }
  return read;
}

void find_lifetimes(Plan& plan) {
  std::vector<bool> is_live(plan.graph.nodes.size(), false);
  for (const Value& value : plan.graph.outputs) is_live[index(value.node)] = true;
  const auto meet = [&](PlannedStep& step, int i) {
    const Node& node = plan.graph.nodes[index(i)];
    if (node.kind == Node::Kind::Captured || is_live[index(i)]) return;
    is_live[index(i)] = true;
    if (node.kind == Node::Kind::Input) step.last_inputs.push_back(node.input);
    else step.last_read.push_back(i);
  };
  for (std::size_t s = plan.steps.size(); s-- > 0;) {
    PlannedStep& step = plan.steps[s];
    if (step.node >= 0) {
      for (const Value& value : plan.graph.nodes[index(step.node)].operands) meet(step, value.node);
    } else {
      for (const PlannedLeaf& leaf : step.leaves) meet(step, leaf.node);
    }
  }
}

std::int64_t bytes_of(const Node& node) {
  return checked_numel(node.shape, size_of(node.dtype)) *
         static_cast<std::int64_t>(size_of(node.dtype));
}

// "computed again: %5 tanh, %7 mul for %12 add, instead of being kept in memory"
std::string again_text(const Graph& graph, const Group& group) {
  std::vector<std::string> names;
  for (const int i : group.recomputed)
    names.push_back(fmt::format("%{} {}", i, node_name(graph.nodes[index(i)])));
  const int last = group.nodes.back();
  return fmt::format("computed again: {} for %{} {}, instead of being kept in memory\n",
                     fmt::join(names, ", "), last, node_name(graph.nodes[index(last)]));
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

void finish_plan(Plan& plan) {
  if (plan.fuses) merge_alike(plan.graph, plan.steps);
  find_lifetimes(plan);
}

std::vector<std::string> Plan::code_names() const {
  std::vector<std::string> names;
  // Steps with the same formula and class of walks share a kernel.
  std::map<std::tuple<const Formula*, std::uint64_t, std::uint64_t, int>, std::string> known;
  for (const PlannedStep& step : steps) {
    names.emplace_back();
    if (step.node >= 0) continue;
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
    if (!step.tuned.empty()) text += fmt::format("  {}\n", step.tuned);
  }
  const Graph whole = whole_graph(*this);
  const Fusion fusion = fuse(whole, fuses, true);
  for (const Group& group : fusion.groups)
    if (!group.recomputed.empty()) text += again_text(whole, group);
  for (const std::string& reason : fusion.reasons) text += "not fused: " + reason + "\n";
  return text;
}

}  // namespace tilewright::graph
