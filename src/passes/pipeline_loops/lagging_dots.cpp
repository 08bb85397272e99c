// SPDX-License-Identifier: Apache-2.0
// passes/pipeline_loops/lagging_dots.cpp — who reads a loop's sums.
#include "passes/pipeline_loops/lagging_dots.h"

#include <algorithm>
#include <set>

#include "passes/choose_units.h"
#include "passes/start_dots.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

class LaggingDots {
 public:
  LaggingDots(const ir::Kernel& kernel, const Op& loop, const std::vector<Op*>& loads)
      : kernel_(kernel), body_(loop.regions[0]), loads_(loads.begin(), loads.end()) {
    ir::walk(body_, [&](const Op& op) { inside_.insert(&op); });
  }

  std::vector<Op*> run() const {
    std::vector<Op*> out;
    int dots = 0;
    ir::walk(body_, [&](const Op& op) { dots += op.kind == OpKind::Dot; });
    for (Op* op : body_.ops)
      if (op->kind == OpKind::Dot && is_asynchronous(*op) && only_adds_up(body_, *op) &&
          is_there(op->operands[0]) && is_there(op->operands[1]))
        out.push_back(op);
    return static_cast<int>(out.size()) == dots ? out : std::vector<Op*>{};
  }

 private:
  bool is_there(Value value) const {
    const Op* maker = kernel_.maker(value);
    while (maker && inside_.contains(maker) &&
           (maker->kind == OpKind::Permute || maker->kind == OpKind::Reshape)) {
      value = maker->operands[0];
      maker = kernel_.maker(value);
    }
    if (maker) return !inside_.contains(maker) || loads_.contains(maker);
    return std::find(body_.arguments.begin(), body_.arguments.end(), value) ==
           body_.arguments.end();
  }

  const ir::Kernel& kernel_;
  const ir::Region& body_;
  const std::set<const Op*> loads_;
  std::set<const Op*> inside_;
};

}  // namespace

std::vector<Op*> find_lagging_dots(const ir::Kernel& kernel, const Op& loop,
                                   const std::vector<Op*>& loads) {
  return LaggingDots(kernel, loop, loads).run();
}

}  // namespace tilewright
