// SPDX-License-Identifier: Apache-2.0
// codegen/lower/access_hints.cpp — on which program ids and loops an address depends.
#include "codegen/lower/access_hints.h"

#include <unordered_map>
#include <vector>

#include "ir/analysis/memory_order.h"
#include "ir/analysis/same_value.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

constexpr std::int64_t long_row = 16384;
// Two bits for each axis of the grid: a quotient of the program id has the first one, a remainder the
// second one, and only both together tell programs apart. Liger's modulated RMS norm reads one row of
// scales for `row // rows_per_modulation`, which a thousand programs share.
constexpr unsigned quotients = 7;
constexpr unsigned remainders = quotients << 3;
constexpr unsigned in_loop = 64;

class Dependences {
 public:
  explicit Dependences(const ir::Kernel& kernel) : kernel_(kernel), bits_(kernel.value_count(), 0) {
    visit(kernel.body, false);
  }

  struct Access {
    const ir::Op* op;
    unsigned bits;    // what the address depends on
    unsigned wanted;  // what it must depend on to be another one every time
  };
  const std::vector<Access>& accesses() const { return accesses_; }
  unsigned axes() const { return axes_; }

 private:
  void visit(const ir::Region& region, bool is_in_loop) {
    for (const ir::Op* op : region.ops) {
      unsigned bits = 0;
      for (const ir::Value operand : op->operands) bits |= bits_[operand.id];
      if (op->kind == OpKind::ProgramId) {
        bits = 9u << op->integer("axis");
        axes_ |= bits;
      }
      if (op->kind == OpKind::Divide) bits &= ~remainders;
      if (op->kind == OpKind::Remainder) bits &= ~quotients;
      const bool is_loop = op->facts().has(ir::Loops);
      for (const ir::Region& inner : op->regions) {
        for (const ir::Value argument : inner.arguments)
          bits_[argument.id] = bits | (is_loop ? in_loop : 0);
        visit(inner, is_in_loop || is_loop);
      }
      for (const ir::Value result : op->results) bits_[result.id] = bits;
      for (std::size_t k = 0; op->kind == OpKind::Sweep && k < op->results.size(); ++k)
        bits_[op->results[k].id] = bits_[op->regions[0].ops.back()->operands[k].id];
      const bool is_access = op->kind == OpKind::Load || op->kind == OpKind::Store;
      if (is_access && is_tile(kernel_, op->operands[0]))
        accesses_.push_back({op, bits_[op->operands[0].id], is_in_loop ? in_loop : 0});
    }
  }

  const ir::Kernel& kernel_;
  std::vector<unsigned> bits_;
  std::vector<Access> accesses_;
  unsigned axes_ = 0;
};

}  // namespace

namespace {

// Whether a sweep before loads the same, and one of the two for the other's sake.
bool is_known(const ir::Kernel& kernel, const Sweeps& sweeps,
              const std::vector<Dependences::Access>& accesses, const ir::Op& load) {
  for (const Dependences::Access& before : accesses) {
    if (before.op == &load) break;
    if (before.op->kind == OpKind::Load &&
        (sweeps.is_repeat(load) || sweeps.is_repeat(*before.op)) &&
        ir::is_same_op(kernel, *before.op, load))
      return true;
  }
  return false;
}

}  // namespace

AccessHints find_access_hints(const ir::Kernel& kernel, const Sweeps& sweeps) {
  const Dependences dependences(kernel);
  const auto is_new = [&](const ir::Op& load) {
    return !is_known(kernel, sweeps, dependences.accesses(), load);
  };
  AccessHints hints;
  if (dependences.axes() == 0) return hints;
  const ir::MemoryOrder order(kernel);
  std::unordered_map<std::uint32_t, int> loads;  // by the argument of their pointers
  for (const Dependences::Access& access : dependences.accesses())
    if (access.op->kind == OpKind::Load && is_new(*access.op))
      ++loads[order.argument_of(access.op->operands[0]).id];
  int long_weights = 0;
  for (const Dependences::Access& access : dependences.accesses()) {
    if (access.op->kind != OpKind::Load || access.op->integer("volatile") != 0) continue;
    const unsigned wanted = access.wanted | dependences.axes();
    const bool is_own = (access.bits & wanted) == wanted;
    hints.has_shared |= !is_own;
    if (!is_own)
      long_weights +=
          kernel.type(access.op->result()).numel() >= long_row && is_new(*access.op) ? 1 : 0;
    else if (loads[order.argument_of(access.op->operands[0]).id] == 1) hints.once.insert(access.op);
  }
  if (!has_dot(kernel) && long_weights <= 1) hints.streaming = hints.once;
  return hints;
}

}  // namespace tilewright
