// SPDX-License-Identifier: Apache-2.0
// graph/group/recompute.cpp — for each value that is written for other groups alone: is it cheaper
// computed again by all of them?
#include "graph/group/recompute.h"

#include <algorithm>
#include <bit>
#include <set>

namespace tilewright::graph {
namespace {

constexpr std::size_t most_tensors = 14;  // that a kernel reads and writes, as in fuse.cpp
constexpr std::size_t most_again = 24;    // operations of one value
constexpr double bytes_of_arithmetic = 0.25;

std::size_t place(int i) { return static_cast<std::size_t>(i); }

double cost_of(Op op, Device device) {
  if (facts_of(op).cost == OpCost::Plain) return bytes_of_arithmetic;
  return device.is_cpu() ? 4 : 2;
}

bool has(const std::vector<int>& sorted, int i) {
  return std::binary_search(sorted.begin(), sorted.end(), i);
}

class Recompute {
 public:
  Recompute(const Graph& graph, Fusion& fusion) : graph_(graph), fusion_(fusion) {
    readers_.resize(graph.nodes.size());
    for (std::size_t r = 0; r < graph.nodes.size(); ++r)
      if (fusion.is_needed[r])
        for (const Value& value : graph.nodes[r].operands)
          if (!value.is_number()) readers_[place(value.node)].push_back(static_cast<int>(r));
    find_kept();
  }

  void run() {
    for (int v = static_cast<int>(graph_.nodes.size()) - 1; v >= 0; --v)
      if (is_between_groups(v)) try_value(v);
  }

 private:
  // What a group would have to compute and read besides, to have a value.
  struct Again {
    std::set<int> nodes;
    std::vector<const Value*> read;
    double operations = 0;
  };

  const Node& node(int i) const { return graph_.nodes[place(i)]; }
  Group& group(int number) const { return fusion_.groups[place(number)]; }
  bool computes(int number, int i) const {
    return fusion_.group_of[place(i)] == number || has(group(number).recomputed, i);
  }

  // In memory whatever is decided here.
  void find_kept() {
    is_kept_.assign(graph_.nodes.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      is_kept_[i] = !graph_.nodes[i].is_fusible();
      for (const int reader : readers_[i])
        if (!node(reader).is_fusible()) is_kept_[i] = true;
    }
    for (const Value& value : graph_.outputs) is_kept_[place(value.node)] = true;
  }

  bool is_between_groups(int v) const {
    const Node& n = node(v);
    if (!fusion_.is_needed[place(v)] || is_kept_[place(v)] || n.kind != Node::Kind::Pointwise)
      return false;
    const std::vector<int>& readers = readers_[place(v)];
    return std::any_of(readers.begin(), readers.end(),
                       [&](int reader) { return !computes(fusion_.group_of[place(reader)], v); });
  }

  bool is_whole(const Value& value) const {
    const Node& n = node(value.node);
    return value.offset == 0 && value.shape == n.shape && value.strides == n.strides;
  }

  // Groups without rows, or whose rows lie along the last dimensions and are not few and long.
  bool may_recompute(const Group& by) const {
    if (by.mask == 0) return true;
    if (static_cast<std::size_t>(std::bit_width(by.mask)) != by.domain.size()) return false;
    return std::none_of(by.nodes.begin(), by.nodes.end(), [&](int i) {
      return node(i).kind == Node::Kind::Reduce && has_few_long_rows(node(i));
    });
  }

  // The reader's dimensions are the domain's, in their order.
  bool reads_at_own_place(int reader, const Value& value, const Group& by) const {
    if (!is_whole(value) || value.shape != by.domain) return false;
    if (node(reader).kind == Node::Kind::Reduce) return true;
    const std::vector<int>& own = fusion_.place_of[place(reader)];
    for (std::size_t d = 0; d < own.size(); ++d)
      if (own[d] != static_cast<int>(d)) return false;
    return own.size() == by.domain.size();
  }

  // One element for many of the domain, to which its dimensions are matched from the last.
  bool is_small(const Shape& shape, const Group& by) const {
    const std::size_t missing = by.domain.size() - std::min(by.domain.size(), shape.size());
    for (std::size_t d = 0; d < by.domain.size(); ++d)
      if (by.domain[d] != 1 && (d < missing || shape[d - missing] == 1)) return true;
    return false;
  }

  // Can a node that has the domain's shape take this value where the group computes it?
  bool lies_at_its_place(const Value& value, const Group& by) const {
    const std::vector<int>& own = fusion_.place_of[place(value.node)];
    if (!is_whole(value) || own.size() != value.shape.size()) return false;
    if (value.shape == by.domain) return true;
    const std::size_t missing = by.domain.size() - value.shape.size();
    for (std::size_t d = 0; d < own.size(); ++d)
      if (value.shape[d] != 1 && own[d] != static_cast<int>(missing + d)) return false;
    return true;
  }

  // Whoever reads the value in the group would take what is computed at its own place.
  bool is_read_in_place(int v, int number) const {
    for (const int reader : readers_[place(v)])
      if (fusion_.group_of[place(reader)] == number)
        for (const Value& value : node(reader).operands)
          if (value.node == v && !reads_at_own_place(reader, value, group(number))) return false;
    return true;
  }

  bool collect(int v, int number, Again& again) const {
    if (!again.nodes.insert(v).second) return true;
    if (again.nodes.size() > most_again || !is_read_in_place(v, number)) return false;
    again.operations += cost_of(node(v).op, graph_.device);
    const Group& by = group(number);
    for (const Value& value : node(v).operands) {
      if (value.is_number()) continue;
      const Node& from = node(value.node);
      const bool is_own =
          from.kind == Node::Kind::Pointwise && is_whole(value) && from.shape == by.domain;
      if (computes(number, value.node)) {
        if (!lies_at_its_place(value, by)) return false;
      } else if (is_kept_[place(value.node)] || is_small(value.shape, by)) {
        again.read.push_back(&value);
      } else if (!is_own || !collect(value.node, number, again)) {
        return false;
      }
    }
    return true;
  }

  using Read = std::vector<const Value*>;
  static void add_read(Read& read, const Value& value) {
    const auto is_same = [&](const Value* known) {
      return known->node == value.node && known->offset == value.offset &&
             known->shape == value.shape && known->strides == value.strides;
    };
    if (std::none_of(read.begin(), read.end(), is_same)) read.push_back(&value);
  }

  Read read_by(int number) const {
    Read read;
    for (const std::vector<int>* list : {&group(number).nodes, &group(number).recomputed})
      for (const int i : *list)
        for (const Value& value : node(i).operands)
          if (!value.is_number() && !computes(number, value.node)) add_read(read, value);
    return read;
  }

  bool is_written(int i) const {
    if (is_kept_[place(i)] || newly_written_.contains(i)) return true;
    const std::vector<int>& readers = readers_[place(i)];
    return std::any_of(readers.begin(), readers.end(),
                       [&](int reader) { return !computes(fusion_.group_of[place(reader)], i); });
  }

  std::size_t written_by(int number) const {
    const std::vector<int>& nodes = group(number).nodes;
    return static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(), [&](int i) { return is_written(i); }));
  }

  double bytes(const Read& read, const Group& by) const {
    double all = 0;
    for (const Value* value : read)
      if (!is_small(value->shape, by)) all += static_cast<double>(size_of(node(value->node).dtype));
    return all;
  }

  // A kernel that begins to write a row's value has room for it.
  bool can_write(const Again& again) const {
    for (const Value* value : again.read) {
      const int maker = fusion_.group_of[place(value->node)];
      if (maker >= 0 && !is_written(value->node) &&
          read_by(maker).size() + written_by(maker) >= most_tensors)
        return false;
    }
    return true;
  }

  // Adds the bytes of an element that a group saves when it computes the value. False where it
  // cannot.
  bool add_saved(int v, int number, Again& again, double& saved) const {
    const Group& by = group(number);
    if (!may_recompute(by) || !collect(v, number, again) || !can_write(again)) return false;
    const Read before = read_by(number);
    Read after;
    for (const Value* value : before)
      if (!again.nodes.contains(value->node)) after.push_back(value);
    for (const Value* value : again.read) add_read(after, *value);
    const std::size_t tensors = after.size() + written_by(number);
    if (after.size() > before.size() && tensors > most_tensors) return false;
    std::size_t numbers = 0;
    for (const std::vector<int>* list : {&by.nodes, &by.recomputed})
      for (const int i : *list) numbers += numbers_of(node(i));
    for (const int i : again.nodes) numbers += numbers_of(node(i));
    if (!fits_arguments(by.domain.size(), tensors, numbers)) return false;
    saved += bytes(before, by) - bytes(after, by) - again.operations;
    return true;
  }

  // All groups that read it compute it, or none.
  void try_value(int v) {
    std::vector<std::pair<int, Again>> all;
    double saved = static_cast<double>(size_of(node(v).dtype));  // not written any more
    for (const int reader : readers_[place(v)]) {
      const int number = fusion_.group_of[place(reader)];
      if (computes(number, v)) continue;
      const auto is_same = [&](const auto& known) { return known.first == number; };
      if (std::any_of(all.begin(), all.end(), is_same)) continue;
      Again again;
      if (!add_saved(v, number, again, saved)) return;
      all.emplace_back(number, std::move(again));
    }
    if (saved <= 0) return;
    for (const auto& [number, again] : all) {
      std::vector<int>& list = group(number).recomputed;
      list.insert(list.end(), again.nodes.begin(), again.nodes.end());
      std::sort(list.begin(), list.end());
      for (const Value* value : again.read) newly_written_.insert(value->node);
    }
  }

  const Graph& graph_;
  Fusion& fusion_;
  std::vector<std::vector<int>> readers_;
  std::vector<bool> is_kept_;
  std::set<int> newly_written_;  // by what was decided
};

}  // namespace

void recompute_values(const Graph& graph, Fusion& fusion) { Recompute(graph, fusion).run(); }

// A group whose values are all computed elsewhere is not there, and reads nothing.
std::vector<bool> written_nodes(const Graph& graph, const Fusion& fusion) {
  std::vector<bool> is_written(graph.nodes.size(), false), is_there(fusion.groups.size(), false);
  const auto read_all = [&](int i, int number) {
    for (const Value& value : graph.nodes[place(i)].operands) {
      if (value.is_number()) continue;
      const bool is_inside =
          number >= 0 && (fusion.group_of[place(value.node)] == number ||
                          has(fusion.groups[place(number)].recomputed, value.node));
      if (!is_inside) is_written[place(value.node)] = true;
    }
  };
  const auto ask_for = [&](int number) {
    if (is_there[place(number)]) return false;
    is_there[place(number)] = true;
    for (const std::vector<int>* list :
         {&fusion.groups[place(number)].nodes, &fusion.groups[place(number)].recomputed})
      for (const int i : *list) read_all(i, number);
    return true;
  };
  for (const Value& value : graph.outputs) is_written[place(value.node)] = true;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (fusion.is_needed[i] && fusion.group_of[i] < 0) read_all(static_cast<int>(i), -1);
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (std::size_t i = graph.nodes.size(); i-- > 0;)
      if (is_written[i] && fusion.group_of[i] >= 0) is_changed |= ask_for(fusion.group_of[i]);
  }
  return is_written;
}

}  // namespace tilewright::graph
