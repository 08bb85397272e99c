// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_order.cpp — the accesses of a program in their order, step by step. A second
// walk knows what was pending at the ends of loops in the first one, and needs fewer meetings.
#include "codegen/lower/thread_order.h"

#include <algorithm>
#include <utility>

#include "codegen/lower/memory_uses.h"
#include "passes/laid/spins.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

class MemoryWalk {
 public:
  MemoryWalk(const ir::Kernel& laid, const Sweeps& sweeps, const TileLayouts& layouts)
      : laid_(laid), sweeps_(sweeps), layouts_(layouts), memory_(laid), uses_(laid.value_count()) {
    ir::walk(laid.body, [&](const ir::Op& op) {
      for (const ir::Value value : op.operands) ++uses_[value.id];
    });
  }

  void run() { walk(sweeps_.steps()); }
  MemoryUses& memory() { return memory_; }
  const MemoryMeetings& meetings() const { return meetings_; }

 private:
  void walk(const Steps& steps) {
    written_.clear();
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::Control) control(step);
      else if (step.kind == Step::Kind::Elements) elements(step);
      else if (step.op->kind == ir::OpKind::Dot) product(step);
      else scalar(step);
    }
    written_.clear();
  }

  void meet(const Step& step) {
    meetings_.before.insert(step.order);
    note_barrier();
  }
  void note_barrier() {
    written_.clear();
    memory_.note_barrier();
  }

  // Threads meet before a product that reads what others have written to shared memory, right
  // before it where nothing in between touches shared memory.
  void product(const Step& step) {
    const DotPlan& plan = layouts_.plan_of(*step.op);
    const Layout& layout = layouts_.of_array(step.op->result()).layout;
    bool meets = false;
    for (const std::size_t side : {0, 1}) {
      // Threads that share a row of the result read the same of the left operand.
      const int first = side == 0 ? 0 : plan.sizes.columns;
      const int bits = side == 0 ? plan.sizes.columns : plan.sizes.rows;
      const std::uint64_t shared_by = ((std::uint64_t{1} << bits) - 1) << first;
      const BitMatrix threads = layout.thread_matrix();
      const bool are_several =
          std::any_of(threads.all_columns().begin(), threads.all_columns().end(),
                      [&](std::uint64_t column) { return (column & shared_by) != 0; });
      for (const TileRead& read :
           reads_of(laid_, sweeps_, step, {step.op->operands[side]}).arrays)
        meets |= are_several && written_.contains(sweeps_.storage(read.value).id);
    }
    if (meets) note_barrier();
    written_.clear();
  }

  // Around an atomic of a scalar all threads meet (thread_atomics.cpp).
  void scalar(const Step& step) {
    const ir::Op& op = *step.op;
    if (step.kind != Step::Kind::Scalar || op.kind == ir::OpKind::Barrier || op.facts().is_atomic())
      written_.clear();
    // So do they in what they meet over through shared memory: sorts, or lines of several warps.
    const bool meets_through = op.facts().is(ir::Family::Across) && op.kind != ir::OpKind::StoreMap;
    if (meets_through && !op.text("scratch").empty()) memory_.note_barrier();
    const bool meets = op.kind == ir::OpKind::Barrier || op.kind == ir::OpKind::WaitCopies;
    if (meets || op.facts().is_atomic()) memory_.note_barrier();
    if (!ir::is_access(laid_, op)) return;
    if (memory_.needs_barrier(op)) meet(step);
    memory_.note(op);
    if (op.facts().is_atomic() && uses_[op.result().id] > 0) memory_.note_barrier();
  }

  // The loads of a sweep come before its stores.
  void elements(const Step& step) {
    const Layout& layout = layouts_.of_step(step).layout;
    const TileReads reads = reads_of(laid_, sweeps_, step);
    const auto is_unordered = [&](const TileAccess& access) {
      return memory_.needs_barrier(access, layout);
    };
    // All of them are asked: what is only feared of another round is noted.
    if (std::count_if(reads.accesses.begin(), reads.accesses.end(), is_unordered) > 0) meet(step);
    const auto is_write = [](const TileAccess& access) {
      return access.op->facts().has(ir::Writes);
    };
    for (const TileAccess& access : reads.accesses)
      if (!is_write(access)) memory_.note(access, layout);
    bool meets_inside = false;
    for (const TileAccess& access : reads.accesses)
      meets_inside |= is_write(access) && is_unordered(access);
    if (meets_inside) {
      meetings_.inside.insert(step.order);
      note_barrier();
    }
    for (const TileAccess& access : reads.accesses)
      if (is_write(access)) memory_.note(access, layout);
    // Behind the sweep all threads meet where warps combine their totals.
    for (const ir::Op* reduce : step.reductions)
      if (!reduce->text("scratch").empty()) note_barrier();
    note_written(step, reads);
  }

  void note_written(const Step& step, const TileReads& reads) {
    std::set<std::uint32_t> written;
    for (const ir::Value value : step.kept)
      if (layouts_.is_shared(value)) written.insert(sweeps_.storage(value).id);
    const bool reads_shared =
        std::any_of(reads.arrays.begin(), reads.arrays.end(),
                    [&](const TileRead& read) { return layouts_.is_shared(read.value); });
    if (!written.empty() || reads_shared || !step.reductions.empty()) written_ = std::move(written);
  }

  void control(const Step& step) {
    written_.clear();
    const ir::Op& op = *step.op;
    if (op.kind == ir::OpKind::While && is_spin(step)) return memory_.note_barrier();
    const MemoryUses::Uses before = memory_.uses();
    if (op.kind == ir::OpKind::If) {
      walk(step.regions[0]);
      const MemoryUses::Uses after = memory_.uses();
      memory_.restore(before);
      walk(step.regions[1]);
      return memory_.merge(after);
    }
    memory_.begin_loop(op);
    walk(step.regions[0]);
    const MemoryUses::Uses at_decision = memory_.uses();
    if (step.regions.size() > 1) walk(step.regions[1]);
    memory_.end_loop(op, before);
    if (step.regions.size() > 1) memory_.merge(at_decision);
  }

  const ir::Kernel& laid_;
  const Sweeps& sweeps_;
  const TileLayouts& layouts_;
  MemoryUses memory_;
  std::vector<int> uses_;  // by value
  MemoryMeetings meetings_;
  // Arrays in shared memory, by the value that owns them, that the step which touched shared memory
  // last has written; none behind a meeting.
  std::set<std::uint32_t> written_;
};

}  // namespace

MemoryMeetings meetings_in_memory(const ir::Kernel& laid, const Sweeps& sweeps,
                                  const TileLayouts& layouts) {
  MemoryWalk first(laid, sweeps, layouts);
  first.run();
  if (!first.memory().has_feared_rounds()) return first.meetings();
  MemoryWalk informed(laid, sweeps, layouts);
  informed.memory().assume(first.memory().loop_ends());
  informed.run();
  return informed.memory().holds_assumed() ? informed.meetings() : first.meetings();
}

}  // namespace tilewright
