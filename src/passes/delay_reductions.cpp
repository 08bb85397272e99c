// SPDX-License-Identifier: Apache-2.0
// passes/delay_reductions.cpp — which values of a loop only add up, and the loop with their parts.
#include "passes/delay_reductions.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/rewrite.h"
#include "passes/edit_regions.h"
#include "passes/thread_parts.h"
#include "passes/uses.h"

namespace tilewright {
namespace {

using ir::Builder;
using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

constexpr std::int64_t most_words_of_thread = 32;
constexpr std::int64_t most_words_of_block = 8192;
constexpr std::int64_t most_words_of_row = 4;      // of a thread, for one sum of a whole row
constexpr std::int64_t saved_words_of_thread = 8;  // that are worth a reduction in every round

// In the loop: carried = combine(carried, views(reduce(tile))).
// Behind it: carried = combine(carried, tile), and reduce(carried) for nobody else.
struct CarriedSum {
  std::size_t carried = 0;  // which of the loop's values
  Op* combine = nullptr;
  std::vector<Op*> views;  // from the reduction to the combination
  Op* reduce = nullptr;
  Value tile;
  std::int64_t parts = 0;
};

bool is_mover(const Op& op) { return op.facts().maps(ir::Spread | ir::Reshaped | ir::Permuted); }

bool is_sum(const Op& combine) {
  return combine.operands.size() == 2 &&
         (combine.kind == OpKind::Add || combine.facts().has(ir::Idempotent));
}

// Whether the reduction combines as this op does.
bool combines_as(const Op& reduce, const Op& combine) {
  if (reduce.kind != OpKind::Reduce || reduce.operands.size() != 1 || reduce.find("parts"))
    return false;
  const Region& region = reduce.regions[0];
  if (region.ops.size() != 2) return false;
  const Op& inner = *region.ops[0];
  return inner.kind == combine.kind && inner.attributes == combine.attributes &&
         inner.operands == region.arguments &&
         region.ops[1]->operands == std::vector<Value>{inner.result()};
}

class ReductionDelayer {
 public:
  ReductionDelayer(Kernel& kernel, std::int64_t threads)
      : kernel_(kernel), threads_(threads), build_(kernel) {}

  void run() {
    run(kernel_.body);
    if (!dead_.empty()) erase_dead(kernel_.body);
  }

 private:
  void run(Region& region) {
    rewrite_ops(region, [&](Op& op, Region& before, Region& after) {
      for (Region& inner : op.regions) run(inner);
      if (op.kind != OpKind::For) return;
      for (const CarriedSum& sum : sums_in(op)) delay(op, sum, before, after);
      for (const CarriedSum& sum : sums_behind(op)) carry_parts(op, sum, before);
    });
  }

  void erase_dead(Region& region) {
    std::erase_if(region.ops, [&](const Op* op) {
      return std::find(dead_.begin(), dead_.end(), op) != dead_.end();
    });
    for (Op* op : region.ops)
      for (Region& inner : op->regions) erase_dead(inner);
  }

  // ---- What there is

  // All reductions of the loop, when it has no other op across elements and their parts fit.
  std::vector<CarriedSum> sums_in(const Op& loop) const {
    std::vector<CarriedSum> sums;
    std::int64_t words = 0;
    for (std::size_t i = 0; i + 3 < loop.operands.size(); ++i) {
      const std::optional<CarriedSum> sum = sum_in(loop, i);
      if (!sum) continue;
      words += words_of(kernel_.type(sum->tile), *sum);
      sums.push_back(*sum);
    }
    std::size_t across = 0;
    ir::walk(loop.regions[0], [&](const Op& op) {
      across += op.facts().is(ir::Family::Across) || op.facts().is(ir::Family::Reduction) ? 1 : 0;
    });
    const bool fits = words <= most_words_of_block && words <= most_words_of_thread * threads_;
    if (across != sums.size() || !fits) return {};
    std::erase_if(
        sums, [](const CarriedSum& sum) { return sum.parts == 1; });  // no thread waits in these
    return sums;
  }

  std::optional<CarriedSum> sum_in(const Op& loop, std::size_t carried) const {
    std::optional<CarriedSum> sum = combination(loop, carried);
    if (!sum) return {};
    const Region& body = loop.regions[0];
    Op* op = own_op(body, sum->tile);
    for (; op && is_mover(*op); op = own_op(body, op->operands[0]))
      sum->views.insert(sum->views.begin(), op);
    if (!op || !combines_as(*op, *sum->combine)) return {};
    if (!sum->views.empty() && sum->combine->facts().has(ir::Idempotent)) return {};
    sum->reduce = op;
    sum->tile = op->operands[0];
    sum = with_parts(loop, *sum);
    const Type& tile = kernel_.type(sum->tile);
    const bool is_light = words_of(tile, *sum) <= most_words_of_row * threads_;
    return tile.rank > 1 || is_light ? sum : std::nullopt;
  }

  std::vector<CarriedSum> sums_behind(const Op& loop) const {
    std::vector<CarriedSum> sums;
    for (std::size_t i = 0; i + 3 < loop.operands.size(); ++i)
      if (const std::optional<CarriedSum> sum = sum_behind(loop, i)) sums.push_back(*sum);
    return sums;
  }

  std::optional<CarriedSum> sum_behind(const Op& loop, std::size_t carried) const {
    std::optional<CarriedSum> sum = combination(loop, carried);
    if (!sum || !kernel_.type(sum->tile).is_tile()) return {};
    const Value result = loop.results[carried];
    ir::walk(kernel_.body, [&](Op& op) {
      if (op.kind == OpKind::Reduce && op.operands[0] == result) sum->reduce = &op;
    });
    if (!sum->reduce || uses_in(kernel_.body, result) != 1) return {};
    if (!combines_as(*sum->reduce, *sum->combine) || !starts_evenly(loop, *sum)) return {};
    sum = with_parts(loop, *sum);
    const Type& tile = kernel_.type(sum->tile);
    const std::int64_t words = tile.numel() * static_cast<std::int64_t>(tile.element_bytes()) / 4;
    const bool pays = words - words_of(tile, *sum) >= saved_words_of_thread * threads_;
    return pays ? sum : std::nullopt;
  }

  // carried = combine(carried, tile) of values of 32 bits and more.
  std::optional<CarriedSum> combination(const Op& loop, std::size_t carried) const {
    const Region& body = loop.regions[0];
    const Value before = body.arguments[carried + 1];
    const Value next = body.ops.back()->operands[carried];
    const Type& type = kernel_.type(next);
    Op* combine = own_op(body, next);
    if (!combine || !is_sum(*combine) || type.is_pointer || type.element_bytes() < 4) return {};
    const auto from = std::find(combine->operands.begin(), combine->operands.end(), before);
    if (from == combine->operands.end() || uses_in(body, before) != 1) return {};
    const Value tile = combine->operands[from == combine->operands.begin() ? 1 : 0];
    return CarriedSum{.carried = carried, .combine = combine, .tile = tile};
  }

  // Whether the tile before the first round has one value, which is zero where it would count.
  bool starts_evenly(const Op& loop, const CarriedSum& sum) const {
    const Value start = loop.operands[sum.carried + 3];
    const Op* maker = kernel_.maker(start);
    if (!maker || (maker->kind != OpKind::Splat && maker->kind != OpKind::Constant)) return false;
    return sum.combine->facts().has(ir::Idempotent) || ir::Rewriter(kernel_).is_constant(start, 0);
  }

  CarriedSum with_parts(const Op& loop, CarriedSum sum) const {
    const int axis = static_cast<int>(sum.reduce->integer("axis"));
    sum.parts = thread_parts(kernel_, loop, kernel_.type(sum.tile), axis, threads_);
    return sum;
  }

  static std::int64_t words_of(const Type& tile, const CarriedSum& sum) {
    const std::int64_t length = tile.size(static_cast<int>(sum.reduce->integer("axis")));
    return tile.numel() / length * sum.parts * static_cast<std::int64_t>(tile.element_bytes()) / 4;
  }

  // The op of the loop's body that makes the value for one reader alone.
  Op* own_op(const Region& body, Value value) const {
    Op* op = kernel_.maker(value);
    const bool is_own = stands_in(body, op) && op->results.size() == 1 && uses_in(body, value) == 1;
    return is_own ? op : nullptr;
  }

  // ---- What becomes of it

  void delay(Op& loop, const CarriedSum& sum, Region& before, Region& after) {
    const Value start = loop.operands[sum.carried + 3];
    const Value old = loop.results[sum.carried];
    const Type type = part_type(sum);
    {
      const Builder::Into into(build_, before);
      build_.set_location(sum.combine->location);
      loop.operands[sum.carried + 3] = first_part(sum, start, type);
    }
    combine_parts(loop, sum, type);
    std::erase_if(loop.regions[0].ops, [&](const Op* op) {
      return op == sum.reduce ||
             std::find(sum.views.begin(), sum.views.end(), op) != sum.views.end();
    });
    finish(sum, start, loop.results[sum.carried], old, after);
  }

  void carry_parts(Op& loop, const CarriedSum& sum, Region& before) {
    const Type type = part_type(sum);
    const Value old = loop.results[sum.carried];
    {
      const Builder::Into into(build_, before);
      build_.set_location(sum.combine->location);
      const Op& start = *kernel_.maker(loop.operands[sum.carried + 3]);
      loop.operands[sum.carried + 3] =
          build_.create_one(start.kind, start.operands, type, start.attributes);
    }
    combine_parts(loop, sum, type);
    if (sum.parts > 1) return replace_uses(kernel_.body, old, loop.results[sum.carried]);
    replace_uses(kernel_.body, sum.reduce->result(), loop.results[sum.carried]);
    dead_.push_back(sum.reduce);
  }

  Type part_type(const CarriedSum& sum) const {
    const Type& type = kernel_.type(sum.tile);
    const auto axis = static_cast<std::size_t>(sum.reduce->integer("axis"));
    std::vector<std::int64_t> shape = type.shape();
    if (sum.parts == 1) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    else shape[axis] = sum.parts;
    return type.with_shape(shape);
  }

  // The loop carries the parts: the combination with what each thread has of the tile.
  void combine_parts(Op& loop, const CarriedSum& sum, const Type& type) {
    Region& body = loop.regions[0];
    const Value part = kernel_.make_value(type, "", nullptr);
    body.arguments[sum.carried + 1] = part;
    loop.results[sum.carried] = kernel_.make_value(type, "", &loop);
    Region fresh;
    const Builder::Into into(build_, fresh);
    build_.set_location(sum.combine->location);
    const Value tile = in_parts(sum, type);
    const Value next =
        build_.create_one(sum.combine->kind, {part, tile}, type, sum.combine->attributes);
    kernel_.set_name(next, kernel_.name_of(sum.combine->result()));
    const auto at = std::find(body.ops.begin(), body.ops.end(), sum.combine);
    body.ops.insert(body.ops.erase(at), fresh.ops.begin(), fresh.ops.end());
    body.ops.back()->operands[sum.carried] = next;
  }

  // What is combined with the first round's elements.
  Value first_part(const CarriedSum& sum, Value start, const Type& type) {
    if (sum.combine->facts().has(ir::Idempotent)) {
      if (kernel_.type(start).is_scalar()) return build_.splat(start, type);
      std::vector<std::int64_t> shape = type.shape();
      shape[static_cast<std::size_t>(sum.reduce->integer("axis"))] = 1;
      return build_.broadcast(build_.reshape(start, shape), type);
    }
    return is_floating(type.dtype) ? build_.constant(type, -0.0)
                                   : build_.constant(type, std::int64_t{0});
  }

  // What each thread has of the tile, combined.
  Value in_parts(const CarriedSum& sum, const Type& type) {
    if (same_shape(type, kernel_.type(sum.tile))) return sum.tile;
    std::vector<ir::Attribute> attributes = {{"axis", sum.reduce->integer("axis")}};
    if (sum.parts > 1) attributes.push_back({"parts", sum.parts});
    Op* reduce = build_.create(OpKind::Reduce, {sum.tile}, {type}, std::move(attributes));
    reduce->regions.resize(1);
    Region& region = reduce->regions[0];
    for (int i = 0; i < 2; ++i)
      region.arguments.push_back(kernel_.make_value(type.element(), "", nullptr));
    const Builder::Into into(build_, region);
    build_.yield({build_.create_one(sum.combine->kind, region.arguments, type.element(),
                                    sum.combine->attributes)});
    return reduce->result();
  }

  // The reduction, the views and the combination with the first value, behind the loop.
  void finish(const CarriedSum& sum, Value start, Value parts, Value old, Region& after) {
    const Builder::Into into(build_, after);
    sum.reduce->operands[0] = parts;
    build_.insert(sum.reduce);
    for (Op* view : sum.views) build_.insert(view);
    if (sum.combine->facts().has(ir::Idempotent))
      return replace_uses(kernel_.body, old, sum.reduce->result());
    const Value reduced = (sum.views.empty() ? sum.reduce : sum.views.back())->result();
    sum.combine->operands = {start, reduced};
    build_.insert(sum.combine);
    replace_uses(kernel_.body, old, sum.combine->result());
  }

  Kernel& kernel_;
  const std::int64_t threads_;
  Builder build_;
  std::vector<const Op*> dead_;
};

}  // namespace

void delay_reductions(Kernel& kernel, const Target& target, int num_warps) {
  if (kernel.stage == ir::Stage::Tile)
    ReductionDelayer(kernel, std::int64_t{num_warps} * target.warp_size).run();
}

void delay_reductions(Kernel& kernel, const Target& target) { delay_reductions(kernel, target, 4); }

}  // namespace tilewright
