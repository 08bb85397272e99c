// SPDX-License-Identifier: Apache-2.0
// graph/plan/plan.h — a graph as steps that run: kernels of fused groups, and operations that have
// their own. Memory of a value is taken when it is written and given back after it is read last.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/group/fuse.h"
#include "graph/launch.h"
#include "graph/lower/contract.h"

namespace tilewright::graph {

// One formula for all plans that compute the same, so that their kernels are compiled once.
const Formula& shared_formula(std::unique_ptr<Formula> formula);

struct PlannedLeaf {
  int node = 0;
  std::int64_t offset = 0;  // in elements, from the node's first
  Shape strides;            // over the domain
};

struct PlannedStep {
  int node = -1;  // that has its own operation; -1: a group
  const Formula* formula = nullptr;
  WalkClass walk;
  std::vector<std::int64_t> strides;  // packed, of the walk
  Shape domain;
  std::uint32_t mask = 0;
  std::vector<PlannedLeaf> leaves;
  std::vector<int> written;
  // Of steps that do the same with several lists of operands (merge.h): leaves and written nodes
  // are those of the lists, one after the other; empty: there is one list.
  std::vector<std::int64_t> sizes;
  std::vector<Argument> numbers;
  std::vector<int> last_read;    // nodes that nothing reads after this step
  std::vector<int> last_inputs;  // likewise arguments of the function, by their numbers
  // Of a tuned plan.
  std::optional<int> num_warps = {};
  std::optional<ContractBlocks> blocks = {};
  std::string tuned = {};  // who won, in words

  Walk full_walk() const { return {walk, strides}; }
};

int lists_of(const PlannedStep& step);
std::int64_t programs_of(const PlannedStep& step);

struct Plan {
  Graph graph;                   // the nodes that it runs; keep.h has all of them
  std::size_t traced_nodes = 0;  // of the graph; those behind them are copies (copies.h)
  std::vector<PlannedStep> steps;
  bool fuses = true;
  // What the graph was: words that all plans of a structure share, sizes, numbers of operands.
  std::shared_ptr<const std::vector<std::uint32_t>> structure = {};
  std::vector<std::int64_t> sizes = {};
  std::vector<Argument> numbers = {};

  std::string explain() const;
  // The kernels of all groups as Triton source, which Triton itself compiles.
  std::string output_code() const;
  // What it calls the kernel of each step; empty: it has none.
  std::vector<std::string> code_names() const;
};

// Without `fuses` each operation has a kernel of its own, as in eager calls.
Plan make_plan(Graph graph, bool fuses = true);

// Of steps in their order: those that are alike become one, and memory lives as long as it is read.
void finish_plan(Plan& plan);

// Fresh tensors, one for each output of the graph. Handles of inputs are dropped after their last
// use: memory that nobody else holds is used again by later steps.
std::vector<Tensor> run_plan(const Plan& plan, std::span<Tensor> inputs);

}  // namespace tilewright::graph
