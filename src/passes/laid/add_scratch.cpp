// SPDX-License-Identifier: Apache-2.0
// passes/laid/add_scratch.cpp — by op: whether threads meet in it, and in how many bytes.
#include "passes/laid/add_scratch.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "passes/laid/hand_overs.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/reduce_plan.h"
#include "passes/laid/spins.h"
#include "passes/laid/tile_layouts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

using ir::OpKind;
using Kind = Step::Kind;

constexpr int slab_align = 1024;  // bytes: the period of the order in which maps read

class ScratchMaker {
 public:
  ScratchMaker(ir::Kernel& kernel, const LaidFacts& facts)
      : kernel_(kernel),
        schedule_(facts.sweeps),
        layouts_(kernel, facts.sweeps),
        warps_(kernel.shape.warps * kernel.shape.cluster),
        lanes_(kernel.layouts.empty() ? 1 : 1 << kernel.layouts[0].layout.lanes().columns()),
        uses_(kernel.value_count(), 0) {
    ir::walk(kernel.body, [&](const ir::Op& op) {
      for (const ir::Value value : op.operands) ++uses_[value.id];
    });
  }

  void run() {
    for (ir::KernelRing& ring : kernel_.rings)
      ring.words = make(words(2), kernel_.slots_of(ring), ring.name + "_words");
    visit(schedule_.steps());
    give_slabs();
  }

 private:
  // What maps store goes through one place for each type of tile.
  void give_slabs() {
    std::vector<std::pair<ir::Type, std::string>> slabs;
    ir::walk(kernel_.body, [&](ir::Op& op) {
      if (op.kind != OpKind::StoreMap) return;
      const ir::Type& type = kernel_.type(op.operands[0]);
      auto found = std::find_if(slabs.begin(), slabs.end(),
                                [&](const auto& slab) { return slab.first == type; });
      if (found == slabs.end()) {
        slabs.push_back({type, make(type, 1, "stored")});
        kernel_.buffers.back().align = slab_align;
        found = slabs.end() - 1;
      }
      op.set("scratch", found->second);
    });
  }

  static ir::Type words(std::int64_t count) { return ir::Type::tile(DType::Int64, {count}); }

  // Returns its name.
  std::string make(const ir::Type& type, int count, const std::string& base) {
    std::string name = base;
    const auto is_taken = [&](const ir::KernelBuffer& other) { return other.name == name; };
    for (int n = 1; std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(), is_taken); ++n)
      name = fmt::format("{}_{}", base, n);
    kernel_.buffers.push_back({.name = name,
                               .type = type,
                               .slots = 0,
                               .space = ir::BufferSpace::Shared,
                               .scratch = count});
    return name;
  }

  std::string base_of(const ir::Op& op) const {
    const std::string& name = kernel_.name_of(schedule_.result_of(op.results[0]));
    return fmt::format("{}_scratch", name.empty() ? op.facts().name : std::string_view(name));
  }

  // The op as one that can be changed.
  ir::Op& changeable(const ir::Op& op) { return *kernel_.maker(op.results[0]); }

  void give(const ir::Op& op, const ir::Type& type, std::size_t count = 1) {
    changeable(op).set("scratch", make(type, static_cast<int>(count), base_of(op)));
  }

  void visit(const Steps& steps) {
    for (const Step& step : steps) {
      if (step.kind == Kind::Scalar) visit_scalar(*step.op);
      if (step.kind == Kind::Elements) visit_elements(step);
      if (step.kind == Kind::Across) visit_across(*step.op);
      if (step.kind == Kind::Control) visit_control(step);
    }
  }

  bool is_asked(const ir::Op& op) const {
    return op.facts().is_atomic() && uses_[op.result().id] > 0;
  }

  // One thread does it for all.
  void visit_scalar(const ir::Op& op) {
    if (is_asked(op)) give(op, words(1));
  }

  void visit_elements(const Step& step) {
    const auto is_copied = [&] { return layouts_.of_step(step).layout.copy_bits() != 0; };
    for (const ir::Op* op : step.ops)
      if (is_asked(*op) && is_copied()) give(*op, kernel_.type(op->result()));
    for (const ir::Op* reduce : step.reductions)
      if (const ReducePlan plan = plan_reduce(kernel_, schedule_, layouts_, step, *reduce);
          plan.slots > 0)
        give(*reduce, words(plan.slots), reduce->operands.size());
  }

  void visit_across(const ir::Op& op) {
    if (op.kind == OpKind::Sort) give(op, kernel_.type(op.result()));
    if (op.kind == OpKind::Histogram)
      give(op, ir::Type::tile(DType::Int32, {kernel_.type(op.result()).numel()}));
    if (op.kind != OpKind::Scan) return;
    if (const ScanPlan* plan = layouts_.scan_plan_of(op)) return visit_register_scan(op, *plan);
    if (warps_of_line(op) > 1) give(op, words(warps_), op.operands.size());
  }

  void visit_register_scan(const ir::Op& scan, const ScanPlan& plan) {
    const std::int64_t slots = plan.slots(warps_, lanes_);
    if (slots == 0) return;
    if (scan.operands.size() > 1) return give(scan, words(slots), scan.operands.size());
    give(scan, ir::Type::tile(kernel_.type(scan.operands[0]).dtype, {slots}));
  }

  // That share one series of a scan through shared memory.
  std::int64_t warps_of_line(const ir::Op& scan) const {
    const ir::Type& type = kernel_.type(scan.operands[0]);
    const int length = type.log_sizes[static_cast<std::size_t>(scan.integer("axis"))];
    const int log_threads = std::countr_zero(static_cast<unsigned>(warps_ * lanes_));
    const int log_lines = bits_of_type(type) - length;
    return (std::int64_t{1} << std::clamp(log_threads - log_lines, 0, length)) / lanes_;
  }

  void visit_control(const Step& step) {
    if (step.op->kind == OpKind::While && is_spin(step)) return;
    for (const Steps& region : step.regions) visit(region);
    std::vector<std::string> scratch;
    bool has_any = false;
    for (const HandOver& values : hand_overs_of(*step.op))
      for (std::size_t i = 0; i < values.to.size(); ++i) {
        const bool is_through =
            is_overwritten(kernel_, schedule_, values, i) &&
            (layouts_.is_shared(values.from[i]) || layouts_.is_shared(values.to[i]));
        scratch.push_back(is_through ? make(kernel_.type(values.from[i]), 1, "next")
                                     : std::string());
        has_any |= is_through;
      }
    // Values that are handed on are results, of loops too.
    if (has_any) changeable(*step.op).set("scratch", std::move(scratch));
  }

  ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const TileLayouts layouts_;
  const int warps_;  // of all blocks of a program
  const int lanes_;
  std::vector<int> uses_;  // by value
};

}  // namespace

void add_scratch(ir::Kernel& kernel, const LaidFacts& facts) { ScratchMaker(kernel, facts).run(); }

void clear_scratch(ir::Kernel& kernel) {
  std::erase_if(kernel.buffers, [](const ir::KernelBuffer& buffer) { return buffer.is_scratch(); });
  for (ir::KernelBuffer& buffer : kernel.buffers) buffer.offset = -1;
  for (ir::KernelRing& ring : kernel.rings) ring.words.clear();
  ir::walk(kernel.body, [](ir::Op& op) { op.erase("scratch"); });
}

}  // namespace tilewright
