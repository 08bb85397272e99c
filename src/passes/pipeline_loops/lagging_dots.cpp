// SPDX-License-Identifier: Apache-2.0
// passes/pipeline_loops/lagging_dots.cpp — who reads a loop's sums.
#include "passes/pipeline_loops/lagging_dots.h"

#include <algorithm>
#include <map>
#include <set>

#include "passes/choose_units.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

class LaggingDots {
 public:
  LaggingDots(const ir::Kernel& kernel, const Op& loop, const std::vector<Op*>& loads)
      : kernel_(kernel), body_(loop.regions[0]), loads_(loads.begin(), loads.end()) {
    ir::walk(body_, [&](const Op& op) {
      inside_.insert(&op);
      for (const Value operand : op.operands) ++uses_[operand.id];
    });
  }

  std::vector<Op*> run() const {
    std::vector<Op*> out;
    int dots = 0;
    ir::walk(body_, [&](const Op& op) { dots += op.kind == OpKind::Dot; });
    for (Op* op : body_.ops)
      if (op->kind == OpKind::Dot && is_asynchronous(*op) && only_adds(*op) && is_there(op->operands[0]) &&
          is_there(op->operands[1]))
        out.push_back(op);
    return static_cast<int>(out.size()) == dots ? out : std::vector<Op*>{};
  }

 private:
  bool only_adds(const Op& dot) const {
    const std::vector<Value>& carried = body_.arguments;
    const std::vector<Value>& yielded = body_.ops.back()->operands;
    const auto found = std::find(carried.begin() + 1, carried.end(), dot.operands[2]);
    if (found == carried.end()) return false;
    const auto number = static_cast<std::size_t>(found - carried.begin()) - 1;
    return uses_.at(dot.operands[2].id) == 1 && yielded[number] == dot.result() && uses_.at(dot.result().id) == 1;
  }

  bool is_there(Value value) const {
    const Op* maker = kernel_.maker(value);
    while (maker && inside_.contains(maker) && (maker->kind == OpKind::Permute || maker->kind == OpKind::Reshape)) {
      value = maker->operands[0];
      maker = kernel_.maker(value);
    }
    if (maker) return !inside_.contains(maker) || loads_.contains(maker);
    return std::find(body_.arguments.begin(), body_.arguments.end(), value) == body_.arguments.end();
  }

  const ir::Kernel& kernel_;
  const ir::Region& body_;
  const std::set<const Op*> loads_;
  std::set<const Op*> inside_;
  std::map<std::uint32_t, int> uses_;
};

}  // namespace

std::vector<Op*> find_lagging_dots(const ir::Kernel& kernel, const Op& loop, const std::vector<Op*>& loads) {
  return LaggingDots(kernel, loop, loads).run();
}

}  // namespace tilewright
