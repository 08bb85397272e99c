// SPDX-License-Identifier: Apache-2.0
// passes/turn_loads.cpp — which loads are turned, and their pointers, masks and other values.
#include "passes/turn_loads.h"

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/edit_regions.h"
#include "passes/eliminate_common_subexpressions.h"
#include "passes/eliminate_dead_code.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

class LoadTurner {
 public:
  explicit LoadTurner(Kernel& kernel)
      : kernel_(kernel), build_(kernel), has_other_use_(kernel.value_count()) {
    ir::walk(kernel.body, [&](const Op& op) {
      for (std::size_t k = 0; k < op.operands.size(); ++k)
        if (op.kind != OpKind::Dot || k > 1) has_other_use_[op.operands[k].id] = true;
    });
  }

  bool run(Region& region) {
    bool has_turned = false;
    rewrite_ops(region, [&](Op& op, Region& before, Region&) {
      for (Region& inner : op.regions) has_turned |= run(inner);
      if (!is_turnable(op)) return;
      const ir::Builder::Into into(build_, before);
      turn(op);
      has_turned = true;
    });
    return has_turned;
  }

 private:
  bool is_made_by(Value value, OpKind kind) const {
    const Op* maker = kernel_.maker(value);
    return maker && maker->kind == kind;
  }

  bool is_turnable(const Op& op) const {
    if (op.kind != OpKind::Load || kernel_.type(op.result()).rank != 2 ||
        op.integer("volatile") != 0 || has_other_use_[op.result().id] ||
        !is_made_by(op.operands[0], OpKind::Affine))
      return false;
    const Op& pointers = *kernel_.maker(op.operands[0]);
    return ir::integer_constant(kernel_, pointers.operands[1]) == 1 &&
           ir::integer_constant(kernel_, pointers.operands[2]) != 1 &&
           (op.operands.size() < 2 || is_made_by(op.operands[1], OpKind::Bounds)) &&
           (op.operands.size() < 3 || is_made_by(op.operands[2], OpKind::Constant));
  }

  // The load becomes the permutation of another one.
  void turn(Op& op) {
    build_.set_location(op.location);
    const Type shape = kernel_.type(op.result());
    const Type turned = shape.with_shape({shape.size(1), shape.size(0)});
    const Op& pointers = *kernel_.maker(op.operands[0]);
    std::vector<Value> operands = {
        build_.affine(pointers.operands[0], {pointers.operands[2], pointers.operands[1]}, turned)};
    if (op.operands.size() > 1) {
      const std::vector<Value>& limits = kernel_.maker(op.operands[1])->operands;
      operands.push_back(build_.bounds({limits[2], limits[3], limits[0], limits[1]}, turned));
    }
    if (op.operands.size() > 2)
      operands.push_back(build_.create_one(OpKind::Constant, {}, turned,
                                           kernel_.maker(op.operands[2])->attributes));
    const Value loaded = build_.create_one(OpKind::Load, operands, turned, op.attributes);
    kernel_.set_name(loaded, kernel_.name_of(op.result()));
    op.kind = OpKind::Permute;
    op.operands = {loaded};
    op.attributes = {{"order", std::vector<std::int64_t>{1, 0}}};
  }

  Kernel& kernel_;
  ir::Builder build_;
  std::vector<bool> has_other_use_;  // than by products, by value
};

}  // namespace

void turn_loads(Kernel& kernel, const Target& target) {
  if (!LoadTurner(kernel).run(kernel.body)) return;
  eliminate_common_subexpressions(kernel, target);
  eliminate_dead_code(kernel, target);
}

}  // namespace tilewright
