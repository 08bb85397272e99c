// SPDX-License-Identifier: Apache-2.0
// ir/analysis/buffer_lives.cpp — every use of a buffer in the order of ops, then loops.
#include "ir/analysis/buffer_lives.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tilewright::ir {
namespace {

constexpr BufferLife never{.first = std::numeric_limits<int>::max(), .last = -1};

void widen(BufferLife& life, int order) {
  life.first = std::min(life.first, order);
  life.last = std::max(life.last, order);
}

class LifeFinder {
 public:
  explicit LifeFinder(const Kernel& kernel)
      : kernel_(kernel),
        lives_(kernel.buffers.size(), never),
        buffer_of_(kernel.value_count(), -1),
        seen_(kernel.value_count(), 0) {
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
      numbers_.emplace(kernel.buffers[i].name, static_cast<int>(i));
    walk(kernel.body, [&](const Op& op) { note_places(op); });
  }

  std::vector<BufferLife> run() {
    visit(kernel_.body);
    extend_over_loops();
    for (const KernelRing& ring : kernel_.rings)
      for (const std::string& name : ring.buffers) live_for_ever(name);
    walk(kernel_.body, [&](const Op& op) {
      if (is_done_with(op)) return;
      for (const std::string& name : scratch_of(op)) live_for_ever(name);
    });
    for (const KernelRing& ring : kernel_.rings) live_for_ever(ring.words);
    return std::move(lives_);
  }

 private:
  // ---- Which buffer a value lives in

  int number_of(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
  }

  // What a loop carries comes before its results, which have the buffers of what was carried last.
  void note_places(const Op& op) {
    if (op.kind == OpKind::ReadBuffer) {
      buffer_of_[op.result().id] = number_of(op.text("buffer"));
      return;
    }
    const std::vector<std::string> into = op.texts("into");
    if (into.empty()) return;
    std::vector<Value> placed;
    if (op.facts().has(Loops))
      for (const Region& region : op.regions)
        placed.insert(placed.end(), region.arguments.begin() + (op.kind == OpKind::For ? 1 : 0),
                      region.arguments.end());
    const std::size_t behind = op.facts().has(Loops) ? placed.size() - op.results.size() : 0;
    for (std::size_t k = 0; k < std::min(placed.size(), into.size()); ++k)
      place(placed[k], into[k]);
    for (std::size_t k = 0; k < op.results.size() && behind + k < into.size(); ++k)
      place(op.results[k], into[behind + k]);
  }

  void place(Value value, const std::string& buffer) {
    if (!buffer.empty()) buffer_of_[value.id] = number_of(buffer);
  }

  static std::vector<std::string> scratch_of(const Op& op) {
    if (op.facts().is(Family::Control)) return op.texts("scratch");
    const std::string_view name = op.text("scratch");
    return name.empty() ? std::vector<std::string>() : std::vector{std::string(name)};
  }

  static bool is_done_with(const Op& op) {
    return op.facts().has(Combines) || op.kind == OpKind::Sort;
  }

  // ---- Uses

  void live_for_ever(std::string_view name) {
    if (const int number = number_of(name); number >= 0)
      lives_[static_cast<std::size_t>(number)] = {};
  }

  void use(std::string_view name, int order) {
    if (const int number = number_of(name); number >= 0)
      widen(lives_[static_cast<std::size_t>(number)], order);
  }

  void use(Value value, int order) {
    if (const int number = buffer_of_[value.id]; number >= 0)
      widen(lives_[static_cast<std::size_t>(number)], order);
  }

  void begin_read() { ++read_; }

  // Of one reader: what it was asked for before is not followed again.
  void read(Value value, int order) {
    if (!kernel_.type(value).is_tile() || seen_[value.id] == read_) return;
    seen_[value.id] = read_;
    if (buffer_of_[value.id] >= 0) return use(value, order);
    const Op* maker = kernel_.maker(value);
    if (!maker) return;
    if (maker->kind == OpKind::Sweep) return read_inside(*maker, order);
    for (const Value operand : maker->operands) read(operand, order);
  }

  void read_inside(const Op& sweep, int order) {
    walk(sweep.regions[0], [&](const Op& op) {
      if (op.facts().is(Family::Ends)) return;
      for (const Value operand : op.operands) read(operand, order);
    });
  }

  bool is_on_demand(const Op& sweep) const {
    return !sweep.results.empty() &&
           std::all_of(sweep.results.begin(), sweep.results.end(), [&](Value result) {
             return kernel_.type(result).is_tile() && buffer_of_[result.id] < 0;
           });
  }

  int visit(const Region& region) {  // the order of the last op inside
    int last = 0;
    for (const Op* op : region.ops)
      if (!op->facts().is(Family::Ends)) last = std::max(last, visit(*op));
    return last;
  }

  int visit(const Op& op) {
    const int order = ++order_;
    if (op.kind == OpKind::Sweep) visit_sweep(op, order);
    else if (op.facts().is(Family::Control)) return visit_control(op, order);
    if (!op.facts().is(Family::Across)) return order;
    for (const Value result : op.results) use(result, order);
    begin_read();
    for (const Value operand : op.operands) read(operand, order);
    use(op.text("scratch"), order);
    return order;
  }

  void visit_sweep(const Op& sweep, int order) {
    if (is_on_demand(sweep)) return;
    for (const Value result : sweep.results) use(result, order);
    begin_read();
    read_inside(sweep, order);
    walk(sweep.regions[0], [&](const Op& op) {
      if (op.kind == OpKind::CopyAsync) use(op.text("buffer"), order);
      use(op.text("scratch"), order);
    });
  }

  // What enters a region is made by the op itself; what a region yields, at its end.
  int visit_control(const Op& op, int order) {
    begin_read();
    for (const Value operand : op.operands) read(operand, order);
    for (const Value result : op.results) use(result, order);
    int last = order;
    for (const Region& region : op.regions) {
      for (const Value argument : region.arguments) use(argument, order);
      last = std::max(last, visit(region));
      begin_read();
      for (const Value value : region.ops.back()->operands) read(value, last);
    }
    for (const Value result : op.results) use(result, last);
    if (op.facts().has(Loops)) loops_.push_back({order, last});
    return last;
  }

  void extend_over_loops() {
    for (BufferLife& life : lives_)
      for (const BufferLife& loop : loops_) {
        const bool is_inside = life.first > loop.first && life.last <= loop.last;
        if (is_inside || !life.meets(loop)) continue;
        widen(life, loop.first);
        widen(life, loop.last);
      }
  }

  const Kernel& kernel_;
  std::unordered_map<std::string_view, int> numbers_;
  std::vector<BufferLife> lives_;
  std::vector<BufferLife> loops_;  // outer ones after inner ones; the loop's own op is the first
  std::vector<int> buffer_of_;     // by value; -1: none
  std::vector<int> seen_;          // by value: the last reader that asked for it
  int read_ = 0;
  int order_ = 0;
};

}  // namespace

std::vector<BufferLife> buffer_lives(const Kernel& kernel) { return LifeFinder(kernel).run(); }

}  // namespace tilewright::ir
