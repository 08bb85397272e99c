// SPDX-License-Identifier: Apache-2.0
// codegen/lower/combine_facts.cpp — what a region that combines two elements does.
#include "codegen/lower/combine_facts.h"

#include <algorithm>
#include <utility>

namespace tilewright {

using ir::OpKind;

// The op of a region that only applies it to its two arguments, in this order; else null.
const ir::Op* only_op(const ir::Region& region) {
  if (region.ops.size() != 2 || region.arguments.size() != 2) return nullptr;
  const ir::Op* op = region.ops[0];
  const bool is_plain = op->operands.size() == 2 && op->operands[0] == region.arguments[0] &&
                        op->operands[1] == region.arguments[1] &&
                        region.ops[1]->operands[0] == op->result();
  return is_plain ? op : nullptr;
}

// Whether a region gives the same for (b, a) as for (a, b): each result is a commutative op of the
// two values that it replaces.
bool is_symmetric(const ir::Region& region) {
  const std::size_t count = region.arguments.size() / 2;
  const std::vector<ir::Value>& results = region.ops.back()->operands;
  for (std::size_t i = 0; i < count; ++i) {
    const ir::Value a = region.arguments[i], b = region.arguments[count + i];
    const auto is_own = [&](const ir::Op* op) {
      return !op->results.empty() && op->result() == results[i] &&
             op->facts().has(ir::Commutative) &&
             ((op->operands[0] == a && op->operands[1] == b) ||
              (op->operands[0] == b && op->operands[1] == a));
    };
    if (std::none_of(region.ops.begin(), region.ops.end(), is_own)) return false;
  }
  return true;
}

// What the total of a reduction without a name is called.
std::string_view total_name(const ir::Op* single) {
  constexpr std::pair<OpKind, std::string_view> names[] = {{OpKind::Add, "sum"},
                                                           {OpKind::Maximum, "maximum"},
                                                           {OpKind::Minimum, "minimum"},
                                                           {OpKind::Multiply, "product"}};
  for (const auto& [kind, name] : names)
    if (single && single->kind == kind) return name;
  return "total";
}

}  // namespace tilewright
