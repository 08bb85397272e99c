// SPDX-License-Identifier: Apache-2.0
// passes/axis_info/promises.cpp — each `assume` beside what it is about.
#include "passes/axis_info/promises.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "ir/analysis/meetings.h"
#include "ir/constant.h"
#include "ir/roles.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

class Reader {
 public:
  // `inside`: null, or what is asked for.
  Reader(const Kernel& kernel, const Op* inside)
      : kernel_(kernel), made_in_(kernel.value_count()) {
    if (inside != nullptr) find_around(kernel.body, *inside);
    for (const ir::KernelArgument& argument : kernel.arguments)
      made_in_[argument.value.id] = &kernel.body;
    read(kernel.body, &kernel.body);
  }

  std::map<std::uint32_t, std::int64_t> bounds() { return std::move(bounds_); }

 private:
  bool find_around(const Region& region, const Op& inside) {
    const bool is_around = std::any_of(region.ops.begin(), region.ops.end(), [&](const Op* op) {
      return op == &inside || std::any_of(op->regions.begin(), op->regions.end(), [&](auto& inner) {
               return find_around(inner, inside);
             });
    });
    if (is_around) around_.insert(&region);
    return is_around;
  }

  // `whole`: the outermost region that is run whenever this one is.
  void read(const Region& region, const Region* whole) {
    for (const Value value : region.arguments) made_in_[value.id] = whole;
    for (const Op* op : region.ops) {
      for (const Value value : op->results) made_in_[value.id] = whole;
      const bool is_run = ir::is_over_programs(kernel_, *op) || ir::parts_roles(kernel_, *op);
      for (const Region& inner : op->regions) read(inner, is_run ? whole : &inner);
      const Op* test = op->kind == OpKind::Assume ? kernel_.maker(op->operands[0]) : nullptr;
      if (test && test->kind == OpKind::Compare) note(*test, region, whole);
    }
  }

  void note(const Op& test, const Region& region, const Region* whole) {
    const std::string_view is = test.text("is");
    const bool is_greater = is == "gt" || is == "ge", is_less = is == "lt" || is == "le";
    if (!is_greater && !is_less) return;
    const Value value = test.operands[is_greater ? 0 : 1];
    const auto bound = ir::integer_constant(kernel_, test.operands[is_greater ? 1 : 0]);
    if (!bound || *bound == INT64_MAX) return;
    if (made_in_[value.id] != whole && !around_.contains(&region)) return;
    const std::int64_t least = *bound + (is == "gt" || is == "lt");
    const auto [known, is_new] = bounds_.emplace(value.id, least);
    if (!is_new) known->second = std::max(known->second, least);
  }

  const Kernel& kernel_;
  std::vector<const Region*> made_in_;
  std::set<const Region*> around_;
  std::map<std::uint32_t, std::int64_t> bounds_;
};

}  // namespace

std::map<std::uint32_t, std::int64_t> promised_bounds(const Kernel& kernel) {
  return Reader(kernel, nullptr).bounds();
}

std::map<std::uint32_t, std::int64_t> promised_bounds(const Kernel& kernel, const Op& op) {
  return Reader(kernel, &op).bounds();
}

}  // namespace tilewright
