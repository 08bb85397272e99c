// SPDX-License-Identifier: Apache-2.0
// passes/align_stores.cpp — one store becomes two, one of them with promises.
#include "passes/align_stores.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/axis_info.h"
#include "passes/edit_regions.h"
#include "passes/uses.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

constexpr std::int64_t line_bytes = 16;
// A warp's stores of smaller tiles are few, whatever their width.
constexpr std::int64_t least_elements = 64 * 64;

// Tiles that products add to, and what is computed from them element by element.
std::set<std::uint32_t> made_of_products(const Kernel& kernel) {
  std::set<std::uint32_t> made;
  const auto is_made = [&](Value value) { return made.contains(value.id); };
  ir::walk(kernel.body, [&](const Op& op) {
    if (op.kind == OpKind::Dot) made.insert(op.result().id);
  });
  for (std::size_t before = 0; before != made.size();) {
    before = made.size();
    ir::walk(kernel.body, [&](const Op& op) {
      if (op.facts().is(ir::Family::Control)) {
        for (const Region& region : op.regions)
          for (std::size_t k = 0; k < op.results.size() && !region.ops.empty(); ++k) {
            const auto& yielded = region.ops.back()->operands;
            const std::size_t from = yielded.size() - op.results.size();
            if (is_made(yielded[from + k])) made.insert(op.results[k].id);
          }
      } else if (op.facts().has(ir::Elementwise) && op.results.size() == 1 &&
                 std::any_of(op.operands.begin(), op.operands.end(), is_made)) {
        made.insert(op.result().id);
      }
    });
  }
  return made;
}

class StoreAligner {
 public:
  StoreAligner(Kernel& kernel, Region& region, const AxisAnalysis& axes)
      : kernel_(kernel), region_(region), axes_(axes), build_(kernel) {}

  // Whether the store has become two.
  bool run(Op& store) {
    affine_ = kernel_.maker(store.operands[0]);
    if (!is_unaligned(store)) return false;
    build_.set_location(store.location);
    const std::vector<Op*> chain = chain_of(store);
    Region made;
    {
      const ir::Builder::Into into(build_, made);
      Op* branch = build_.create(OpKind::If, {is_aligned()}, {});
      branch->regions.resize(2);
      for (const bool is_promised : {true, false}) {
        const ir::Builder::Into inside(build_, branch->regions[is_promised ? 0 : 1]);
        write(store, chain, is_promised);
        build_.yield({});
      }
    }
    auto& ops = region_.ops;
    const auto at = ops.erase(std::find(ops.begin(), ops.end(), &store));
    ops.insert(at, made.ops.begin(), made.ops.end());
    for (Op* op : chain) std::erase(ops, op);
    return true;
  }

 private:
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(size_of(kernel_.type(affine_->result()).dtype));
  }

  // Lines of 16 bytes and more of a large tile, of which the start or the distance is unknown.
  bool is_unaligned(const Op& store) const {
    if (affine_ == nullptr || affine_->kind != OpKind::Affine) return false;
    const Type& type = kernel_.type(store.operands[1]);
    if (type.rank != 2 || type.is_bool() || type.numel() < least_elements || bytes() >= line_bytes)
      return false;
    const bool has_lines = ir::integer_constant(kernel_, affine_->operands[2]) == 1 &&
                           type.size(1) * bytes() >= line_bytes;
    return has_lines && !ir::integer_constant(kernel_, stride()) && !(has_base() && has_stride());
  }
  Value stride() const { return affine_->operands[1]; }
  bool has_base() const { return axes_.is_multiple(affine_->operands[0], line_bytes); }
  bool has_stride() const { return axes_.is_multiple(stride(), line_bytes / bytes()); }

  Value is_aligned() {
    const Type wide = Type::scalar(i64);
    const Value address = build_.create_one(OpKind::Cast, {affine_->operands[0]}, wide);
    const Value line = build_.binary(OpKind::Multiply, stride(), build_.constant(wide, bytes()));
    const Value both = build_.binary(OpKind::Or, address, line);
    const Value rest =
        build_.binary(OpKind::And, both, build_.constant(wide, line_bytes - std::int64_t{1}));
    return build_.compare("eq", rest, build_.constant(wide, std::int64_t{0}));
  }

  // What is computed for the store alone, in order.
  std::vector<Op*> chain_of(const Op& store) const {
    std::vector<Op*> chain;
    for (Value value = store.operands[1];;) {
      Op* maker = kernel_.maker(value);
      if (!stands_in(region_, maker) || !maker->facts().has(ir::Elementwise) ||
          !maker->facts().has(ir::Pure) || maker->results.size() != 1 ||
          maker->operands.size() != 1 || uses_in(kernel_.body, value) != 1)
        return chain;
      chain.insert(chain.begin(), maker);
      value = maker->operands[0];
    }
  }

  void write(const Op& store, const std::vector<Op*>& chain, bool is_promised) {
    std::map<std::uint32_t, Value> copies;
    const auto copied = [&](Value value) {
      const auto found = copies.find(value.id);
      return found == copies.end() ? value : found->second;
    };
    for (const Op* op : chain) {
      Op* copy = build_.create(op->kind, {copied(op->operands[0])}, {kernel_.type(op->result())},
                               op->attributes);
      copy->location = op->location;
      kernel_.set_name(copy->result(), kernel_.name_of(op->result()));
      copies[op->result().id] = copy->result();
    }
    Value base = affine_->operands[0], line = stride();
    if (is_promised) {
      base = promised(base, line_bytes);
      line = promised(line, line_bytes / bytes());
    }
    const Value to =
        build_.affine(base, {line, affine_->operands[2]}, kernel_.type(affine_->result()));
    Op* op = build_.create(OpKind::Store, {to, copied(store.operands[1])}, {}, store.attributes);
    if (store.operands.size() > 2) op->operands.push_back(store.operands[2]);
  }

  Value promised(Value value, std::int64_t multiple) {
    return build_.create_one(OpKind::Hint, {value}, kernel_.type(value),
                             {{"divisible", std::vector<std::int64_t>{multiple}}});
  }

  Kernel& kernel_;
  Region& region_;
  const AxisAnalysis& axes_;
  ir::Builder build_;
  const Op* affine_ = nullptr;
};

// Where the last store of a region goes to: its base, none where that is no formula.
Value base_of_store(const Kernel& kernel, const Region& region) {
  Value base;
  for (const Op* op : region.ops) {
    const Op* affine = op->kind == OpKind::Store ? kernel.maker(op->operands[0]) : nullptr;
    if (affine != nullptr && affine->kind == OpKind::Affine) base = affine->operands[0];
  }
  return base;
}

// Whether it is a branch that this pass made: one side promises what the other side does not know.
bool is_done(const Kernel& kernel, const Op& op) {
  if (op.kind != OpKind::If) return false;
  const Value promised = base_of_store(kernel, op.regions[0]);
  const Op* hint = promised ? kernel.maker(promised) : nullptr;
  return hint != nullptr && hint->kind == OpKind::Hint &&
         hint->operands[0] == base_of_store(kernel, op.regions[1]);
}

void align_in(Kernel& kernel, Region& region, const AxisAnalysis& axes,
              const std::set<std::uint32_t>& made) {
  const std::vector<Op*> ops = region.ops;
  for (Op* op : ops) {
    if (is_done(kernel, *op)) continue;
    for (Region& inner : op->regions) align_in(kernel, inner, axes, made);
    if (op->kind == OpKind::Store && made.contains(op->operands[1].id))
      StoreAligner(kernel, region, axes).run(*op);
  }
}

}  // namespace

void align_stores(Kernel& kernel, const Target&) {
  if (kernel.stage != ir::Stage::Tile) return;
  const std::set<std::uint32_t> made = made_of_products(kernel);
  if (made.empty()) return;
  const AxisAnalysis axes(kernel);
  align_in(kernel, kernel.body, axes, made);
}

}  // namespace tilewright
