// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_order.cpp — the accesses of a program in their order, step by step.
#include "codegen/lower/thread_order.h"

#include "codegen/cuda/global_memory.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

class MemoryWalk {
 public:
  MemoryWalk(const ir::Kernel& laid, const Sweeps& sweeps, const TileLayouts& layouts)
      : laid_(laid), sweeps_(sweeps), layouts_(layouts), memory_(laid) {}

  bool run() {
    walk(sweeps_.steps());
    return must_meet_;
  }

 private:
  void walk(const Steps& steps) {
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::Control) control(step);
      else if (step.kind == Step::Kind::Elements) elements(step);
      else if (ir::is_access(laid_, *step.op)) note(*step.op);
    }
  }

  template <class... Access>
  void note(const Access&... access) {
    must_meet_ |= memory_.needs_barrier(access...);
    memory_.note(access...);
  }

  // The loads of a sweep come before its stores.
  void elements(const Step& step) {
    const Layout& layout = layouts_.of_step(step).layout;
    const TileReads reads = reads_of(laid_, sweeps_, step);
    for (const bool writes : {false, true})
      for (const TileAccess& access : reads.accesses)
        if (access.op->facts().has(ir::Writes) == writes) note(access, layout);
  }

  void control(const Step& step) {
    const ir::Op& op = *step.op;
    const GlobalMemory::Uses before = memory_.uses();
    if (op.kind == ir::OpKind::If) {
      walk(step.regions[0]);
      const GlobalMemory::Uses after = memory_.uses();
      memory_.restore(before);
      walk(step.regions[1]);
      return memory_.merge(after);
    }
    memory_.begin_loop(op);
    for (const Steps& region : step.regions) walk(region);
    memory_.end_loop(op, before);
  }

  const ir::Kernel& laid_;
  const Sweeps& sweeps_;
  const TileLayouts& layouts_;
  GlobalMemory memory_;
  bool must_meet_ = false;
};

}  // namespace

bool must_meet_in_memory(const ir::Kernel& laid, const Sweeps& sweeps, const TileLayouts& layouts) {
  return MemoryWalk(laid, sweeps, layouts).run();
}

}  // namespace tilewright
