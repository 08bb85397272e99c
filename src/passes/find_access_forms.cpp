// SPDX-License-Identifier: Apache-2.0
// passes/find_access_forms.cpp — gives every memory op the forms of its pointers and its mask.
#include "passes/find_access_forms.h"

#include <algorithm>

#include "passes/access_forms/carried_tiles.h"
#include "passes/access_forms/decompose.h"
#include "passes/axis_info.h"
#include "passes/eliminate_common_subexpressions.h"
#include "passes/eliminate_dead_code.h"

namespace tilewright {
namespace {

using ir::Builder;
using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

class Finder {
 public:
  Finder(Kernel& kernel, const LoopDepths& depths)
      : kernel_(kernel), axes_(kernel), build_(kernel), sums_(build_, depths) {}

  void run(Region& region) {
    std::vector<Op*> out;
    for (Op* op : region.ops) {
      for (Region& inner : op->regions) run(inner);
      if (op->facts().is(ir::Family::Access)) rewrite(*op, out);
      out.push_back(op);
    }
    region.ops = std::move(out);
  }

 private:
  void rewrite(Op& op, std::vector<Op*>& out) {
    build_.set_location(op.location);
    const Type shape = kernel_.type(op.operands[0]);
    if (!shape.is_tile()) return;
    const auto put = [&](std::size_t operand, Value (Finder::*form_of)(Value)) {
      // Scalars of an attempt without a form are dropped with the scratch.
      Region scratch;
      const Builder::Into into(build_, scratch);
      const Value form = (this->*form_of)(op.operands[operand]);
      if (!form) return;
      op.operands[operand] = form;
      out.insert(out.end(), scratch.ops.begin(), scratch.ops.end());
    };
    put(0, &Finder::pointer_form);
    if (op.mask()) put(static_cast<std::size_t>(op.facts().mask), &Finder::mask_form);
  }

  // The tile as `affine`; none when it has no such form, or has it already.
  Value pointer_form(Value tile) {
    const Op* maker = kernel_.maker(tile);
    if (maker && maker->kind == OpKind::Affine) return {};
    const auto form = Decomposer(sums_).pointers(tile);
    if (!form) return {};
    const std::int64_t divisor = promised_divisor(tile, form->elements.strides);
    const Value base = promised(sums_.move(form->pointer, form->elements.base), divisor);
    const auto bytes = static_cast<std::int64_t>(size_of(kernel_.type(tile).dtype));
    std::vector<Value> strides;
    for (const Sum& stride : form->elements.strides)
      strides.push_back(promised(sums_.emit(stride), divisor / bytes));
    const Value affine = build_.affine(base, strides, kernel_.type(tile));
    // The base is what generated code shows; the tile is never made there.
    kernel_.set_name(base == form->pointer ? affine : base, kernel_.name_of(tile));
    return affine;
  }

  // By hints about the tile: how many bytes divide the pointer to the first element of each row, of
  // which all elements are neighbours. Then they divide the base and the strides of other
  // dimensions; 1 where nothing is promised.
  std::int64_t promised_divisor(Value tile, const std::vector<Sum>& strides) const {
    const auto along = std::find_if(strides.begin(), strides.end(),
                                    [](const Sum& stride) { return stride.is(1); });
    if (along == strides.end()) return 1;
    std::int64_t divisor = 1;
    for (const Op* op = kernel_.maker(tile); op && op->kind == OpKind::Hint;
         op = kernel_.maker(op->operands[0])) {
      const std::vector<std::int64_t> promises = op->integers("divisible");
      const auto d = static_cast<std::size_t>(along - strides.begin());
      if (d < promises.size()) divisor = std::max(divisor, promises[d] & -promises[d]);
    }
    return divisor;
  }

  // The scalar with what is promised of it, if that is news.
  Value promised(Value scalar, std::int64_t divisor) {
    const Op* maker = kernel_.maker(scalar);
    const bool is_known = divisor <= 1 || (maker && maker->kind == OpKind::Constant) ||
                          axes_.is_multiple(scalar, divisor);
    if (is_known) return scalar;
    return build_.create_one(OpKind::Hint, {scalar}, kernel_.type(scalar),
                             {{"divisible", std::vector<std::int64_t>{divisor}}});
  }

  Value mask_form(Value tile) {
    const Op* maker = kernel_.maker(tile);
    if (maker && (maker->kind == OpKind::Bounds || maker->kind == OpKind::Constant)) return {};
    const MaskForm form = Decomposer(sums_).mask(tile);
    if (!form.has_form()) return {};
    Value mask = bounds_of(form, kernel_.type(tile));
    for (const Value residue : form.residues) mask = build_.binary(OpKind::And, mask, residue);
    kernel_.set_name(mask, kernel_.name_of(tile));
    return mask;
  }

  Value bounds_of(const MaskForm& form, const Type& shape) {
    std::vector<Value> bounds;
    for (std::size_t d = 0; d < form.lows.size(); ++d) {
      const std::int64_t size = shape.size(static_cast<int>(d));
      bounds.push_back(tightest(form.lows[d], 0, OpKind::Maximum));
      bounds.push_back(tightest(form.highs[d], size, OpKind::Minimum));
    }
    if (const Value condition = conjunction(form.conditions))
      bounds[1] = build_.select(condition, bounds[1], sums_.constant(0));
    return build_.bounds(std::move(bounds), shape);
  }

  // The largest low or the smallest high; constants no tighter than `natural` say nothing.
  Value tightest(const std::vector<Sum>& limits, std::int64_t natural, OpKind kind) {
    std::int64_t number = natural;
    std::vector<Sum> others;
    for (const Sum& limit : limits) {
      if (kind == OpKind::Maximum && is_at_most_zero(limit)) continue;
      if (!limit.is_constant()) {
        if (std::find(others.begin(), others.end(), limit) == others.end()) others.push_back(limit);
        continue;
      }
      number = kind == OpKind::Maximum ? std::max(number, limit.constant())
                                       : std::min(number, limit.constant());
    }
    if (others.empty()) return sums_.constant(number);
    Value tight;
    for (const Sum& other : others) {
      const Value value = sums_.emit(other);
      tight = tight ? build_.binary(kind, tight, value) : value;
    }
    return number == natural ? tight : build_.binary(kind, tight, sums_.constant(number));
  }

  // Every index is at least that: "start + i >= 0" says nothing when the start is not negative.
  bool is_at_most_zero(const Sum& sum) const {
    const auto is_not_positive = [&](const Sum::Term& term) {
      return term.coefficient < 0 &&
             std::all_of(term.factors.begin(), term.factors.end(),
                         [&](Value factor) { return axes_.is_not_negative(factor); });
    };
    return sum.constant() <= 0 &&
           std::all_of(sum.terms().begin(), sum.terms().end(), is_not_positive);
  }

  Value conjunction(const std::vector<Value>& conditions) {
    Value all;
    for (const Value condition : conditions)
      all = all ? build_.binary(OpKind::And, all, condition) : condition;
    return all;
  }

  Kernel& kernel_;
  const AxisAnalysis axes_;
  Builder build_;
  SumBuilder sums_;
};

}  // namespace

void find_access_forms(Kernel& kernel, const Target& target) {
  if (kernel.stage > ir::Stage::Tile) return;
  kernel.stage = ir::Stage::Tile;
  eliminate_common_subexpressions(kernel, target);  // equal scalars cancel only when they are one
  LoopDepths depths(kernel);
  carry_scalars(kernel, depths);
  Finder(kernel, depths).run(kernel.body);
  // Accesses of one tile have made the same scalars, and the old index arithmetic is not used now.
  eliminate_common_subexpressions(kernel, target);
  eliminate_dead_code(kernel, target);
}

}  // namespace tilewright
