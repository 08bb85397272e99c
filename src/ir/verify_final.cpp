// SPDX-License-Identifier: Apache-2.0
// ir/verify_final.cpp — the rules of verify_final.h.
#include "ir/verify_final.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "ir/analysis/group_products.h"
#include "ir/analysis/meetings.h"
#include "ir/verify_types.h"

namespace tilewright::ir {
namespace {

// ---- Rules of the stage

class FinalRules {
 public:
  explicit FinalRules(const Kernel& kernel)
      : kernel_(kernel), is_seen_(kernel.value_count(), false) {}

  void check() {
    for (const KernelArgument& argument : kernel_.arguments) see(nullptr, argument.value);
    check(kernel_.body);
  }

 private:
  template <class... Arguments>
  void require(const Op* op, bool holds, fmt::format_string<Arguments...> rule,
               Arguments&&... arguments) const {
    if (!holds)
      fail_verification(kernel_, op, fmt::format(rule, std::forward<Arguments>(arguments)...));
  }

  void see(const Op* op, Value value) {
    is_seen_[value.id] = true;
    require(op, kernel_.type(value).is_scalar(), "rule F1: a value of stage final is no tile");
  }

  void check(const Region& region) {
    for (const Value argument : region.arguments) see(nullptr, argument);
    for (const Op* op : region.ops) {
      for (const Value operand : op->operands)
        require(op, is_seen_[operand.id],
                "rule F7: the region of for_programs sees its arguments alone");
      check_memory(*op);
      check_across(*op);
      check_cluster(*op);
      if (op->kind == OpKind::ForPrograms) {
        std::vector<bool> outside(is_seen_.size(), false);
        std::swap(outside, is_seen_);
        check(op->regions[0]);
        std::swap(outside, is_seen_);
      } else {
        for (const Region& inner : op->regions) check(inner);
      }
      for (const Value value : op->results) see(op, value);
    }
  }

  void check_memory(const Op& op) const {
    if (op.facts().is(Family::Access))
      require(&op, !kernel_.type(op.operands[0]).is_array(),
              "rule F1: elements of arrays are read and written by 'read' and 'write'");
    const bool has_place = op.facts().is(Family::Final) && op.kind != OpKind::Call &&
                           op.operands.size() > 1 && kernel_.type(op.operands[0]).is_array() &&
                           kernel_.type(op.operands[1]).is_int();
    if (!has_place) return;
    const Op* array = kernel_.maker(op.operands[0]);
    const Op* index = kernel_.maker(op.operands[1]);
    if (!array || array->kind != OpKind::Array || !index || index->kind != OpKind::Constant) return;
    require(&op, index->integer("value") >= 0 && index->integer("value") < array->integer("count"),
            "rule F2: the index is not below the array's count");
  }

  void check_across(const Op& op) const {
    if (!op.facts().is(Family::Across)) return;
    require(&op, op.kind == OpKind::Print, "rule F1: an op across elements is loops or a call");
    const auto is_index = [&](Value value) { return kernel_.type(value).is_int(); };
    require(&op, op.operands.size() < 2 || (op.operands.size() == 2 && is_index(op.operands[1])),
            "rule F1: an element is printed with its index or without one");
  }

  // Blocks write to each other's shared memory once all of them have begun, and meet in no other
  // way.
  void check_cluster(const Op& op) {
    if (op.kind == OpKind::Barrier)
      require(&op, kernel_.shape.cluster <= 1,
              "rule F4: threads of several blocks have no barrier");
    const LibraryFunction* function = called_function(op);
    if (!function) return;
    for (const LibraryEffect& effect : effects_of(*function)) {
      if (effect.kind == LibraryEffect::Kind::Barrier)
        require(&op, kernel_.shape.cluster <= 1,
                "rule F4: threads of several blocks have no barrier");
      if (effect.kind != LibraryEffect::Kind::Cluster) continue;
      require(&op, kernel_.shape.cluster > 1, "rule F4: the program has one block");
      require(&op, has_begun_ || function->kind == LibraryKind::ClusterWait,
              "rule F6: blocks meet once all of them have begun");
      has_begun_ = true;
    }
  }

  const Kernel& kernel_;
  std::vector<bool> is_seen_;
  bool has_begun_ = false;  // every block of the program
};

constexpr int many_uses = 2;

void count_uses_of(const Region& region, std::vector<bool>& is_here, std::vector<int>& uses) {
  for (const Op* op : region.ops) {
    for (const Value operand : op->operands)
      uses[operand.id] += is_here[operand.id] ? 1 : many_uses;
    for (const Region& inner : op->regions) {
      std::vector<bool> inside(is_here.size(), false);
      count_uses_of(inner, inside, uses);
    }
    for (const Value result : op->results) is_here[result.id] = true;
  }
}

}  // namespace

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

std::vector<int> uses_in_own_region(const Kernel& kernel) {
  std::vector<int> uses(kernel.value_count(), 0);
  std::vector<bool> is_here(kernel.value_count(), false);
  count_uses_of(kernel.body, is_here, uses);
  return uses;
}

void verify_final(const Kernel& kernel) {
  FinalRules(kernel).check();
  verify_names(kernel);
  if (const Op* op = find_divergent(kernel))
    fail_verification(kernel, op, "rule F4: not all threads come to where they meet");
  const std::vector<Unordered> found = find_unordered(kernel);
  for (const Unordered& pair : found)
    if (pair.is_under_way)
      fail_verification(kernel, pair.op ? pair.op : pair.before,
                        pair.op ? "rule F6: a copy to the same shared memory may be under way: it "
                                  "must be committed and waited for"
                                : "rule F6: the program may end while the copy is under way");
  if (!found.empty())
    fail_verification(kernel, found[0].op,
                      fmt::format("rule F5: another thread may not be done with the same shared "
                                  "memory ('{}' before it): a barrier must stand between",
                                  found[0].before->facts().name));
  if (const std::vector<Unordered> unshown = find_unshown(kernel); !unshown.empty())
    fail_verification(kernel, unshown[0].op,
                      "rule F6: a product reads what threads wrote and have not shown to products");
  if (const UndrainedProduct going_on = find_undrained(kernel); going_on.op != nullptr)
    fail_verification(kernel, going_on.op, fmt::format("rule F6: {}", going_on.what));
}

}  // namespace tilewright::ir
