// SPDX-License-Identifier: Apache-2.0
// passes/roles/delay_pairs.cpp — products moved, left operands carried, tiles awaited and released.
#include "passes/roles/delay_pairs.h"

#include <algorithm>

#include "ir/builder.h"
#include "passes/edit_regions.h"
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
      replace_uses(**at, sum, whole);
    put_behind(region, last, behind);
    put_first(region, start);
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
    const Value next = pair.second->operands[0];
    const Value before = carry(kernel_, loop, left, kernel_.name_of(next) + "_before");
    body.ops.back()->operands.push_back(next);
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
    replace_uses(body, sum, product->result());
    for (Op* dot : {pair.first, product}) dot->set("pending", std::int64_t{1});
    together.ops.push_back(product);
    {
      const Builder::Into into(build_, together);
      use(OpKind::Release, loops_.rings[1 - pair.load], {position});
    }
    put_before(body, *pair.first, top);
    put_behind(body, *pair.first, together);
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

  ir::Kernel& kernel_;
  const DelayedLoops& loops_;
  Builder build_;
};

}  // namespace

void delay_pairs(ir::Kernel& kernel, Region& region, const DelayedLoops& loops) {
  PairDelayer(kernel, loops).run(region);
}

}  // namespace tilewright
