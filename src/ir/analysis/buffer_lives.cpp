// SPDX-License-Identifier: Apache-2.0
// ir/analysis/buffer_lives.cpp — every use of a buffer in the order of ops, then loops.
#include "ir/analysis/buffer_lives.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ir/analysis/placed_tiles.h"

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
      : kernel_(kernel), tiles_(kernel), lives_(kernel.buffers.size(), never) {}

  std::vector<BufferLife> run() {
    visit(kernel_.body);
    extend_over_loops();
    for (const KernelRing& ring : kernel_.rings) {
      for (const std::string& name : ring.buffers) live_for_ever(name);
      live_for_ever(ring.words);
    }
    walk(kernel_.body, [&](const Op& op) {
      if (is_done_with(op)) return;
      for (const std::string& name : scratch_of(op)) live_for_ever(name);
    });
    return std::move(lives_);
  }

 private:
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
    if (const int number = tiles_.buffer_named(name); number >= 0)
      lives_[static_cast<std::size_t>(number)] = {};
  }

  void use(int buffer, int order) {
    if (buffer >= 0) widen(lives_[static_cast<std::size_t>(buffer)], order);
  }
  void use(std::string_view name, int order) { use(tiles_.buffer_named(name), order); }
  void use(std::span<const Value> values, int order) {
    for (const Value value : values) use(tiles_.buffer_of(value), order);
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
    use(op.results, order);
    use(tiles_.reads_of(op.operands), order);
    use(op.text("scratch"), order);
    return order;
  }

  void visit_sweep(const Op& sweep, int order) {
    if (tiles_.is_on_demand(sweep)) return;
    use(sweep.results, order);
    use(tiles_.reads_of_sweep(sweep), order);
    walk(sweep.regions[0], [&](const Op& op) {
      if (op.kind == OpKind::CopyAsync) use(op.text("buffer"), order);
      use(op.text("scratch"), order);
    });
  }

  // What enters a region is made by the op itself; what a region yields, at its end.
  int visit_control(const Op& op, int order) {
    use(tiles_.reads_of(op.operands), order);
    use(op.results, order);
    int last = order;
    for (const Region& region : op.regions) {
      use(region.arguments, order);
      last = std::max(last, visit(region));
      use(tiles_.reads_of(region.ops.back()->operands), last);
    }
    use(op.results, last);
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
  PlacedTiles tiles_;
  std::vector<BufferLife> lives_;
  std::vector<BufferLife> loops_;  // outer ones after inner ones; the loop's own op is the first
  int order_ = 0;
};

}  // namespace

std::vector<BufferLife> buffer_lives(const Kernel& kernel) { return LifeFinder(kernel).run(); }

}  // namespace tilewright::ir
