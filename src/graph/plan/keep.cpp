// SPDX-License-Identifier: Apache-2.0
// graph/plan/keep.cpp — the words of a structure, and plans from what is kept of it.
#include "graph/plan/keep.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "graph/launch.h"
#include "graph/mix.h"
#include "graph/plan/copies.h"
#include "tensor/shape.h"

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

// How a word says what an operand is.
enum class Read : std::uint32_t { Number, Whole, View };

// Strides that other sizes of the node say: those of rows that lie together.
bool has_strides(const Node& node) { return node.is_given() || node.shape.size() > 2; }

class StructureWriter {
 public:
  explicit StructureWriter(const Graph& graph) : graph_(graph) {}

  Structure run(bool fuses) {
    words_.resize(8 * graph_.nodes.size() + 64);
    // What fusion and formulas ask besides.
    put((fuses ? 1u : 0u) | (graph_.device.is_cpu() ? 0u : 2u) | (emulated_target() ? 4u : 0u));
    for (const Node& node : graph_.nodes) put_node(node);
    reserve(graph_.outputs.size());
    for (const Value& value : graph_.outputs) put(value.node);
    words_.resize(count_);
    return {std::move(words_), places_.take()};
  }

 private:
  void reserve(std::size_t more) {
    if (count_ + more > words_.size()) words_.resize(2 * words_.size() + more);
  }
  template <class Number>
  void put(Number number) {
    words_[count_++] = static_cast<std::uint32_t>(number);
  }
  void put_sizes(const Shape& shape) {
    for (const std::int64_t size : shape) put(places_.of(size));
  }
  void put_node(const Node& node) {
    reserve(4 + 2 * node.shape.size());
    put(static_cast<std::uint32_t>(node.kind) << 24 | static_cast<std::uint32_t>(node.op) << 16 |
        static_cast<std::uint32_t>(node.operand_dtype) << 8 |
        static_cast<std::uint32_t>(node.dtype));
    put(node.operands.size() << 8 | node.shape.size());
    put(node.mask << 1 | (node.is_counting ? 1u : 0u));
    put_sizes(node.shape);
    if (has_strides(node)) put_sizes(node.strides);
    if (node.kind == Node::Kind::Reduce) put(has_few_long_rows(node) ? 1 : 0);
    for (const Value& value : node.operands) put_value(value);
  }
  void put_value(const Value& value) {
    reserve(3 + 2 * value.shape.size());
    const auto put_read = [&](auto what, Read read) {
      put(static_cast<std::uint32_t>(what) << 2 | static_cast<std::uint32_t>(read));
    };
    if (value.is_number()) return put_read(value.number.dtype, Read::Number);
    const Node& node = graph_.nodes[static_cast<std::size_t>(value.node)];
    if (value.offset == 0 && value.shape == node.shape && value.strides == node.strides)
      return put_read(value.node, Read::Whole);
    put_read(value.node, Read::View);
    put(value.shape.size());
    put_sizes(value.shape);
    put_sizes(value.strides);
    put(places_.of(value.offset));
  }

  const Graph& graph_;
  std::vector<std::uint32_t> words_;
  std::size_t count_ = 0;  // of them are written
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
    made_.device = plan_.graph.device;
    made_.outputs = plan_.graph.outputs;
    next_ = 1;
    for (std::size_t i = 0; i < plan_.traced_nodes; ++i) made_.nodes.push_back(node_at(i));
    return std::move(made_);
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
    const std::uint32_t mask = take();
    node.mask = mask >> 1;
    node.is_counting = (mask & 1) != 0;
    node.shape = take_sizes(counts & 0xff);
    node.strides = has_strides(node) ? take_sizes(counts & 0xff) : contiguous_strides(node.shape);
    if (node.kind == Node::Kind::Reduce) take();
    for (std::uint32_t o = 0; o < counts >> 8; ++o) node.operands.push_back(take_value());
    return node;
  }
  Value take_value() {
    Value value;
    const std::uint32_t word = take();
    const auto read = static_cast<Read>(word & 3);
    if (read == Read::Number) {
      value.number = plan_.numbers[number_++];
      return value;
    }
    value.node = static_cast<int>(word >> 2);
    if (read == Read::Whole) {
      const Node& whole = made_.nodes[word >> 2];
      value.shape = whole.shape;
      value.strides = whole.strides;
      return value;
    }
    const std::uint32_t rank = take();
    value.shape = take_sizes(rank);
    value.strides = take_sizes(rank);
    value.offset = plan_.sizes[take()];
    return value;
  }

  const Plan& plan_;
  const std::vector<std::uint32_t>& words_;
  Graph made_;
  std::size_t next_ = 0, number_ = 0;
};

void drop_nodes(Plan& plan) {
  NodeList& nodes = plan.graph.nodes;
  std::vector<bool> is_kept(nodes.size(), false);
  for (const PlannedStep& step : plan.steps)
    for (const int i : step.written) is_kept[static_cast<std::size_t>(i)] = true;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Value& value : nodes[i].operands)
      if (value.is_number()) plan.numbers.push_back(value.number);
    if (!nodes[i].is_fusible()) is_kept[i] = true;
    else if (is_kept[i]) nodes[i].operands = {};
  }
  nodes.keep(is_kept);
}

}  // namespace

Structure structure_of(const Graph& graph, bool fuses) { return StructureWriter(graph).run(fuses); }

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
  plan.traced_nodes = graph.nodes.size();
  plan.steps.reserve(kept->drafts.size());
  for (const Draft& draft : kept->drafts) {
    PlannedStep step = step_of(draft, graph, structure.sizes);
    if (step.node < 0 && !set_walk(step, draft, graph, structure.sizes)) {
      for (PlannedStep& copy : put_rows_together(step, graph))
        plan.steps.push_back(std::move(copy));
      TW_CHECK(set_walk(step, draft, graph, structure.sizes), "rows that were copied lie together");
    }
    plan.steps.push_back(std::move(step));
  }
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
