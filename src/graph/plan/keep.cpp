// SPDX-License-Identifier: Apache-2.0
// graph/plan/keep.cpp — the words of a structure, and plans from what is kept of it.
#include "graph/plan/keep.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "graph/mix.h"

namespace tilewright::graph {
namespace {

// The place of each size in the order in which they are met.
class SizePlaces {
 public:
  SizePlaces() : sizes_{0, 1} {}

  std::uint32_t of(std::int64_t size) {
    if (size == 0 || size == 1) return static_cast<std::uint32_t>(size);
    std::size_t slot = start_of(size);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
      if (sizes_[slots_[slot]] == size) return slots_[slot];
    if (2 * sizes_.size() >= slots_.size()) {
      grow();
      return of(size);
    }
    slots_[slot] = static_cast<std::uint32_t>(sizes_.size());
    sizes_.push_back(size);
    return slots_[slot];
  }
  std::vector<std::int64_t> take() { return std::move(sizes_); }

 private:
  std::size_t start_of(std::int64_t size) const {
    return (static_cast<std::uint64_t>(size) * 0x9e3779b97f4a7c15u >> 40) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (std::size_t place = 2; place < sizes_.size(); ++place) {
      std::size_t slot = start_of(sizes_[place]);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::uint32_t>(place);
    }
  }

  std::vector<std::int64_t> sizes_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(128);  // 0: empty
};

class StructureWriter {
 public:
  Structure run(const Graph& graph, bool fuses) {
    words_.reserve(24 * graph.nodes.size());
    put((fuses ? 1u : 0u) | (graph.device.is_cpu() ? 0u : 2u));  // what fusion asks besides
    for (const Node& node : graph.nodes) put_node(node);
    for (const Value& value : graph.outputs) put(value.node);
    return {std::move(words_), places_.take()};
  }

 private:
  template <class Number>
  void put(Number number) {
    words_.push_back(static_cast<std::uint32_t>(number));
  }
  void put_sizes(const Shape& shape) {
    for (const std::int64_t size : shape) put(places_.of(size));
  }
  void put_node(const Node& node) {
    put(static_cast<std::uint32_t>(node.kind) << 24 | static_cast<std::uint32_t>(node.op) << 16 |
        static_cast<std::uint32_t>(node.operand_dtype) << 8 |
        static_cast<std::uint32_t>(node.dtype));
    put(node.operands.size() << 8 | node.shape.size());
    put(node.mask);
    put(node.is_counting ? 1 : 0);
    put_sizes(node.shape);
    put_sizes(node.strides);
    if (node.kind == Node::Kind::Reduce) put(has_few_long_rows(node) ? 1 : 0);
    for (const Value& value : node.operands) {
      put(value.node);
      put(value.is_number() ? static_cast<std::size_t>(value.number.dtype) : value.shape.size());
      if (value.is_number()) continue;
      put_sizes(value.shape);
      put_sizes(value.strides);
      put(places_.of(value.offset));
    }
  }

  std::vector<std::uint32_t> words_;
  SizePlaces places_;
};

std::uint64_t hash_of_words(const std::vector<std::uint32_t>& words) {
  Mix mix{words.size()};
  std::size_t i = 0;
  for (; i + 1 < words.size(); i += 2) mix.add(std::uint64_t{words[i]} << 32 | words[i + 1]);
  if (i < words.size()) mix.add(words[i]);
  return mix.value;
}

// Words back to nodes, in the order of StructureWriter.
class StructureReader {
 public:
  explicit StructureReader(const Plan& plan) : plan_(plan), words_(*plan.structure) {}

  Graph run() {
    Graph made;
    made.device = plan_.graph.device;
    made.outputs = plan_.graph.outputs;
    next_ = 1;
    for (std::size_t i = 0; i < plan_.graph.nodes.size(); ++i) made.nodes.push_back(node_at(i));
    return made;
  }

 private:
  std::uint32_t take() { return words_[next_++]; }
  Shape take_sizes(std::size_t count) {
    Shape shape(count);
    for (std::int64_t& size : shape) size = plan_.sizes[take()];
    return shape;
  }
  // What no word says is in the plan's own node.
  Node node_at(std::size_t i) {
    Node node = plan_.graph.nodes.has(i) ? plan_.graph.nodes[i] : Node{};
    node.operands.clear();
    const std::uint32_t kinds = take(), counts = take();
    node.kind = static_cast<Node::Kind>(kinds >> 24);
    node.op = static_cast<Op>(kinds >> 16 & 0xff);
    node.operand_dtype = static_cast<DType>(kinds >> 8 & 0xff);
    node.dtype = static_cast<DType>(kinds & 0xff);
    node.mask = take();
    node.is_counting = take() != 0;
    node.shape = take_sizes(counts & 0xff);
    node.strides = take_sizes(counts & 0xff);
    if (node.kind == Node::Kind::Reduce) take();
    for (std::uint32_t o = 0; o < counts >> 8; ++o) node.operands.push_back(take_value());
    return node;
  }
  Value take_value() {
    Value value;
    value.node = static_cast<int>(take());
    const std::uint32_t rank = take();
    if (value.is_number()) {
      value.number = plan_.numbers[number_++];
      return value;
    }
    value.shape = take_sizes(rank);
    value.strides = take_sizes(rank);
    value.offset = plan_.sizes[take()];
    return value;
  }

  const Plan& plan_;
  const std::vector<std::uint32_t>& words_;
  std::size_t next_ = 0, number_ = 0;
};

void drop_nodes(Plan& plan) {
  NodeList& nodes = plan.graph.nodes;
  std::vector<bool> is_run(nodes.size(), false);
  for (const PlannedStep& step : plan.steps)
    for (const int i : step.written) is_run[static_cast<std::size_t>(i)] = true;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Value& value : nodes[i].operands)
      if (value.is_number()) plan.numbers.push_back(value.number);
    if (!nodes[i].is_fusible()) continue;
    if (is_run[i]) nodes[i].operands = {};
    else nodes.drop(i);
  }
}

}  // namespace

Structure structure_of(const Graph& graph, bool fuses) {
  return StructureWriter().run(graph, fuses);
}

Graph whole_graph(const Plan& plan) { return StructureReader(plan).run(); }

std::shared_ptr<const KeptPlans::Kept> KeptPlans::find(std::uint64_t hash,
                                                       const std::vector<std::uint32_t>& words) {
  const std::lock_guard lock(mutex_);
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if ((*kept)->hash != hash || *(*kept)->words != words) continue;
    kept_.splice(kept_.begin(), kept_, kept);
    return kept_.front();
  }
  return nullptr;
}

std::shared_ptr<const KeptPlans::Kept> KeptPlans::add(const Graph& graph, bool fuses,
                                                      std::uint64_t hash, Structure& structure) {
  auto made = std::make_shared<Kept>();
  made->hash = hash;
  made->words = std::make_shared<const std::vector<std::uint32_t>>(std::move(structure.words));
  made->drafts = draft_steps(graph, fuses);
  std::vector<std::pair<std::int64_t, std::int64_t>> place_of;  // by size
  for (std::size_t place = 0; place < structure.sizes.size(); ++place)
    place_of.emplace_back(structure.sizes[place], place);
  std::sort(place_of.begin(), place_of.end());
  for (Draft& draft : made->drafts)
    replace_sizes(draft, [&](std::int64_t size) {
      const auto found =
          std::lower_bound(place_of.begin(), place_of.end(), std::pair(size, std::int64_t{0}));
      TW_CHECK(found != place_of.end() && found->first == size, "a size of no node: {}", size);
      return found->second;
    });
  const std::lock_guard lock(mutex_);
  if (kept_.size() == most_structures) kept_.pop_back();
  kept_.push_front(std::move(made));
  return kept_.front();
}

Plan KeptPlans::plan_for(Graph graph, bool fuses) {
  Structure structure = structure_of(graph, fuses);
  const std::uint64_t hash = hash_of_words(structure.words);
  std::shared_ptr<const Kept> kept = find(hash, structure.words);
  if (kept == nullptr) kept = add(graph, fuses, hash, structure);
  Plan plan;
  plan.fuses = fuses;
  plan.steps.reserve(kept->drafts.size());
  for (const Draft& draft : kept->drafts)
    plan.steps.push_back(step_of(draft, graph, structure.sizes));
  plan.graph = std::move(graph);
  plan.structure = kept->words;
  plan.sizes = std::move(structure.sizes);
  finish_plan(plan);
  drop_nodes(plan);
  return plan;
}

std::size_t KeptPlans::structures() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

Plan make_plan(Graph graph, bool fuses) { return KeptPlans().plan_for(std::move(graph), fuses); }

}  // namespace tilewright::graph
