// SPDX-License-Identifier: Apache-2.0
// graph/plan/keep.h — plans of graphs that differ in sizes alone: what was decided for one holds
// for all, and an unseen shape only gets its sizes put in.
//
// Two graphs are of one structure where nodes, dtypes and views are the same but for sizes, strides
// and offsets, equal ones of which are equal in both, and 0 and 1 stand for themselves: no rule of
// fusion can tell them apart but by has_few_long_rows. Numbers of operands do not count.
#pragma once

#include <cstdint>
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

class KeptPlans {
 public:
  Plan plan_for(Graph graph, bool fuses);
  std::size_t structures() const;

 private:
  struct Kept {
    std::uint64_t hash = 0;
    std::vector<std::uint32_t> words;
    std::vector<Draft> drafts;  // with places of sizes instead of sizes
  };
  const Kept* find(std::uint64_t hash, const std::vector<std::uint32_t>& words) const;
  const Kept& add(const Graph& graph, bool fuses, std::uint64_t hash, Structure& structure);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<const Kept>> kept_;
};

}  // namespace tilewright::graph
