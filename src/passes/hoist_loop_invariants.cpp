// SPDX-License-Identifier: Apache-2.0
// passes/hoist_loop_invariants.cpp — what a loop defines, and what depends on none of it.
#include "passes/hoist_loop_invariants.h"

#include <algorithm>
#include <vector>

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::Region;
using ir::Value;

class Hoister {
 public:
  explicit Hoister(const Kernel& kernel) : kernel_(kernel), depth_(kernel.value_count(), 0) {}

  // `depth` counts the loops around a region; every value knows in how many loops it is defined.
  void run(Region& region, int depth) {
    mark(region.arguments, depth);
    std::vector<Op*> out;
    for (Op* op : region.ops) {
      const bool is_loop = op->facts().has(ir::Loops);
      for (Region& inner : op->regions) {
        run(inner, depth + (is_loop ? 1 : 0));
        if (is_loop) take_invariants(inner, depth, out);
      }
      out.push_back(op);
      mark(op->results, depth);
    }
    region.ops = std::move(out);
  }

 private:
  void mark(const std::vector<Value>& values, int depth) {
    for (const Value value : values) depth_[value.id] = depth;
  }

  // Ops of a loop's body whose operands are all defined outside it go to `out`.
  void take_invariants(Region& body, int outside, std::vector<Op*>& out) {
    std::vector<Op*> staying;
    for (Op* op : body.ops) {
      const bool depends = std::any_of(op->operands.begin(), op->operands.end(),
                                       [&](Value v) { return depth_[v.id] > outside; });
      // A loop without rounds must not end the program.
      const bool may_end = op->kind == ir::OpKind::Divide && op->number("divisor_from", 0) > 0 &&
                           !kernel_.type(op->result()).is_float();
      const bool moves = op->facts().has(ir::Pure) && op->regions.empty() && !depends && !may_end;
      (moves ? out : staying).push_back(op);
      if (moves) mark(op->results, outside);
    }
    body.ops = std::move(staying);
  }

  const Kernel& kernel_;
  std::vector<int> depth_;
};

}  // namespace

void hoist_loop_invariants(Kernel& kernel, const Target&) { Hoister(kernel).run(kernel.body, 0); }

}  // namespace tilewright
