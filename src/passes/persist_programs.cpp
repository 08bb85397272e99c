// SPDX-License-Identifier: Apache-2.0
// passes/persist_programs.cpp — the whole body in a loop over programs.
#include "passes/persist_programs.h"

#include <algorithm>
#include <vector>

#include "ir/builder.h"

namespace tilewright {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

// Whether the kernel has roles or blocks of its own already.
bool is_of_roles(const Op& op) {
  return op.kind == OpKind::IsProducer || op.kind == OpKind::NumBlocks;
}

bool may_stand_beside_roles(const Op& op) {
  switch (op.facts().family) {
    case ir::Family::Source:
    case ir::Family::View:
    case ir::Family::Elementwise:
    case ir::Family::Ends:
      return !is_of_roles(op) && op.kind != OpKind::InlineAsm;
    case ir::Family::Access:
      return (op.kind == OpKind::Load && op.integer("volatile") == 0) || op.kind == OpKind::Store;
    case ir::Family::Across:
      return op.kind == OpKind::Dot;
    case ir::Family::Control:
      return op.kind == OpKind::For;
    case ir::Family::Check:
      return op.kind == OpKind::Assume;
    case ir::Family::Reduction:
      return op.kind == OpKind::Reduce;
    case ir::Family::Sync:
    case ir::Family::Final:
      return false;
  }
  return false;
}

bool has_one_axis(const Kernel& kernel) {
  bool has_one = true;
  ir::walk(kernel.body, [&](const Op& op) {
    has_one &=
        (op.kind != OpKind::ProgramId && op.kind != OpKind::NumPrograms) || op.integer("axis") == 0;
  });
  return has_one;
}

void loop_over_programs(Kernel& kernel) {
  ir::Builder build(kernel);
  Region body = std::move(kernel.body);
  kernel.body = {};
  const ir::Builder::Into into(build, kernel.body);
  const Type number = Type::scalar(i32);
  const Value first = build.create_one(OpKind::ProgramId, {}, number, {{"axis", std::int64_t{0}}});
  const Value count =
      build.create_one(OpKind::NumPrograms, {}, number, {{"axis", std::int64_t{0}}});
  const Value blocks = build.create_one(OpKind::NumBlocks, {}, number);
  Op* loop = build.create(OpKind::For, {first, count, blocks}, {});
  loop->regions.resize(1);
  const Value program = kernel.make_value(number, "program", nullptr);
  loop->regions[0].arguments = {program};
  std::vector<Op*> ops;
  std::vector<Value> ids;
  for (Op* op : body.ops)
    if (op->kind != OpKind::ProgramId) ops.push_back(op);
  ir::walk(body, [&](Op& op) {
    if (op.kind == OpKind::ProgramId) ids.push_back(op.result());  // in loops, too
  });
  ir::walk(body, [&](Op& op) {
    for (Value& operand : op.operands)
      if (std::find(ids.begin(), ids.end(), operand) != ids.end()) operand = program;
  });
  loop->regions[0].ops = std::move(ops);
  const ir::Builder::Into inside(build, loop->regions[0]);
  build.yield({});
}

void persist_programs(Kernel& kernel, const Target& target) {
  bool is_good =
      target.has(Feature::TensorMaps) && kernel.stage == ir::Stage::Tile && has_one_axis(kernel);
  ir::walk(kernel.body, [&](const Op& op) { is_good = is_good && may_stand_beside_roles(op); });
  if (is_good) loop_over_programs(kernel);
}

}  // namespace tilewright
