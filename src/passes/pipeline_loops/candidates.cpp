// SPDX-License-Identifier: Apache-2.0
// passes/pipeline_loops/candidates.cpp — back from matrix products to loads, and from loads to what
// their addresses need.
#include "passes/pipeline_loops/candidates.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/analysis/memory_order.h"
#include "ir/constant.h"
#include "passes/choose_units.h"
#include "passes/uses.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

class CandidateFinder {
 public:
  CandidateFinder(const Kernel& kernel, const AxisAnalysis& axes, Op& loop)
      : kernel_(kernel), axes_(axes), loop_(loop), body_(loop.regions[0]), order_(kernel) {
    for (Op* op : body_.ops)
      for (const Value result : op->results) makers_[result.id] = op;
    for (std::size_t k = 1; k < body_.arguments.size(); ++k) slots_[body_.arguments[k].id] = k - 1;
  }

  LoadsAhead run() {
    note_writes(body_);
    if (has_order_) return {};
    for (const Op* op : body_.ops)
      if (op->kind == OpKind::Dot)
        for (std::size_t i : {0u, 1u}) follow_operand(op->operands[i]);
    if (fed_.empty()) return {};
    take([&](const Op& op) { return fed_.contains(&op) && may_be_copied(op); });
    std::erase_if(out_.delayed, [&](const auto& entry) {
      return std::find(out_.loads.begin(), out_.loads.end(), entry.first) == out_.loads.end();
    });
    count_bytes();
    return std::move(out_);
  }

  LoadsAhead run_rows() {
    note_writes(body_);
    const bool has_dot = std::any_of(body_.ops.begin(), body_.ops.end(),
                                     [](const Op* op) { return op->kind == OpKind::Dot; });
    if (has_order_ || has_dot) return {};
    take([&](const Op& op) {
      return op.kind == OpKind::Load && kernel_.type(op.result()).is_tile() &&
             !may_be_written(op) && !is_for_next_round(op);
    });
    for (const Op* load : out_.loads) out_.stage_bytes += bytes_of(kernel_.type(load->result()));
    return std::move(out_);
  }

 private:
  struct Slice {
    std::set<const Op*> ops;
    std::set<std::size_t> slots;
    std::set<const Op*> seen = {};  // behind this load
    bool varies = false;            // depends on the iteration
  };

  // Loads whose operands can be computed ahead.
  template <class IsWanted>
  void take(IsWanted is_wanted) {
    Slice all;
    for (Op* op : body_.ops) {
      if (!is_wanted(*op)) continue;
      Slice slice = all;
      if (!add_operands(*op, slice) || !slice.varies) continue;
      slice.varies = false;
      slice.seen.clear();
      all = std::move(slice);
      out_.loads.push_back(op);
    }
    for (const Op* op : body_.ops)
      if (all.ops.contains(op)) out_.slice.push_back(op);
    out_.carried.assign(all.slots.begin(), all.slots.end());
  }

  // What the loop only hands on is loaded ahead already.
  bool is_for_next_round(const Op& load) const {
    const std::vector<Value>& yielded = body_.ops.back()->operands;
    return uses_in(body_, load.result()) == 1 &&
           std::find(yielded.begin(), yielded.end(), load.result()) != yielded.end();
  }

  // ---- What the loop does to memory

  void note_writes(const Region& region) {
    ir::walk(region, [&](const Op& op) {
      const ir::OpFacts& facts = op.facts();
      has_order_ |=
          op.integer("volatile") != 0 || facts.is(ir::Family::Sync) || op.kind == OpKind::CopyAsync;
      // Who looks at the result may wait for another program.
      if (facts.is_atomic()) has_order_ |= is_used(op.result());
      if (facts.has(ir::Writes)) written_.push_back(&op);
    });
  }

  bool is_used(Value value) const {
    bool is_found = false;
    ir::walk(kernel_.body, [&](const Op& op) {
      is_found |= std::find(op.operands.begin(), op.operands.end(), value) != op.operands.end();
    });
    return is_found;
  }

  bool may_be_written(const Op& load) const {
    return std::any_of(written_.begin(), written_.end(),
                       [&](const Op* write) { return order_.must_order(load, *write); });
  }

  // ---- From products to loads

  // A tile that was loaded in the round before. What the first round has of it must be zeros, which
  // copies can write.
  void follow_carried(std::size_t number) {
    const auto found = makers_.find(body_.ops.back()->operands[number].id);
    if (found == makers_.end() || found->second->kind != OpKind::Load) return;
    if (!ir::is_zero(kernel_, loop_.operands[number + 3])) return;
    fed_.insert(found->second);
    out_.delayed[found->second] = number;
  }

  void follow_operand(Value value) {
    if (const auto slot = slots_.find(value.id); slot != slots_.end())
      return follow_carried(slot->second);
    const auto found = makers_.find(value.id);
    if (found == makers_.end() || !seen_.insert(value.id).second) return;
    if (found->second->kind == OpKind::Load) {
      fed_.insert(found->second);
      return;
    }
    if (!found->second->facts().has(ir::Repeatable)) return;
    for (const Value operand : found->second->operands)
      if (kernel_.type(operand).is_tile()) follow_operand(operand);
  }

  bool may_be_copied(const Op& load) const {
    const Type& type = kernel_.type(load.result());
    if (!type.is_tile() || type.is_bool() || may_be_written(load)) return false;
    if (load.operands.size() > 2 && !ir::is_zero(kernel_, load.operands[2])) return false;
    for (int d = 0; d < type.rank; ++d)
      if (axes_.vector_width(load, d) * static_cast<std::int64_t>(type.element_bytes()) >= 4)
        return true;
    return false;
  }

  // ---- From loads to what they depend on

  bool add_operands(const Op& op, Slice& slice) const {
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [&](Value operand) { return add(operand, slice); });
  }

  bool add(Value value, Slice& slice) const {
    if (value == body_.arguments[0]) {
      slice.varies = true;
      return true;
    }
    if (const auto slot = slots_.find(value.id); slot != slots_.end()) {
      if (kernel_.type(value).is_tile()) return false;
      slice.varies = true;
      if (!slice.slots.insert(slot->second).second) return true;
      return add(body_.ops.back()->operands[slot->second], slice);
    }
    const auto found = makers_.find(value.id);
    if (found == makers_.end()) return true;
    const Op& op = *found->second;
    // A number in memory that says which tile comes next is read ahead too.
    const bool is_index =
        op.kind == OpKind::Load && kernel_.type(value).is_scalar() && !may_be_written(op);
    if (!is_index && !op.facts().has(ir::Repeatable)) return false;
    slice.ops.insert(&op);
    return !slice.seen.insert(&op).second || add_operands(op, slice);
  }

  // ---- Sizes

  static std::int64_t bytes_of(const Type& type) {
    return type.numel() * static_cast<std::int64_t>(type.element_bytes());
  }

  void count_bytes() {
    for (const Op* load : out_.loads) out_.stage_bytes += bytes_of(kernel_.type(load->result()));
    std::set<std::uint32_t> seen;
    for (const Op* op : body_.ops) {
      if (op->kind != OpKind::Dot) continue;
      for (std::size_t i : {0u, 1u}) {
        Value value = op->operands[i];
        const auto is_permuted = [&] {
          const Op* maker = kernel_.maker(value);
          return maker && (maker->kind == OpKind::Permute || maker->kind == OpKind::Reshape);
        };
        while (is_permuted()) value = kernel_.maker(value)->operands[0];
        bool is_copied = std::any_of(out_.loads.begin(), out_.loads.end(),
                                     [&](const Op* l) { return l->result() == value; });
        for (const auto& [load, number] : out_.delayed)
          is_copied |= body_.arguments[number + 1] == value;
        is_copied |= i == 0 && is_asynchronous(*op) && slots_.contains(value.id);  // in registers
        if (!is_copied && seen.insert(value.id).second)
          out_.other_bytes += bytes_of(kernel_.type(value));
      }
    }
  }

  const Kernel& kernel_;
  const AxisAnalysis& axes_;
  Op& loop_;
  const Region& body_;
  const ir::MemoryOrder order_;
  std::map<std::uint32_t, Op*> makers_;         // of the values of the body
  std::map<std::uint32_t, std::size_t> slots_;  // carried arguments to their numbers
  std::vector<const Op*> written_;              // what the loop writes to memory by
  bool has_order_ = false;
  std::set<const Op*> fed_;
  std::set<std::uint32_t> seen_;
  LoadsAhead out_;
};

}  // namespace

LoadsAhead find_loads_ahead(const Kernel& kernel, const AxisAnalysis& axes, Op& loop) {
  return CandidateFinder(kernel, axes, loop).run();
}

LoadsAhead find_rows_ahead(const Kernel& kernel, const AxisAnalysis& axes, Op& loop) {
  return CandidateFinder(kernel, axes, loop).run_rows();
}

}  // namespace tilewright
