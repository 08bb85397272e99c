// SPDX-License-Identifier: Apache-2.0
// graph/group/fuse.cpp — groups grow forward: each node takes in the groups of what it reads.
#include "graph/group/fuse.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "graph/group/recompute.h"
#include "graph/layout.h"
#include "tensor/shape.h"

namespace tilewright::graph {
namespace {

constexpr std::size_t most_memory = 14;  // tensors that a kernel reads and writes
constexpr std::int64_t few_rows = 8;
constexpr std::int64_t many_elements = 1 << 15;

std::vector<int> identity_place(std::size_t rank) {
  std::vector<int> place(rank);
  std::iota(place.begin(), place.end(), 0);
  return place;
}

// A row's shape without the reduced dimensions.
std::vector<int> kept_place(std::size_t rank, std::uint32_t mask) {
  std::vector<int> place;
  for (std::size_t d = 0; d < rank; ++d)
    if ((mask >> d & 1) == 0) place.push_back(static_cast<int>(d));
  return place;
}

Shape shape_of_rows(const Shape& domain, std::uint32_t mask, bool keeps) {
  Shape shape;
  for (std::size_t d = 0; d < domain.size(); ++d) {
    const bool is_reduced = (mask >> d & 1) != 0;
    if (!is_reduced) shape.push_back(domain[d]);
    else if (keeps) shape.push_back(1);
  }
  return shape;
}

// Rows along several dimensions that are not the last ones can only be reduced.
bool is_last_or_one(std::uint32_t mask, std::size_t rank) {
  if (std::popcount(mask) <= 1) return true;
  return (mask >> std::countr_zero(mask)) == (1u << std::popcount(mask)) - 1 &&
         static_cast<std::size_t>(std::bit_width(mask)) == rank;
}

class Fuser {
 public:
  Fuser(const Graph& graph, bool fuses) : graph_(graph), fuses_(fuses) {
    fusion_.group_of.assign(graph.nodes.size(), -1);
    fusion_.place_of.resize(graph.nodes.size());
    fusion_.is_needed.assign(graph.nodes.size(), false);
    readers_.resize(graph.nodes.size());
    is_output_.assign(graph.nodes.size(), false);
    member_marks_.assign(graph.nodes.size(), 0);
    seen_marks_.assign(graph.nodes.size(), 0);
  }

  Fusion run(bool gives_reasons) {
    mark_needed();
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i)
      if (fusion_.is_needed[at(i)] && node(i).is_fusible()) place(i);
    compact();
    if (fuses_) recompute_values(graph_, fusion_);
    if (gives_reasons) find_reasons();
    return std::move(fusion_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  const Node& node(int i) const { return graph_.nodes[at(i)]; }

  void mark_needed() {
    for (const Value& value : graph_.outputs)
      fusion_.is_needed[at(value.node)] = is_output_[at(value.node)] = true;
    for (int i = static_cast<int>(graph_.nodes.size()) - 1; i >= 0; --i) {
      if (!fusion_.is_needed[at(i)]) continue;
      for (const Value& value : node(i).operands)
        if (!value.is_number()) {
          fusion_.is_needed[at(value.node)] = true;
          readers_[at(value.node)].push_back(i);
        }
    }
  }

  // Where the dimensions of the node that `value` views lie in the domain, as a reader at `reads`
  // sees them; empty optional where elements move.
  std::optional<std::vector<int>> seen_at(const Value& value, const std::vector<int>& reads) const {
    const Node& from = node(value.node);
    if (value.offset != 0) return std::nullopt;
    std::vector<int> seen(from.shape.size(), -1);
    const std::size_t missing = reads.size() - value.shape.size();
    for (std::size_t s = 0; s < value.shape.size(); ++s) {
      if (value.shape[s] == 1 || value.strides[s] == 0) continue;
      std::size_t p = 0;
      while (p < seen.size() && !(from.strides[p] == value.strides[s] &&
                                  from.shape[p] == value.shape[s] && seen[p] < 0))
        ++p;
      if (p == seen.size()) return std::nullopt;
      seen[p] = reads[missing + s];
    }
    for (std::size_t p = 0; p < seen.size(); ++p)
      if (from.shape[p] > 1 && seen[p] < 0) return std::nullopt;
    return seen;
  }

  // The dimensions that a reader's operands are broadcast to.
  std::vector<int> operand_place(int reader) const {
    const Node& n = node(reader);
    if (n.kind == Node::Kind::Reduce) return identity_place(n.operands[0].shape.size());
    return fusion_.place_of[at(reader)];
  }

  bool is_read_in_place(int reader, const Value& value) const {
    const auto seen = seen_at(value, operand_place(reader));
    if (!seen) return false;
    const std::vector<int>& own = fusion_.place_of[at(value.node)];
    for (std::size_t p = 0; p < own.size(); ++p)
      if (node(value.node).shape[p] > 1 && own[p] != (*seen)[p]) return false;
    return true;
  }

  // Sets of nodes without memory of their own: a node is in the set whose number it has.
  class Members {
   public:
    Members(std::vector<int>& marks, int number) : marks_(marks), number_(number) {}
    bool operator[](std::size_t i) const { return marks_[i] == number_; }
    void add(int i) const { marks_[at(i)] = number_; }

   private:
    std::vector<int>& marks_;
    int number_;
  };
  Members members_of(const Group& group) const {
    const Members members(member_marks_, ++sets_);
    for (const int i : group.nodes) members.add(i);
    return members;
  }

  // Every value that a node of the group reads from another one is at the reader's place.
  bool holds_together(const Group& group, const Members& members) const {
    for (const int i : group.nodes)
      for (const Value& value : node(i).operands)
        if (!value.is_number() && members[at(value.node)] && !is_read_in_place(i, value))
          return false;
    return true;
  }

  // Tensors that it reads and writes; counted no further than what is too many.
  std::size_t memory_of(const Group& group, const Members& members) const {
    std::vector<const Value*> read;
    std::size_t written = 0;
    const auto is_known = [&](const Value& value) {
      return std::any_of(read.begin(), read.end(), [&](const Value* other) {
        return other->node == value.node && other->offset == value.offset &&
               other->strides == value.strides;
      });
    };
    for (const int i : group.nodes) {
      for (const Value& value : node(i).operands)
        if (!value.is_number() && !members[at(value.node)] && !is_known(value))
          read.push_back(&value);
      written += is_written(i, members) ? 1 : 0;
      if (read.size() + written > most_memory) break;
    }
    return read.size() + written;
  }

  bool is_written(int i, const Members& members) const {
    if (is_output_[at(i)]) return true;
    for (const int reader : readers_[at(i)])
      if (!members[at(reader)]) return true;
    return false;
  }

  // A way from one node of the group out of it and back: it could not run before or after.
  bool has_way_around(const Group& group, const Members& members) const {
    std::vector<int> open;
    const Members seen(seen_marks_, ++sets_);
    // Nodes behind the present one are in no group yet: no way leads back from them.
    const auto visit = [&](int i) {
      if (i > present_ || seen[at(i)]) return;
      seen.add(i);
      open.push_back(i);
    };
    for (const int i : group.nodes)
      for (const int reader : readers_[at(i)])
        if (!members[at(reader)]) visit(reader);
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      // The nodes of a group run together.
      const int number = fusion_.group_of[at(i)];
      const std::span<const int> together =
          number < 0 ? std::span<const int>(&i, 1) : fusion_.groups[at(number)].nodes;
      for (const int one : together)
        for (const int reader : readers_[at(one)]) {
          if (members[at(reader)]) return true;
          visit(reader);
        }
    }
    return false;
  }

  bool is_full(int i, const Group& group) const { return node(i).shape == group.domain; }

  bool may_be(const Group& group) const {
    if (group.domain.size() > max_rank) return false;
    const Members members = members_of(group);
    const std::size_t memory = memory_of(group, members);
    std::size_t numbers = 0;
    for (const int i : group.nodes) numbers += numbers_of(node(i));
    if (memory > most_memory || !fits_arguments(group.domain.size(), memory, numbers)) return false;
    if (!is_last_or_one(group.mask, group.domain.size()))
      for (const int i : group.nodes)
        if (is_full(i, group) && is_written(i, members)) return false;
    return holds_together(group, members) && !has_way_around(group, members);
  }

  static Group joined(const Group& a, const Group& b) {
    Group both{a.nodes, a.domain, a.mask | b.mask};
    both.nodes.insert(both.nodes.end(), b.nodes.begin(), b.nodes.end());
    std::sort(both.nodes.begin(), both.nodes.end());
    return both;
  }

  // A group without reductions that has one element for each row of this one.
  bool take_in_rows(Group& own, const Group& other) {
    std::vector<int> place;
    if (other.domain == shape_of_rows(own.domain, own.mask, true))
      place = identity_place(own.domain.size());
    else if (other.domain == shape_of_rows(own.domain, own.mask, false))
      place = kept_place(own.domain.size(), own.mask);
    else return false;
    std::vector<std::vector<int>> before;
    for (const int i : other.nodes) before.push_back(std::exchange(fusion_.place_of[at(i)], place));
    const Group both = joined(own, {other.nodes, own.domain, own.mask});
    if (may_be(both)) {
      own = both;
      return true;
    }
    for (std::size_t i = 0; i < before.size(); ++i)
      fusion_.place_of[at(other.nodes[i])] = std::move(before[i]);
    return false;
  }

  // Goes to memory whatever groups there will be.
  bool is_always_written(int i) const {
    if (is_output_[at(i)]) return true;
    for (const int reader : readers_[at(i)])
      if (!node(reader).is_fusible()) return true;
    return false;
  }

  // Reductions that are quicker from memory: of columns, whose elements are there anyway (a kernel
  // of both would compute them twice, with few programs), and of so few rows that one program would
  // compute what many could.
  bool reads_from_memory(int i, const Group& other) const {
    const Node& n = node(i);
    if (n.kind != Node::Kind::Reduce || other.mask != 0) return false;
    const Shape& domain = n.operands[0].shape;
    const bool is_columns = static_cast<std::size_t>(std::bit_width(n.mask)) < domain.size();
    if (is_columns && is_always_written(n.operands[0].node)) return true;
    return !is_columns && has_few_long_rows(n);
  }

  // The group with the node's own, where the node may have one element for each row of `other`.
  bool take_in(int i, Group& own, const Group& other) {
    if (reads_from_memory(i, other)) return false;
    if (own.domain == other.domain &&
        (own.mask == other.mask || own.mask == 0 || other.mask == 0)) {
      const Group both = joined(own, other);
      if (!may_be(both)) return false;
      own = both;
      return true;
    }
    if (own.mask != 0 && other.mask == 0) return take_in_rows(own, other);
    const bool is_alone = own.nodes.size() == 1 && node(i).kind == Node::Kind::Pointwise;
    if (!is_alone || other.mask == 0) return false;
    const Shape& shape = node(i).shape;
    const std::vector<int> before = fusion_.place_of[at(i)];
    if (shape == shape_of_rows(other.domain, other.mask, true))
      fusion_.place_of[at(i)] = identity_place(other.domain.size());
    else if (shape == shape_of_rows(other.domain, other.mask, false))
      fusion_.place_of[at(i)] = kept_place(other.domain.size(), other.mask);
    else return false;
    const Group both = joined({own.nodes, other.domain, other.mask}, other);
    if (!may_be(both)) {
      fusion_.place_of[at(i)] = before;
      return false;
    }
    own = both;
    return true;
  }

  void place(int i) {
    present_ = i;
    const Node& n = node(i);
    Group own{{i}, n.shape, 0};
    fusion_.place_of[at(i)] = identity_place(n.shape.size());
    if (n.kind == Node::Kind::Reduce) own = {{i}, n.operands[0].shape, n.mask};
    if (n.kind == Node::Kind::Index) own.mask = n.mask;
    std::vector<int> taken;
    // Rows first: they decide the domain.
    for (const bool wants_rows : {true, false})
      for (const Value& value : n.operands) {
        if (!fuses_ || value.is_number() || fusion_.group_of[at(value.node)] < 0) continue;
        const int other = fusion_.group_of[at(value.node)];
        const bool has_rows = fusion_.groups[at(other)].mask != 0;
        const bool is_known = std::find(taken.begin(), taken.end(), other) != taken.end();
        if (has_rows != wants_rows || is_known) continue;
        if (take_in(i, own, fusion_.groups[at(other)])) taken.push_back(other);
      }
    for (const int other : taken) fusion_.groups[at(other)].nodes.clear();
    const int number = static_cast<int>(fusion_.groups.size());
    for (const int member : own.nodes) fusion_.group_of[at(member)] = number;
    fusion_.groups.push_back(std::move(own));
  }

  void compact() {
    std::vector<Group> kept;
    for (Group& group : fusion_.groups) {
      if (group.nodes.empty()) continue;
      for (const int i : group.nodes) fusion_.group_of[at(i)] = static_cast<int>(kept.size());
      kept.push_back(std::move(group));
    }
    fusion_.groups = std::move(kept);
  }

  void find_reasons() {
    const std::vector<bool> is_in_memory = written_nodes(graph_, fusion_);
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      if (!is_in_memory[at(i)] || node(i).is_given()) continue;
      for (const int reader : readers_[at(i)]) {
        const bool is_inside =
            fusion_.group_of[at(i)] >= 0 && fusion_.group_of[at(i)] == fusion_.group_of[at(reader)];
        if (is_inside) continue;
        fusion_.reasons.push_back(fmt::format("%{} {} goes through memory to %{} {}: {}", i,
                                              node_name(node(i)), reader, node_name(node(reader)),
                                              reason(i, reader)));
        break;
      }
    }
  }

  std::string reason(int i, int reader) const {
    if (!node(i).is_fusible() || !node(reader).is_fusible())
      return fmt::format("{} has a kernel of its own",
                         node_name(node(i).is_fusible() ? node(reader) : node(i)));
    const Group& a = fusion_.groups[at(fusion_.group_of[at(i)])];
    const Group& b = fusion_.groups[at(fusion_.group_of[at(reader)])];
    for (const Value& value : node(reader).operands)
      if (value.node == i && !seen_at(value, operand_place(reader)))
        return "it is read through a view that moves its elements";
    if (reads_from_memory(reader, a))
      return "one kernel would compute it with fewer programs, or twice";
    if (a.domain != b.domain)
      return fmt::format("one walks over {}, the other over {}", shape_text(a.domain),
                         shape_text(b.domain));
    if (a.mask != b.mask && a.mask != 0 && b.mask != 0)
      return "they have rows along different dimensions";
    return fmt::format(
        "one kernel would read and write more than {} tensors, take too many numbers, or run both "
        "before and after another",
        most_memory);
  }

  const Graph& graph_;
  const bool fuses_;
  Fusion fusion_;
  std::vector<std::vector<int>> readers_;  // of each needed node
  std::vector<bool> is_output_;
  mutable std::vector<int> member_marks_, seen_marks_;
  mutable int sets_ = 0;
  int present_ = 0;  // the node that is being placed
};

}  // namespace

Fusion fuse(const Graph& graph, bool fuses, bool gives_reasons) {
  return Fuser(graph, fuses).run(gives_reasons);
}

bool has_few_long_rows(const Node& reduction) {
  const Shape& domain = reduction.operands[0].shape;
  std::int64_t rows = 1, all = 1;
  for (std::size_t d = 0; d < domain.size(); ++d) {
    all *= domain[d];
    if ((reduction.mask >> d & 1) == 0) rows *= domain[d];
  }
  return rows < few_rows && all >= many_elements;
}

std::size_t numbers_of(const Node& node) {
  return static_cast<std::size_t>(std::count_if(node.operands.begin(), node.operands.end(),
                                                [](const Value& v) { return v.is_number(); }));
}

bool fits_arguments(std::size_t rank, std::size_t tensors, std::size_t numbers) {
  constexpr std::size_t most = 240;  // of the 256 that a kernel has: the compiler may add some
  return tensors + numbers + (tensors + 1) * rank <= most;
}

Shape domain_strides(const Group& group, const Value& value, const std::vector<int>& place) {
  Shape strides(group.domain.size(), 0);
  const std::size_t missing = place.size() - value.shape.size();
  for (std::size_t s = 0; s < value.shape.size(); ++s)
    if (value.shape[s] != 1)
      strides[static_cast<std::size_t>(place[missing + s])] = value.strides[s];
  return strides;
}

}  // namespace tilewright::graph
