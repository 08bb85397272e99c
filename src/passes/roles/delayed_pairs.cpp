// SPDX-License-Identifier: Apache-2.0
// passes/roles/delayed_pairs.cpp — who reads sums and operands of a pair of products.
#include "passes/roles/delayed_pairs.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ir/constant.h"
#include "passes/edit_regions.h"
#include "passes/uses.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

class PairFinder {
 public:
  explicit PairFinder(const ir::Kernel& kernel) : kernel_(kernel) {}

  std::vector<DelayedPair> run(const RingLoops& found) const {
    std::vector<DelayedPair> out;
    const Op* before = nullptr;
    for (const RingLoop& loop : found.loops) {
      const auto pair = find(loop);
      if (!pair || !stands_in(kernel_.body, loop.loop)) return {};
      if (before && !goes_on(*before, out.back(), *loop.loop, *pair)) return {};
      before = loop.loop;
      out.push_back(*pair);
    }
    return out;
  }

 private:
  // The sum of a loop is what the next one begins with, and nobody else sees it.
  bool goes_on(const Op& before, const DelayedPair& pair_before, const Op& loop,
               const DelayedPair& pair) const {
    const Value sum = before.results[pair_before.carried];
    return loop.operands[3 + pair.carried] == sum && uses_in(kernel_.body, sum) == 1;
  }

  std::optional<DelayedPair> find(const RingLoop& loop) const {
    if (loop.dots.size() != 2) return std::nullopt;
    const Region& body = loop.loop->regions[0];
    DelayedPair out{.first = loop.dots[0], .second = loop.dots[1]};
    const std::vector<Value>& yielded = body.ops.back()->operands;
    const auto sum = std::find(yielded.begin(), yielded.end(), out.second->result());
    if (sum == yielded.end() || uses_in(body, out.second->result()) != 1) return std::nullopt;
    out.carried = static_cast<std::size_t>(sum - yielded.begin());
    for (out.load = 0; out.load < loop.loads.size(); ++out.load)
      if (reaches(out.second->operands[1], *loop.loads[out.load], body, true)) break;
    if (out.load == loop.loads.size() || loop.loads.size() != 2 ||
        reaches(out.first->operands[0], *loop.loads[out.load], body, true) ||
        reaches(out.first->operands[1], *loop.loads[out.load], body, true))
      return std::nullopt;
    const Value carried = body.arguments[out.carried + 1];
    const auto first = std::find(body.ops.begin(), body.ops.end(), out.first);
    const bool is_read_early = std::any_of(body.ops.begin(), first + 1,
                                           [&](const Op* op) { return reads_value(*op, carried); });
    // Nothing of the round is computed before the first product: both start together, in this
    // order.
    const Op* left = kernel_.maker(out.first->operands[0]);
    const bool starts_at_once =
        (left ? !stands_in(body, left)
              : std::find(body.arguments.begin(), body.arguments.end(), out.first->operands[0]) ==
                    body.arguments.end()) &&
        ir::is_zero(kernel_, out.first->operands[2]);
    const bool is_pair = starts_at_once &&
                         reaches(out.second->operands[0], *out.first, body, false) &&
                         kernel_.type(out.second->operands[0]).is_float();
    if (!is_pair || is_read_early) return std::nullopt;
    return out;
  }

  // Whether the value is computed from the op in the same round; by views alone, or by anything.
  bool reaches(Value value, const Op& op, const Region& body, bool by_views) const {
    std::set<const Op*> seen;
    std::vector<Value> work = {value};
    while (!work.empty()) {
      const Op* maker = kernel_.maker(work.back());
      work.pop_back();
      if (maker == &op) return true;
      const bool is_view =
          maker && (maker->kind == OpKind::Permute || maker->kind == OpKind::Reshape);
      if (stands_in(body, maker) && (is_view || !by_views) && seen.insert(maker).second)
        work.insert(work.end(), maker->operands.begin(), maker->operands.end());
    }
    return false;
  }

  const ir::Kernel& kernel_;
};

}  // namespace

std::vector<DelayedPair> find_delayed_pairs(const ir::Kernel& kernel, const RingLoops& found) {
  return PairFinder(kernel).run(found);
}

}  // namespace tilewright
