// SPDX-License-Identifier: Apache-2.0
// passes/load_ahead.cpp — the first row before the loop, the next one at the begin of its body.
#include "passes/load_ahead.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/pipeline_loops/candidates.h"
#include "passes/repeat_ops.h"

namespace tilewright {
namespace {

using ir::Builder;
using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

class RowLoader {
 public:
  RowLoader(Kernel& kernel, std::int64_t most_bytes)
      : kernel_(kernel), most_bytes_(most_bytes), axes_(kernel), build_(kernel) {}

  void run(Region& region) {
    std::vector<Op*> out;
    for (Op* op : region.ops) {
      for (Region& inner : op->regions) run(inner);
      Region before;
      if (op->kind == OpKind::For && op->integer("stages") >= 2 && goes_up(*op))
        rewrite(*op, before);
      out.insert(out.end(), before.ops.begin(), before.ops.end());
      out.push_back(op);
    }
    region.ops = std::move(out);
  }

 private:
  bool goes_up(const Op& loop) const {
    const Op* step = kernel_.maker(loop.operands[2]);
    const auto known = ir::integer_constant(kernel_, loop.operands[2]);
    const bool is_count = step && step->kind == OpKind::NumPrograms;
    return (is_count || (known && *known > 0)) &&
           kernel_.type(loop.operands[0]).dtype != DType::UInt64;
  }

  // A mask of bounds can be closed; so can a load without one.
  bool can_close(const Op& load) const {
    if (load.operands.size() < 2) return true;
    const Op* mask = kernel_.maker(load.operands[1]);
    return mask && mask->kind == OpKind::Bounds;
  }

  void rewrite(Op& loop, Region& before) {
    const LoadsAhead ahead = find_rows_ahead(kernel_, axes_, loop);
    const bool fits = ahead.stage_bytes <= most_bytes_ &&
                      std::none_of(ahead.slice.begin(), ahead.slice.end(),
                                   [](const Op* op) { return op->kind == OpKind::Load; }) &&
                      std::all_of(ahead.loads.begin(), ahead.loads.end(),
                                  [&](const Op* load) { return can_close(*load); });
    if (ahead.loads.empty() || !fits) return;
    Region& body = loop.regions[0];
    const Value index = body.arguments[0];
    {
      const Builder::Into into(build_, before);
      for (const Value first : rows(loop, ahead, loop.operands[0])) loop.operands.push_back(first);
    }
    Region top;
    std::vector<Value> next;
    {
      const Builder::Into into(build_, top);
      build_.set_location(loop.location);
      const Value after = build_.binary(OpKind::Add, index, loop.operands[2]);
      next = rows(loop, ahead, after);
    }
    for (std::size_t i = 0; i < ahead.loads.size(); ++i) carry(loop, *ahead.loads[i], next[i]);
    std::erase_if(loop.attributes,
                  [](const ir::Attribute& a) { return a.name == "stages"; });  // done
    body.ops.insert(body.ops.begin(), top.ops.begin(), top.ops.end());
  }

  // The loads of the round with this index, which may lie behind the end.
  std::vector<Value> rows(const Op& loop, const LoadsAhead& ahead, Value index) {
    build_.set_location(loop.location);
    const Value is_there =
        build_.compare("lt", wide(loop, index), build_.cast(loop.operands[1], i64));
    IterationValues values = {{loop.regions[0].arguments[0].id, index}};
    for (const Op* op : ahead.slice) repeat(build_, *op, mapped(op->operands, values), values);
    std::vector<Value> out;
    for (const Op* load : ahead.loads) {
      std::vector<Value> operands = mapped(load->operands, values);
      const Value mask = closed(*load, operands, is_there);
      if (operands.size() < 2) operands.push_back(mask);
      operands[1] = mask;
      out.push_back(repeat(build_, *load, std::move(operands), values)->result());
    }
    return out;
  }

  // An index of the next round is the sum of two numbers, computed without overflow.
  Value wide(const Op& loop, Value index) {
    const Op* sum = kernel_.maker(index);
    if (index == loop.operands[0] || !sum) return build_.cast(index, i64);
    return build_.binary(OpKind::Add, build_.cast(sum->operands[0], i64),
                         build_.cast(sum->operands[1], i64));
  }

  Value closed(const Op& load, const std::vector<Value>& operands, Value is_there) {
    const Type& type = kernel_.type(load.result());
    build_.set_location(load.location);
    Value low = build_.constant(Type::scalar(i64), std::int64_t{0});
    Value high = build_.constant(Type::scalar(i64), type.numel());
    if (operands.size() > 1) {
      const Op* bounds = kernel_.maker(operands[1]);
      low = bounds->operands[0];
      high = bounds->operands[1];
    }
    // A number of 32 bits is compared as such.
    const Op* cast = kernel_.maker(high);
    if (cast && cast->kind == OpKind::Cast && kernel_.type(cast->operands[0]).dtype == i32)
      high = cast->operands[0];
    const Value none = build_.constant(kernel_.type(high), std::int64_t{0});
    high = build_.cast(build_.select(is_there, high, none), i64);
    return build_.create_one(OpKind::Bounds, {low, high}, type.with_element(b1));
  }

  // The loop carries the row from one round to the next; the load is gone.
  void carry(Op& loop, const Op& load, Value next) {
    Region& body = loop.regions[0];
    const Value old = load.result();
    const Value row = kernel_.make_value(kernel_.type(old), kernel_.name_of(old), nullptr);
    kernel_.set_name(next, "next_" + (kernel_.name_of(old).empty() ? "row" : kernel_.name_of(old)));
    body.arguments.push_back(row);
    loop.results.push_back(kernel_.make_value(kernel_.type(old), "", &loop));
    body.ops.erase(std::find(body.ops.begin(), body.ops.end(), &load));
    replace(body, old, row);
    body.ops.back()->operands.push_back(next);
  }

  static void replace(Region& region, Value old, Value by) {
    for (Op* op : region.ops) {
      std::replace(op->operands.begin(), op->operands.end(), old, by);
      for (Region& inner : op->regions) replace(inner, old, by);
    }
  }

  Kernel& kernel_;
  const std::int64_t most_bytes_;
  const AxisAnalysis axes_;
  Builder build_;
};

}  // namespace

void load_ahead(Kernel& kernel, std::int64_t most_bytes) {
  if (kernel.stage == ir::Stage::Tile) RowLoader(kernel, most_bytes).run(kernel.body);
}

void load_ahead(Kernel& kernel, const Target&) { load_ahead(kernel, 128 * 16 * 4); }

}  // namespace tilewright
