// SPDX-License-Identifier: Apache-2.0
// passes/unwrap_rows.cpp — where a wrapped index goes, and where the rows that it loads go.
#include "passes/unwrap_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/axis_info.h"
#include "passes/edit_regions.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

// An index tile that wraps: `result` is `plain` where that is below `bound`.
struct Wrapped {
  Op* op = nullptr;
  Value plain;
  Value bound;  // a scalar
};

class Unwrapper {
 public:
  explicit Unwrapper(Kernel& kernel) : kernel_(kernel), axes_(kernel) {
    ir::walk(kernel.body, [&](const Op& op) {
      for (std::size_t i = 0; i < op.operands.size(); ++i)
        uses_[op.operands[i].id].push_back({const_cast<Op*>(&op), i});
      for (const Region& region : op.regions)
        if (!region.ops.empty()) owners_[region.ops.back()] = const_cast<Op*>(&op);
    });
  }

  void run() {
    std::vector<Wrapped> found;
    ir::walk(kernel_.body, [&](Op& op) {
      if (const auto wrapped = wrapped_by(op)) found.push_back(*wrapped);
    });
    for (const Wrapped& wrapped : found) unwrap(wrapped);
  }

 private:
  struct Use {
    Op* op;
    std::size_t operand;
  };
  using Dimensions =
      std::map<std::uint32_t, int>;  // by value: along which dimension the index lies

  // ---- What wraps

  Value splatted(Value tile) const {
    const Op* op = kernel_.maker(tile);
    return op && op->kind == OpKind::Splat ? op->operands[0] : Value{};
  }

  std::optional<Wrapped> wrapped_by(Op& op) const {
    if (op.results.size() != 1 || kernel_.type(op.result()).rank != 1 ||
        !kernel_.type(op.result()).is_int())
      return std::nullopt;
    if (op.kind == OpKind::Remainder) {
      const Value bound = splatted(op.operands[1]);
      if (!bound || !axes_.is_not_negative(op.operands[0])) return std::nullopt;
      return Wrapped{&op, op.operands[0], bound};
    }
    if (op.kind != OpKind::Select) return std::nullopt;
    const Op* below = kernel_.maker(op.operands[0]);
    const Value other = splatted(op.operands[2]);
    const bool is_zero = other ? ir::integer_constant(kernel_, other) == 0
                               : ir::integer_constant(kernel_, op.operands[2]) == 0;
    if (!below || below->kind != OpKind::Compare || below->text("is") != "lt" ||
        below->operands[0] != op.operands[1] || !is_zero)
      return std::nullopt;
    const Value bound = splatted(below->operands[1]);
    if (!bound) return std::nullopt;
    return Wrapped{&op, op.operands[1], bound};
  }

  // ---- Where it goes

  // The dimension of the result that dimension d of the operand becomes; -1: it is not kept as it
  // is.
  int through_view(const Op& op, int d) const {
    const Type& from = kernel_.type(op.operands[0]);
    const Type& to = kernel_.type(op.result());
    if (op.facts().maps(ir::Permuted)) {
      const std::vector<std::int64_t> order = op.integers("order");
      return static_cast<int>(std::find(order.begin(), order.end(), d) - order.begin());
    }
    if (!op.facts().maps(ir::Reshaped)) return d;
    // Dimensions of size 1 come or go.
    if (from.numel() != from.size(d)) return -1;
    for (int k = 0; k < to.rank; ++k)
      if (to.size(k) == to.numel()) return k;
    return -1;
  }

  // Follows the values that are computed from `start`; `visit` is asked for each use that is no
  // plain arithmetic or loop and gives the dimension in the result, none where the use ends there,
  // or refuses.
  template <class Visit>
  bool follow(Value start, int dimension, const Wrapped& wrapped, const Visit& visit) {
    Dimensions known;
    std::vector<Value> open;
    bool is_good = true;
    const auto reach = [&](Value value, int d) {
      if (d < 0 || kernel_.type(value).rank <= d) return void(is_good = false);
      const auto [found, is_new] = known.try_emplace(value.id, d);
      if (is_new) open.push_back(value);
      else if (found->second != d) is_good = false;
    };
    reach(start, dimension);
    while (!open.empty() && is_good) {
      const Value value = open.back();
      open.pop_back();
      const int d = known.at(value.id);
      for (const Use& use : uses_[value.id]) {
        const Op& op = *use.op;
        if (op.facts().has(ir::Elementwise) && op.facts().has(ir::Pure)) {
          for (const Value result : op.results) reach(result, d);
        } else if (op.facts().maps(ir::Repeated | ir::Reshaped | ir::Permuted)) {
          reach(op.result(), through_view(op, d));
        } else if (op.kind == OpKind::For && use.operand >= 3) {
          if (is_inside(op, wrapped.plain)) return false;  // the next round has other rows
          reach(op.regions[0].arguments[use.operand - 2], d);
          reach(op.results[use.operand - 3], d);
        } else if (op.kind == OpKind::Yield) {
          const auto owner = owners_.find(&op);
          if (owner == owners_.end() || owner->second->kind != OpKind::For ||
              is_inside(*owner->second, wrapped.plain))
            return false;
          reach(owner->second->regions[0].arguments[use.operand + 1], d);
          reach(owner->second->results[use.operand], d);
        } else {
          bool ends = false;
          const int next = visit(use, d, ends);
          if (ends) continue;
          if (next < 0) return false;
          for (const Value result : op.results) reach(result, next);
        }
      }
    }
    return is_good;
  }

  static bool is_inside(const Op& loop, Value value) {
    bool found = std::find(loop.regions[0].arguments.begin(), loop.regions[0].arguments.end(),
                           value) != loop.regions[0].arguments.end();
    ir::walk(loop.regions[0], [&](const Op& op) {
      found = found || std::find(op.results.begin(), op.results.end(), value) != op.results.end();
    });
    return found;
  }

  // Whether two tiles have the same elements, along the only dimension that either has.
  bool is_same_line(Value a, Value b) const {
    int budget = 64;  // longer chains are taken to differ
    return is_same_line(a, b, budget);
  }
  bool is_same_line(Value a, Value b, int& budget) const {
    if (a == b) return true;
    if (--budget < 0) return false;
    const Op* x = kernel_.maker(a);
    const Op* y = kernel_.maker(b);
    const auto is_view = [](const Op* op) {
      return op && (op->facts().maps(ir::Repeated | ir::Reshaped) || op->kind == OpKind::Hint);
    };
    if (is_view(x)) return is_same_line(x->operands[0], b, budget);
    if (is_view(y)) return is_same_line(a, y->operands[0], budget);
    if (!x || !y || x->kind != y->kind || x->operands.size() != y->operands.size()) return false;
    if (x->kind == OpKind::Splat) return x->operands == y->operands;
    if (x->kind == OpKind::Arange) return x->integer("start") == y->integer("start");
    if (!x->facts().has(ir::Elementwise) || x->attributes != y->attributes) return false;
    for (std::size_t i = 0; i < x->operands.size(); ++i)
      if (!is_same_line(x->operands[i], y->operands[i], budget)) return false;
    return true;
  }

  // Whether the mask is false wherever `plain` along dimension d is not below the bound.
  bool implies_bound(Value mask, const Wrapped& wrapped, int d) const {
    const Op* op = kernel_.maker(mask);
    if (!op) return false;
    if (op->kind == OpKind::And)
      return implies_bound(op->operands[0], wrapped, d) ||
             implies_bound(op->operands[1], wrapped, d);
    if (op->kind == OpKind::Broadcast) return implies_bound(op->operands[0], wrapped, d);
    const Type& type = kernel_.type(mask);
    const std::int64_t size = kernel_.type(wrapped.plain).numel();
    if (op->kind == OpKind::Reshape) {  // of the line itself
      const Type& line = kernel_.type(op->operands[0]);
      return line.rank == 1 && line.numel() == size && type.numel() == size &&
             type.size(d) == size && implies_bound(op->operands[0], wrapped, 0);
    }
    if (op->kind != OpKind::Compare || op->text("is") != "lt") return false;
    const bool is_along = type.rank > d && type.size(d) == size && type.numel() == size;
    Value bound = op->operands[1];
    while (const Op* view = kernel_.maker(bound)) {
      if (!view->facts().maps(ir::Spread | ir::Repeated | ir::Reshaped)) break;
      bound = view->operands[0];
    }
    return is_along && bound == wrapped.bound && is_same_line(op->operands[0], wrapped.plain);
  }

  // Whether nobody sees rows of this load behind the bound.
  bool is_unseen(const Op& load, int d, const Wrapped& wrapped) {
    return follow(load.result(), d, wrapped, [&](const Use& use, int at, bool& ends) {
      const Op& op = *use.op;
      if (op.kind == OpKind::Store && use.operand == 1) {
        ends = op.operands.size() > 2 && implies_bound(op.operands[2], wrapped, at);
        return -1;
      }
      if (op.kind != OpKind::Dot) return -1;
      const int rank = kernel_.type(op.result()).rank;
      if (use.operand == 0) return at == rank - 2 ? at : -1;
      if (use.operand == 1) return at == rank - 1 ? at : -1;
      return at;
    });
  }

  // ---- What becomes of it

  void unwrap(const Wrapped& wrapped) {
    std::vector<std::pair<Op*, int>> loads;
    const bool ends_in_loads =
        follow(wrapped.op->result(), 0, wrapped, [&](const Use& use, int d, bool& ends) {
          ends =
              use.op->kind == OpKind::Load && use.operand == 0 && use.op->integer("volatile") == 0;
          if (ends) loads.emplace_back(use.op, d);
          return -1;
        });
    if (!ends_in_loads || loads.empty()) return;
    for (const auto& [load, d] : loads)
      if (!is_unseen(*load, d, wrapped)) return;
    for (const auto& [load, d] : loads) mask_load(*load, d, wrapped);
    for (const Use& use : uses_[wrapped.op->result().id]) {
      use.op->operands[use.operand] = wrapped.plain;
      uses_[wrapped.plain.id].push_back(use);
    }
    uses_[wrapped.op->result().id].clear();
  }

  void mask_load(Op& load, int d, const Wrapped& wrapped) {
    Region& region = region_of(kernel_.body, load);
    Region before;
    ir::Builder build(kernel_);
    build.set_location(load.location);
    {
      const ir::Builder::Into into(build, before);
      const Type line = kernel_.type(wrapped.plain);
      const Type tile = kernel_.type(load.result());
      const Value bound = build.create_one(OpKind::Splat, {wrapped.bound}, line);
      const Value below = build.compare("lt", wrapped.plain, bound);
      Type thin = tile.with_element(b1);
      for (int k = 0; k < tile.rank; ++k)
        if (k != d) thin.log_sizes[static_cast<std::size_t>(k)] = 0;
      Value mask = below;
      if (tile.rank > 1) {
        mask = build.create_one(OpKind::Reshape, {mask}, thin);
        mask = build.create_one(OpKind::Broadcast, {mask}, tile.with_element(b1));
      }
      if (load.operands.size() > 1)
        load.operands[1] = build.binary(OpKind::And, load.operands[1], mask);
      else load.operands.push_back(mask);
    }
    put_before(region, load, before);
  }

  static Region* find_region(Region& region, const Op& op) {
    for (Op* inside : region.ops) {
      if (inside == &op) return &region;
      for (Region& inner : inside->regions)
        if (Region* found = find_region(inner, op)) return found;
    }
    return nullptr;
  }
  static Region& region_of(Region& body, const Op& op) { return *find_region(body, op); }

  Kernel& kernel_;
  const AxisAnalysis axes_;
  std::map<std::uint32_t, std::vector<Use>> uses_;
  std::map<const Op*, Op*> owners_;  // of the region that an op ends
};

}  // namespace

void unwrap_rows(Kernel& kernel, const Target& target) {
  if (target.has(Feature::TensorMaps) && kernel.stage == ir::Stage::Source) Unwrapper(kernel).run();
}

}  // namespace tilewright
