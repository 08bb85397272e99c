// SPDX-License-Identifier: Apache-2.0
// passes/roles/delay_pairs.cpp — products moved, left operands carried, tiles awaited and released.
#include "passes/roles/delay_pairs.h"

#include <algorithm>

#include "ir/builder.h"
#include "passes/uses.h"

namespace tilewright {
namespace {

using ir::Builder;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

class PairDelayer {
 public:
  PairDelayer(ir::Kernel& kernel, const DelayedLoops& loops)
      : kernel_(kernel), loops_(loops), build_(kernel) {}

  void run(Region& region) {
    const Op& last = *loops_.found.loops.back().loop;
    const Value end = last.results.back();  // the position behind all rounds
    Region start, behind;
    Value left;
    {
      const Builder::Into into(build_, start);
      left = build_.constant(kernel_.type(loops_.pairs[0].second->operands[0]), -0.0);
    }
    for (std::size_t i = 0; i < loops_.pairs.size(); ++i) left = delay(i, left);
    const Value sum = last.results[loops_.pairs.back().carried];
    const Value whole = finish(behind, end, left, sum);
    for (auto at = std::find(region.ops.begin(), region.ops.end(), &last) + 1;
         at != region.ops.end(); ++at)
      replace(**at, sum, whole);
    region.ops.insert(std::find(region.ops.begin(), region.ops.end(), &last) + 1,
                      behind.ops.begin(), behind.ops.end());
    region.ops.insert(region.ops.begin(), start.ops.begin(), start.ops.end());
  }

 private:
  // The left operand behind the loop, whose product is still to be made.
  Value delay(std::size_t i, Value left) {
    const RingLoop& from = loops_.found.loops[i];
    const DelayedPair& pair = loops_.pairs[i];
    Op& loop = *from.loop;
    Region& body = loop.regions[0];
    const Value position = loops_.positions.at(&loop);
    const Value sum = body.arguments[pair.carried + 1];
    std::vector<Op*> reads;
    for (Op* load : from.loads) take_chain(body, *load, reads);
    std::erase(body.ops, pair.second);
    Region top, together;
    build_.set_location(pair.second->location);
    const Value before = carry(loop, left, pair.second->operands[0]);
    body.ops.back()->operands[pair.carried] = pair.second->operands[2];
    {
      const Builder::Into into(build_, top);
      for (const std::string& ring : loops_.rings) use(OpKind::Await, ring, {position});
    }
    top.ops.insert(top.ops.end(), reads.begin(), reads.end());
    Op* product = kernel_.make_op(OpKind::Dot, {before, pair.second->operands[1], sum},
                                  {kernel_.type(sum)}, pair.second->location);
    product->attributes = pair.second->attributes;
    kernel_.set_name(product->result(), kernel_.name_of(pair.second->result()));
    for (Op* op : body.ops) replace(*op, sum, product->result());
    for (Op* dot : {pair.first, product}) dot->set("pending", std::int64_t{1});
    together.ops.push_back(product);
    {
      const Builder::Into into(build_, together);
      use(OpKind::Release, loops_.rings[1 - pair.load], {position});
    }
    const auto at = std::find(body.ops.begin(), body.ops.end(), pair.first);
    const auto next = body.ops.insert(at, top.ops.begin(), top.ops.end()) +
                      static_cast<std::ptrdiff_t>(top.ops.size()) + 1;
    body.ops.insert(next, together.ops.begin(), together.ops.end());
    release_behind(body, *product, pair, position);
    return loop.results.back();
  }

  // Before the first one that looks at the sum, or at the end of the round: it waits for the
  // product.
  void release_behind(Region& body, const Op& product, const DelayedPair& pair, Value position) {
    Region behind;
    {
      const Builder::Into into(build_, behind);
      use(OpKind::Release, loops_.rings[pair.load], {position});
    }
    const auto looks = [&](const Op* op) { return reads_value(*op, product.result()); };
    body.ops.insert(std::find_if(body.ops.begin(), body.ops.end() - 1, looks), behind.ops.front());
  }

  // The product of the last round.
  Value finish(Region& behind, Value end, Value left, Value sum) {
    const DelayedPair& pair = loops_.pairs.back();
    const Builder::Into into(build_, behind);
    use(OpKind::Await, loops_.rings[pair.load], {end});
    const Op& read = *loops_.found.loops.back().loads[pair.load];
    Value right =
        build_.create_one(OpKind::ReadBuffer, {end}, kernel_.type(read.result()), read.attributes);
    for (const Op* view : views_of(pair))
      right =
          build_.create_one(view->kind, {right}, kernel_.type(view->result()), view->attributes);
    const Value whole = build_.create_one(OpKind::Dot, {left, right, sum}, kernel_.type(sum), [&] {
      std::vector<ir::Attribute> attributes = pair.second->attributes;
      std::erase_if(attributes, [](const ir::Attribute& a) { return a.name == "pending"; });
      return attributes;
    }());
    kernel_.set_name(whole, kernel_.name_of(pair.second->result()));
    use(OpKind::Release, loops_.rings[pair.load], {end});
    return whole;
  }

  // From the tile to the right operand.
  std::vector<const Op*> views_of(const DelayedPair& pair) const {
    std::vector<const Op*> views;
    for (const Op* op = kernel_.maker(pair.second->operands[1]); op->kind != OpKind::ReadBuffer;
         op = kernel_.maker(op->operands[0]))
      views.insert(views.begin(), op);
    return views;
  }

  void use(OpKind kind, const std::string& ring, std::vector<Value> operands) {
    build_.create(kind, std::move(operands), {}, {{"ring", ring}});
  }

  // The read and its views, out of the body.
  void take_chain(Region& body, Op& read, std::vector<Op*>& to) const {
    std::vector<Op*> chain = {&read};
    for (Op* op : body.ops) {
      const bool is_view = op->kind == OpKind::Permute || op->kind == OpKind::Reshape;
      if (is_view &&
          std::find(chain.begin(), chain.end(), kernel_.maker(op->operands[0])) != chain.end())
        chain.push_back(op);
    }
    std::erase_if(body.ops,
                  [&](Op* op) { return std::find(chain.begin(), chain.end(), op) != chain.end(); });
    to.insert(to.end(), chain.begin(), chain.end());
  }

  Value carry(Op& loop, Value initial, Value next) {
    const Type type = kernel_.type(initial);
    const Value inside = kernel_.make_value(type, kernel_.name_of(next) + "_before", nullptr);
    loop.operands.push_back(initial);
    loop.regions[0].arguments.push_back(inside);
    loop.regions[0].ops.back()->operands.push_back(next);
    loop.results.push_back(kernel_.make_value(type, "", &loop));
    return inside;
  }

  static void replace(Op& op, Value from, Value to) {
    std::replace(op.operands.begin(), op.operands.end(), from, to);
    for (Region& region : op.regions)
      for (Op* inner : region.ops) replace(*inner, from, to);
  }

  ir::Kernel& kernel_;
  const DelayedLoops& loops_;
  Builder build_;
};

}  // namespace

void delay_pairs(ir::Kernel& kernel, Region& region, const DelayedLoops& loops) {
  PairDelayer(kernel, loops).run(region);
}

}  // namespace tilewright
