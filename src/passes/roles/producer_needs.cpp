// SPDX-License-Identifier: Apache-2.0
// passes/roles/producer_needs.cpp — backward from coordinates and bounds, through what loops carry.
#include "passes/roles/producer_needs.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "ir/analysis/memory_order.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

class NeedsFinder {
 public:
  explicit NeedsFinder(const ir::Kernel& kernel) : kernel_(kernel), order_(kernel) {
    ir::walk(kernel.body, [&](const Op& op) {
      if (op.facts().has(ir::Writes)) writes_.push_back(&op);
      if (op.kind != OpKind::For) return;
      const std::vector<Value>& arguments = op.regions[0].arguments;
      for (std::size_t k = 0; k < arguments.size(); ++k) carried_[arguments[k].id] = {&op, k};
    });
  }

  std::string run(const RingLoops& found) {
    for (const RingLoop& loop : found.loops) {
      for (const LoadMap& map : loop.maps)
        for (const Polynomial& coordinate : map.coordinates)
          for (const auto& [factors, count] : coordinate.terms())
            for (const std::uint32_t id : factors) open_.push_back({id});
      need_rounds_around(kernel_.body, *loop.loop);
    }
    while (!open_.empty()) {
      const Value value = open_.back();
      open_.pop_back();
      if (!seen_.insert(value.id).second) continue;
      if (std::string problem = need(value); !problem.empty()) return problem;
    }
    return "";
  }

 private:
  struct Carried {
    const Op* loop;
    std::size_t argument;
  };

  // Of the loop and of all around it; whether the region holds it.
  bool need_rounds_around(const Region& region, const Op& loop) {
    for (const Op* op : region.ops) {
      bool holds = op == &loop;
      for (const Region& inner : op->regions) holds = holds || need_rounds_around(inner, loop);
      if (!holds) continue;
      need_rounds(*op);
      return true;
    }
    return false;
  }
  void need_rounds(const Op& loop) {
    open_.insert(open_.end(), loop.operands.begin(), loop.operands.begin() + 3);
  }
  void need_carried(const Op& loop, std::size_t number) {
    need_rounds(loop);
    open_.push_back(loop.operands[number + 3]);
    open_.push_back(loop.regions[0].ops.back()->operands[number]);
  }

  std::string need(Value value) {
    const Op* op = kernel_.maker(value);
    if (op == nullptr) {
      const auto found = carried_.find(value.id);
      if (found == carried_.end()) return "";
      const auto& [loop, argument] = found->second;
      if (argument == 0) need_rounds(*loop);
      else need_carried(*loop, argument - 1);
      return "";
    }
    if (op->kind == OpKind::For) {
      for (std::size_t k = 0; k < op->results.size(); ++k)
        if (op->results[k] == value) need_carried(*op, k);
      return "";
    }
    open_.insert(open_.end(), op->operands.begin(), op->operands.end());
    return problem_of(*op);
  }

  std::string problem_of(const Op& op) const {
    if (op.kind == OpKind::Dot)
      return fmt::format("what it copies depends on the product in line {}", op.location.line);
    for (const Op* write : writes_)
      if (order_.must_order(op, *write))
        return fmt::format(
            "what it copies depends on the load in line {}, whose memory line {} stores to",
            op.location.line, write->location.line);
    return "";
  }

  const ir::Kernel& kernel_;
  const ir::MemoryOrder order_;
  std::vector<const Op*> writes_;
  std::unordered_map<std::uint32_t, Carried> carried_;  // by loops
  std::vector<Value> open_;
  std::unordered_set<std::uint32_t> seen_;
};

}  // namespace

std::string problem_of_producer(const ir::Kernel& kernel, const RingLoops& found) {
  return NeedsFinder(kernel).run(found);
}

}  // namespace tilewright
