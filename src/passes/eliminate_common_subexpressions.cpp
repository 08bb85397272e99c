// SPDX-License-Identifier: Apache-2.0
// passes/eliminate_common_subexpressions.cpp — a table of ops seen, scoped by region.
#include "passes/eliminate_common_subexpressions.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "ir/rewrite.h"

namespace tilewright {
namespace {

using ir::Attribute;
using ir::Kernel;
using ir::Op;
using ir::Region;
using ir::Value;

// What makes two ops equal: kind, operands, attributes, result types.
class Equality {
 public:
  explicit Equality(const Kernel& kernel) : kernel_(kernel) {}

  // Of the hash: attributes tell apart few of the ops with the same operands, but for constants.
  std::size_t operator()(const Op* op) const {
    std::size_t hash = static_cast<std::size_t>(op->kind);
    const auto mix = [&](std::size_t part) { hash = (hash ^ part) * 0x9e3779b97f4a7c15u; };
    for (const Value operand : op->operands) mix(operand.id);
    for (const Attribute& attribute : op->attributes) {
      if (const auto* integer = std::get_if<std::int64_t>(&attribute.value))
        mix(static_cast<std::size_t>(*integer));
      else if (const auto* text = std::get_if<std::string>(&attribute.value))
        mix(std::hash<std::string>()(*text));
    }
    return hash ^ hash >> 32;
  }

  bool operator()(const Op* a, const Op* b) const {
    return a->kind == b->kind && a->operands == b->operands &&
           std::equal(a->attributes.begin(), a->attributes.end(), b->attributes.begin(),
                      b->attributes.end(), is_same) &&
           std::equal(a->results.begin(), a->results.end(), b->results.begin(), b->results.end(),
                      [&](Value x, Value y) { return kernel_.type(x) == kernel_.type(y); });
  }

 private:
  static bool is_same(const Attribute& a, const Attribute& b) {
    const auto* x = std::get_if<double>(&a.value);
    const auto* y = std::get_if<double>(&b.value);
    if (a.name != b.name || !x || !y) return a == b;
    return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);  // -0 is not 0
  }

  const Kernel& kernel_;
};

class Merger {
 public:
  explicit Merger(const Kernel& kernel)
      : substitution_(kernel.value_count()), seen_(64, Equality(kernel), Equality(kernel)) {}

  void run(Region& region) {
    std::vector<const Op*> added;
    std::erase_if(region.ops, [&](Op* op) {
      substitution_.apply(op->operands);
      if (op->facts().has(ir::Pure) && op->regions.empty()) {
        const auto [found, is_new] = seen_.insert(op);
        for (std::size_t i = 0; !is_new && i < op->results.size(); ++i)
          substitution_.add(op->results[i], (*found)->results[i]);
        if (!is_new) return true;
        added.push_back(op);
      }
      for (Region& inner : op->regions) run(inner);
      return false;
    });
    for (const Op* op : added) seen_.erase(op);  // not visible after the region
  }

 private:
  ir::Substitution substitution_;
  std::unordered_set<const Op*, Equality, Equality> seen_;
};

}  // namespace

void eliminate_common_subexpressions(Kernel& kernel, const Target&) {
  Merger(kernel).run(kernel.body);
}

}  // namespace tilewright
