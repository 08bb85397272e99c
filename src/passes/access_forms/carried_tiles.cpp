// SPDX-License-Identifier: Apache-2.0
// passes/access_forms/carried_tiles.cpp — innermost loops first: what an inner loop adds to a tile
// is one more step of the outer one.
#include "passes/access_forms/carried_tiles.h"

#include <algorithm>
#include <optional>

#include "ir/interpret/tile.h"
#include "ir/rewrite.h"
#include "passes/access_forms/decompose.h"
#include "passes/edit_regions.h"

namespace tilewright {
namespace {

using ir::Builder;
using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

// One distance by which a tile moves: a scalar, or the constant of a tile of one value.
struct Step {
  Value scalar;
  std::int64_t constant = 0;
  bool is_taken_away = false;
};

class Carrier {
 public:
  Carrier(Kernel& kernel, LoopDepths& depths)
      : kernel_(kernel), depths_(depths), substitution_(kernel.value_count()) {}

  void run(Region& region, int depth) {
    rewrite_ops(region, [&](Op& op, Region& before, Region& after) {
      substitution_.apply(op.operands);
      const bool is_loop = op.facts().has(ir::Loops);
      for (Region& inner : op.regions) run(inner, depth + (is_loop ? 1 : 0));
      if (op.kind == OpKind::For) rewrite_loop(op, depth, before, after);
    });
  }

 private:
  // A loop and the places where ops for one carried value go.
  struct Loop {
    Op& op;
    int depth;
    Region& before;
    Region top;
    Region bottom;
    Region& after;
  };

  void rewrite_loop(Op& op, int depth, Region& before, Region& after) {
    Region& body = op.regions[0];
    Loop loop{op, depth, before, {}, {}, after};
    for (std::size_t k = op.results.size(); k-- > 0;) rewrite_slot(loop, k);
    put_first(body, loop.top);
    put_last(body, loop.bottom);
    if (!substitution_.is_empty())
      ir::walk(body, [&](Op& inner) { substitution_.apply(inner.operands); });
  }

  void rewrite_slot(Loop& loop, std::size_t k) {
    const Type type = kernel_.type(loop.op.results[k]);
    const Value argument = loop.op.regions[0].arguments[k + 1];
    const Value next = loop.op.regions[0].ops.back()->operands[k];
    if (next == argument || next == loop.op.operands[k + 3]) return drop_slot(loop, k);
    if (!type.is_tile() || !(type.is_pointer || type.is_int())) return;
    const auto steps = steps_to(argument, next);
    if (!steps) return;
    if (!type.is_pointer) return carry_number(loop, k, *steps);
    if (total_of(*steps).is(0)) return drop_slot(loop, k);
    if (!carry_base(loop, k, *steps)) carry_distance(loop, k, *steps);
  }

  // The steps from `argument` to `value`; none when it is not argument + uniform steps.
  std::optional<std::vector<Step>> steps_to(Value argument, Value value) const {
    std::vector<Step> steps;
    while (value != argument) {
      const Op* op = kernel_.maker(value);
      if (!op) return std::nullopt;
      if (op->kind == OpKind::Hint) {
        value = op->operands[0];
        continue;
      }
      const bool takes_away = op->kind == OpKind::Subtract;
      const bool adds = op->kind == OpKind::Add || op->kind == OpKind::Offset;
      if (!adds && !takes_away) return std::nullopt;
      std::size_t moved = 0;
      if (op->kind == OpKind::Add && uniform(op->operands[0])) moved = 1;
      std::optional<Step> step = uniform(op->operands[1 - moved]);
      if (!step) return std::nullopt;
      step->is_taken_away = takes_away;
      steps.push_back(*step);
      value = op->operands[moved];
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  std::optional<Step> uniform(Value tile) const {
    const Op* op = kernel_.maker(tile);
    if (op && op->kind == OpKind::Splat) return Step{.scalar = op->operands[0]};
    if (op && op->kind == OpKind::Constant)
      return Step{.constant = ir::wrap(kernel_.type(tile).dtype, op->integer("value"))};
    return std::nullopt;
  }

  Sum total_of(const std::vector<Step>& steps) const {
    Sum total;
    for (const Step& step : steps) {
      const Sum distance = step.scalar ? Sum::of(kernel_, step.scalar) : Sum(step.constant);
      total = total + distance;
    }
    return total;
  }

  // A value that stays the same is the initial one.
  void drop_slot(Loop& loop, std::size_t k) {
    const auto at = static_cast<std::ptrdiff_t>(k);
    Region& body = loop.op.regions[0];
    const Value initial = loop.op.operands[k + 3];
    substitution_.add(body.arguments[k + 1], initial);
    substitution_.add(loop.op.results[k], initial);
    loop.op.operands.erase(loop.op.operands.begin() + at + 3);
    loop.op.results.erase(loop.op.results.begin() + at);
    body.arguments.erase(body.arguments.begin() + at + 1);
    body.ops.back()->operands.erase(body.ops.back()->operands.begin() + at);
  }

  // Puts a scalar into slot k; gives the scalar in the loop and the one after it.
  std::pair<Value, Value> replace_slot(Loop& loop, std::size_t k, Value initial) {
    const Type type = kernel_.type(initial);
    Region& body = loop.op.regions[0];
    const Value inside = kernel_.make_value(type, kernel_.name_of(body.arguments[k + 1]), nullptr);
    const Value result = kernel_.make_value(type, kernel_.name_of(loop.op.results[k]), &loop.op);
    depths_.set(inside, loop.depth + 1);
    depths_.set(result, loop.depth);
    loop.op.operands[k + 3] = initial;
    body.arguments[k + 1] = inside;
    loop.op.results[k] = result;
    return {inside, result};
  }

  bool carry_base(Loop& loop, std::size_t k, const std::vector<Step>& steps) {
    const Type type = kernel_.type(loop.op.results[k]);
    const Value argument = loop.op.regions[0].arguments[k + 1];
    const Value old_result = loop.op.results[k];
    Builder build(kernel_);
    build.set_location(loop.op.location);
    SumBuilder sums(build, depths_);
    Region scratch;
    const Builder::Into into_before(build, scratch);
    const auto form = Decomposer(sums).pointers(loop.op.operands[k + 3]);
    if (!form) return false;
    std::vector<Value> strides;
    for (const Sum& stride : form->elements.strides) strides.push_back(sums.emit(stride));
    const Value base = sums.move(form->pointer, form->elements.base);
    if (base != form->pointer) kernel_.set_name(base, kernel_.name_of(loop.op.operands[k + 3]));
    const auto [inside, result] = replace_slot(loop, k, base);
    loop.before.ops.insert(loop.before.ops.end(), scratch.ops.begin(), scratch.ops.end());

    const Builder::Into into_top(build, loop.top);
    substitution_.add(argument, build.affine(inside, strides, type));
    const Builder::Into into_bottom(build, loop.bottom);
    loop.op.regions[0].ops.back()->operands[k] = sums.move(inside, total_of(steps));
    const Builder::Into into_after(build, loop.after);
    substitution_.add(old_result, build.affine(result, strides, type));
    return true;
  }

  void carry_distance(Loop& loop, std::size_t k, const std::vector<Step>& steps) {
    const Value tile = loop.op.operands[k + 3];
    const Value argument = loop.op.regions[0].arguments[k + 1];
    const Value old_result = loop.op.results[k];
    Builder build(kernel_);
    build.set_location(loop.op.location);
    SumBuilder sums(build, depths_);
    const Builder::Into into_before(build, loop.before);
    const auto [inside, result] = replace_slot(loop, k, sums.constant(0));
    const auto moved = [&](Value distance) {
      return build.offset(tile, build.splat(distance, kernel_.type(tile)));
    };
    const Builder::Into into_top(build, loop.top);
    substitution_.add(argument, moved(inside));
    const Builder::Into into_bottom(build, loop.bottom);
    loop.op.regions[0].ops.back()->operands[k] =
        build.binary(OpKind::Add, inside, sums.emit(total_of(steps)));
    const Builder::Into into_after(build, loop.after);
    substitution_.add(old_result, moved(result));
  }

  // Integers keep their type, so that they wrap where they did.
  void carry_number(Loop& loop, std::size_t k, const std::vector<Step>& steps) {
    const Value tile = loop.op.operands[k + 3];
    const Value argument = loop.op.regions[0].arguments[k + 1];
    const Value old_result = loop.op.results[k];
    const Type scalar = kernel_.type(tile).element();
    Builder build(kernel_);
    build.set_location(loop.op.location);
    const Builder::Into into_before(build, loop.before);
    const auto [inside, result] = replace_slot(loop, k, build.constant(scalar, std::int64_t{0}));
    const auto moved = [&](Value distance) {
      return build.binary(OpKind::Add, tile, build.splat(distance, kernel_.type(tile)));
    };
    const Builder::Into into_top(build, loop.top);
    substitution_.add(argument, moved(inside));
    const Builder::Into into_bottom(build, loop.bottom);
    Value next = inside;
    for (const Step& step : steps)
      next = build.binary(step.is_taken_away ? OpKind::Subtract : OpKind::Add, next,
                          step.scalar ? step.scalar : build.constant(scalar, step.constant));
    loop.op.regions[0].ops.back()->operands[k] = next;
    const Builder::Into into_after(build, loop.after);
    substitution_.add(old_result, moved(result));
  }

  Kernel& kernel_;
  LoopDepths& depths_;
  ir::Substitution substitution_;
};

}  // namespace

void carry_scalars(Kernel& kernel, LoopDepths& depths) {
  Carrier(kernel, depths).run(kernel.body, 0);
}

}  // namespace tilewright
