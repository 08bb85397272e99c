// SPDX-License-Identifier: Apache-2.0
// passes/laid/only_elements.cpp — views that give scalars become reductions.
#include "passes/laid/only_elements.h"

#include <utility>
#include <vector>

#include "ir/builder.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

// Whether the op is a view of a tile that gives scalars.
bool gives_elements(const ir::Kernel& kernel, const Op& op) {
  return op.facts().is(ir::Family::View) && !op.operands.empty() &&
         is_tile(kernel, op.operands[0]) && !is_tile(kernel, op.result()) &&
         !kernel.type(op.result()).is_pointer;
}

class OnlyElements {
 public:
  explicit OnlyElements(ir::Kernel& kernel) : kernel_(kernel), build_(kernel) {}

  void reduce(ir::Region& region) {
    std::vector<Op*> ops = std::exchange(region.ops, {});
    for (Op* op : ops) {
      for (ir::Region& inner : op->regions) reduce(inner);
      const ir::Builder::Into into(build_, region);
      build_.set_location(op->location);
      if (gives_elements(kernel_, *op)) {
        if (op->results.size() > 1) take_halves(*op);
        else take_element(*op);
      }
      build_.insert(op);
    }
  }

 private:
  Value line_of(Value tile) {
    const std::int64_t count = kernel_.type(tile).numel();
    return kernel_.type(tile).rank == 1 ? tile : build_.reshape(tile, {count});
  }

  // The op itself, so that its results stay what they are.
  ir::Region& make_reduction(Op& op, std::vector<Value> operands) {
    op.kind = OpKind::Reduce;
    op.attributes.clear();
    op.set("axis", std::int64_t{0});
    op.regions.resize(1);
    for (int side = 0; side < 2; ++side)
      for (const Value operand : operands)
        op.regions[0].arguments.push_back(
            kernel_.make_value(kernel_.type(operand).element(), "", nullptr));
    op.operands = std::move(operands);
    return op.regions[0];
  }

  // Nothing is combined.
  void take_element(Op& op) {
    ir::Region& region = make_reduction(op, {line_of(op.operands[0])});
    const ir::Builder::Into into(build_, region);
    build_.yield({region.arguments[0]});
  }

  // Of two elements the one with the lower index, and the other one.
  void take_halves(Op& op) {
    const Value tile = line_of(op.operands[0]), index = build_.arange(0, 2);
    const std::vector<Value> halves = std::exchange(op.results, {});
    const auto extra = [&] { return kernel_.make_value(kernel_.type(index).element(), "", &op); };
    op.results = {halves[0], extra(), halves[1], extra()};
    ir::Region& region = make_reduction(op, {tile, index, tile, index});
    const std::vector<Value>& in = region.arguments;
    const ir::Builder::Into into(build_, region);
    const Value is_low = build_.compare("lt", in[1], in[5]);
    const Value is_high = build_.compare("gt", in[3], in[7]);
    build_.yield({build_.select(is_low, in[0], in[4]), build_.select(is_low, in[1], in[5]),
                  build_.select(is_high, in[2], in[6]), build_.select(is_high, in[3], in[7])});
  }

  ir::Kernel& kernel_;
  ir::Builder build_;
};

}  // namespace

bool has_only_elements(const ir::Kernel& kernel) {
  bool found = false;
  ir::walk(kernel.body, [&](const Op& op) { found |= gives_elements(kernel, op); });
  return found;
}

void reduce_only_elements(ir::Kernel& kernel) { OnlyElements(kernel).reduce(kernel.body); }

}  // namespace tilewright
