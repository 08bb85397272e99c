// SPDX-License-Identifier: Apache-2.0
// passes/delay_products.cpp — the pair of products, and the loop with the second one a round later.
#include "passes/delay_products.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/choose_units.h"
#include "passes/edit_regions.h"
#include "passes/pipeline_loops/candidates.h"
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

// What a round has to be for its second product to move.
struct DelayedProduct {
  Op* first = nullptr;  // the product that its left operand is computed from
  Op* second = nullptr;
  std::vector<Op*> views;  // from the load to its right operand, in order
  Op* load = nullptr;
  std::size_t carried = 0;  // the number of the value that the loop carries its sum by
};

class ProductDelayer {
 public:
  ProductDelayer(Kernel& kernel, const PipelineLoopsOptions& options)
      : kernel_(kernel), options_(options), axes_(kernel), build_(kernel) {}

  void run(Region& region) {
    rewrite_ops(region, [&](Op& op, Region&, Region& behind) {
      for (Region& inner : op.regions) run(inner);
      if (op.kind != OpKind::For) return;
      if (const auto found = find(op)) delay(op, *found, behind);
    });
  }

 private:
  // ---- Which products

  std::optional<DelayedProduct> find(Op& loop) {
    const auto step = ir::integer_constant(kernel_, loop.operands[2]);
    const auto stages = static_cast<int>(loop.integer("stages", options_.num_stages));
    if (!step || *step <= 0 || std::min(stages + 1, options_.most_slots) < 3) return std::nullopt;
    const Region& body = loop.regions[0];
    std::vector<Op*> dots;
    int all = 0;
    ir::walk(body, [&](const Op& op) { all += op.kind == OpKind::Dot; });
    for (Op* op : body.ops)
      if (op->kind == OpKind::Dot && is_asynchronous(*op) && op->integer("pending", 0) == 0)
        dots.push_back(op);
    if (all != 2 || dots.size() != 2) return std::nullopt;
    DelayedProduct out{.first = dots[0], .second = dots[1]};
    if (!depends(out.second->operands[0], *out.first, body) ||
        depends(out.second->operands[1], *out.first, body))
      return std::nullopt;
    if (!ir::is_zero(kernel_, out.first->operands[2]) || !finds_sum(body, out) ||
        !finds_load(body, out))
      return std::nullopt;
    const LoadsAhead ahead = find_loads_ahead(kernel_, axes_, loop);
    if (std::find(ahead.loads.begin(), ahead.loads.end(), out.load) == ahead.loads.end())
      return std::nullopt;
    const Type& left = kernel_.type(out.second->operands[0]);
    const std::int64_t in_registers =
        left.numel() * static_cast<std::int64_t>(left.element_bytes());
    const std::int64_t room = options_.shared_bytes - (ahead.other_bytes - in_registers);
    if (options_.shared_bytes > 0 && room / ahead.stage_bytes < 3) return std::nullopt;
    return out;
  }

  // Whether the value is computed from the op's result in the same round.
  bool depends(Value value, const Op& op, const Region& body) const {
    std::set<const Op*> seen;
    std::vector<Value> work = {value};
    while (!work.empty()) {
      const Op* maker = kernel_.maker(work.back());
      work.pop_back();
      if (maker == &op) return true;
      if (stands_in(body, maker) && seen.insert(maker).second)
        work.insert(work.end(), maker->operands.begin(), maker->operands.end());
    }
    return false;
  }

  // The loop carries the sum, nobody else looks at it in that round, nor at that of the round
  // before until the first product.
  bool finds_sum(const Region& body, DelayedProduct& out) const {
    const std::vector<Value>& yielded = body.ops.back()->operands;
    const auto found = std::find(yielded.begin(), yielded.end(), out.second->result());
    if (found == yielded.end() || uses_in(body, out.second->result()) != 1) return false;
    out.carried = static_cast<std::size_t>(found - yielded.begin());
    const Value sum = body.arguments[out.carried + 1];
    const auto first = std::find(body.ops.begin(), body.ops.end(), out.first);
    return std::none_of(body.ops.begin(), first,
                        [&](const Op* op) { return reads_value(*op, sum); });
  }

  bool finds_load(const Region& body, DelayedProduct& out) const {
    Value value = out.second->operands[1];
    for (;;) {
      Op* maker = kernel_.maker(value);
      if (!stands_in(body, maker) || uses_in(body, value) != 1) return false;
      if (maker->kind == OpKind::Load) {
        out.load = maker;
        return kernel_.type(value).is_float();
      }
      if (maker->kind != OpKind::Permute && maker->kind != OpKind::Reshape) return false;
      out.views.insert(out.views.begin(), maker);
      value = maker->operands[0];
    }
  }

  // ---- The loop

  // The second product once more, of operands that were carried.
  Op* product(const DelayedProduct& from, Value left, Value right, Value sum) {
    for (const Op* view : from.views)
      right =
          build_.create_one(view->kind, {right}, kernel_.type(view->result()), view->attributes);
    Op* out = build_.create(OpKind::Dot, {left, right, sum}, {kernel_.type(from.second->result())},
                            from.second->attributes);
    kernel_.set_name(out->result(), kernel_.name_of(from.second->result()));
    return out;
  }

  void delay(Op& loop, const DelayedProduct& from, Region& behind) {
    Region& body = loop.regions[0];
    build_.set_location(from.second->location);
    const Value left = from.second->operands[0], right = from.load->result();
    Region zeros;
    Value no_left, no_right;
    {
      const Builder::Into into(build_, zeros);
      no_left = build_.constant(kernel_.type(left), -0.0);
      no_right = build_.constant(kernel_.type(right), 0.0);
    }
    before_[&loop] = zeros.ops;
    const Value left_before = carry(kernel_, loop, no_left, kernel_.name_of(left) + "_before");
    const Value right_before = carry(kernel_, loop, no_right, kernel_.name_of(right) + "_before");
    for (const Value next : {left, right}) body.ops.back()->operands.push_back(next);
    const Value sum = body.arguments[from.carried + 1];
    body.ops.back()->operands[from.carried] = from.second->operands[2];
    std::erase(body.ops, from.second);
    std::erase_if(body.ops, [&](const Op* op) {
      return std::find(from.views.begin(), from.views.end(), op) != from.views.end();
    });
    Region together;
    Op* delayed = nullptr;
    {
      const Builder::Into into(build_, together);
      delayed = product(from, left_before, right_before, sum);
    }
    // Whoever wanted the sum of the round before wants it with the product.
    replace_uses(body, sum, delayed->result());
    delayed->set("pending", std::int64_t{1});
    from.first->set("pending", std::int64_t{1});
    put_behind(body, *from.first, together);
    const Value partial = loop.results[from.carried];
    const Builder::Into into(build_, behind);
    const std::size_t count = loop.results.size();
    const Op* last = product(from, loop.results[count - 2], loop.results[count - 1], partial);
    replaced_[partial.id] = {last->result(), last};
  }

 public:
  // Constants before their loops, and the whole sums for who reads them behind.
  void finish(Region& region) {
    rewrite_ops(region, [&](Op& op, Region& before, Region&) {
      for (Region& inner : op.regions) finish(inner);
      if (const auto found = before_.find(&op); found != before_.end()) before.ops = found->second;
      for (Value& operand : op.operands)
        if (const auto found = replaced_.find(operand.id);
            found != replaced_.end() && found->second.second != &op)
          operand = found->second.first;
    });
  }

 private:
  Kernel& kernel_;
  const PipelineLoopsOptions& options_;
  const AxisAnalysis axes_;
  Builder build_;
  std::map<const Op*, std::vector<Op*>> before_;
  std::map<std::uint32_t, std::pair<Value, const Op*>>
      replaced_;  // sums without the last product, and that
};

}  // namespace

void delay_products(Kernel& kernel, const PipelineLoopsOptions& options) {
  if (kernel.stage != ir::Stage::Tile) return;
  ProductDelayer delayer(kernel, options);
  delayer.run(kernel.body);
  delayer.finish(kernel.body);
}

void delay_products(Kernel& kernel, const Target& target) {
  delay_products(kernel, PipelineLoopsOptions{.shared_bytes = target.shared_bytes_per_block_optin});
}

}  // namespace tilewright
