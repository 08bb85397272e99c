// SPDX-License-Identifier: Apache-2.0
// graph/plan/keep.h — plans of graphs that differ in sizes alone: what was decided for one holds
// for all, and an unseen shape only gets its sizes put in.
//
// Two graphs are of one structure where nodes, dtypes and views are the same but for sizes, strides
// and offsets, equal ones of which are equal in both, and 0 and 1 stand for themselves: no rule of
// fusion can tell them apart but by has_few_long_rows. Numbers of operands do not count.
//
// A plan keeps of its graph what it runs: given nodes, those with operations of their own, and
// those that are in memory, without what they were computed from. The rest is in the words, the
// sizes and the numbers; all nodes with their operands would be most of what an unseen shape costs,
// since their memory is new.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/plan/draft.h"

namespace tilewright::graph {

// The structure of a graph as words to compare, and the sizes that the words name by their place.
struct Structure {
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> sizes;
};
Structure structure_of(const Graph& graph, bool fuses);
// The graph that a plan was made from.
Graph whole_graph(const Plan& plan);

// Of the structures that were planned last, at most so many.
class KeptPlans {
 public:
  static constexpr std::size_t most_structures = 64;
  Plan plan_for(Graph graph, bool fuses);
  std::size_t structures() const;

 private:
  struct Kept {
    std::uint64_t hash = 0;
    std::shared_ptr<const std::vector<std::uint32_t>> words;
    std::vector<Draft> drafts;  // with places of sizes instead of sizes
  };
  std::shared_ptr<const Kept> find(std::uint64_t hash, const std::vector<std::uint32_t>& words);
  std::shared_ptr<const Kept> add(const Graph& graph, bool fuses, std::uint64_t hash,
                                  Structure& structure);

  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const Kept>> kept_;  // the one that was planned last is the first
};

}  // namespace tilewright::graph
