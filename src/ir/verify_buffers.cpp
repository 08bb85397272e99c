// SPDX-License-Identifier: Apache-2.0
// ir/verify_buffers.cpp — rules L2 and L3 of verify_laid.h: which tiles live in which buffer.
#include "ir/verify_laid.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/verify_types.h"

namespace tilewright::ir {
namespace {

class BufferRules {
 public:
  explicit BufferRules(const Kernel& kernel) : kernel_(kernel), users_(kernel.value_count()) {
    walk(kernel.body, [&](const Op& op) {
      for (const Value operand : op.operands) users_[operand.id].push_back(&op);
    });
  }

  void check(const Region& region) const {
    for (std::size_t i = 0; i < region.ops.size(); ++i) {
      const Op& op = *region.ops[i];
      if (op.facts().has(Combines) && op.kind != OpKind::Scan) continue;
      if (op.kind == OpKind::Sweep) {
        check_sweep(op);
        check_on_demand(op, region, i);
      } else if (op.facts().is(Family::Control) || op.facts().is(Family::Across)) {
        check_outside(op);
        if (!op.facts().has(Combines))
          for (const Region& inner : op.regions) check(inner);
      }
    }
  }

 private:
  [[noreturn]] void fail(const Op& op, const std::string& rule) const {
    fail_verification(kernel_, &op, rule);
  }

  const KernelBuffer& buffer_named(const Op& op, const std::string& name) const {
    for (const KernelBuffer& buffer : kernel_.buffers)
      if (buffer.name == name) {
        if (buffer.has_slots())
          fail(op, fmt::format("rule L2: buffer '{}' has slots, which copies fill", name));
        if (buffer.is_scratch())
          fail(op, fmt::format("rule L7: buffer '{}' is scratch, and no place for tiles", name));
        return buffer;
      }
    fail(op, fmt::format("rule L2: there is no buffer '{}'", name));
  }

  void check_place(const Op& op, Value value, const std::string& name) const {
    const Type& type = kernel_.type(value);
    if (name.empty()) return;
    if (!type.is_tile()) fail(op, "rule L2: a scalar has no buffer");
    const Type& held = buffer_named(op, name).type;
    if (held != type)
      fail(op, fmt::format("rule L2: buffer '{}' holds {}, not {}", name, held.to_string(),
                           type.to_string()));
  }

  static std::vector<Value> values_placed_by(const Op& op) {
    std::vector<Value> values = op.results;
    if (op.kind == OpKind::For)
      values.assign(op.regions[0].arguments.begin() + 1, op.regions[0].arguments.end());
    if (op.kind == OpKind::While) {
      values = op.regions[0].arguments;
      values.insert(values.end(), op.regions[1].arguments.begin(), op.regions[1].arguments.end());
    }
    return values;
  }

  std::vector<std::string> buffers_of(const Op& op, const std::vector<Value>& values) const {
    std::vector<std::string> into = op.texts("into");
    if (into.empty()) into.resize(values.size());
    if (into.size() != values.size())
      fail(op,
           fmt::format("rule L2: `into` has {} buffers for {} values", into.size(), values.size()));
    for (std::size_t k = 0; k < values.size(); ++k) check_place(op, values[k], into[k]);
    return into;
  }

  void check_outside(const Op& op) const {
    if (op.kind == OpKind::ReadBuffer || op.kind == OpKind::Print) return;
    const std::vector<Value> values = values_placed_by(op);
    const std::vector<std::string> into = buffers_of(op, values);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (kernel_.type(values[k]).is_tile() && into[k].empty())
        fail(op, "rule L3: a tile that no sweep makes has a buffer");
  }

  void check_numbers(const Op& op, std::string_view name, std::size_t count) const {
    for (const std::int64_t number : op.integers(name))
      if (number < 0 || number >= static_cast<std::int64_t>(count))
        fail(op, fmt::format("rule L2: `{}` holds {}, which is none of {}", name, number, count));
  }

  void check_sweep(const Op& sweep) const {
    const std::vector<Op*>& ops = sweep.regions[0].ops;
    const std::vector<std::string> into = buffers_of(sweep, sweep.results);
    std::unordered_set<std::uint32_t> made;
    for (const Op* op : ops)
      for (const Value result : op->results) made.insert(result.id);
    for (const Value value : ops.back()->operands)
      if (!made.contains(value.id)) fail(sweep, "rule L2: a sweep yields what it computes");
    check_numbers(sweep, "apart", sweep.results.size());
    for (const std::int64_t k : sweep.integers("apart"))
      if (into[static_cast<std::size_t>(k)].empty())
        fail(sweep, "rule L2: what is read apart has a buffer");
    check_numbers(sweep, "repeats", ops.size() - 1);
    for (const std::int64_t i : sweep.integers("repeats")) {
      const Op& op = *ops[static_cast<std::size_t>(i)];
      if (!op.facts().has(Pure) && op.kind != OpKind::Load)
        fail(op, "rule L2: it cannot be done again");
    }
  }

  // Tiles without a buffer are computed by the one op that reads them, where it does.
  void check_on_demand(const Op& sweep, const Region& region, std::size_t at) const {
    const std::vector<std::string> into = buffers_of(sweep, sweep.results);
    const auto is_homeless = [&](std::size_t k) {
      return kernel_.type(sweep.results[k]).is_tile() && into[k].empty();
    };
    bool any = false;
    bool all = true;
    for (std::size_t k = 0; k < sweep.results.size(); ++k) {
      any |= is_homeless(k);
      all &= is_homeless(k);
    }
    if (!any) return;
    std::size_t next = at + 1;  // behind other sweeps of this kind, and views
    const auto is_passed = [](const Op& op) {
      return op.kind == OpKind::Sweep || op.facts().is(Family::View) ||
             op.facts().is(Family::Source);
    };
    while (next < region.ops.size() && is_passed(*region.ops[next])) ++next;
    const Op* reader = next < region.ops.size() ? region.ops[next] : nullptr;
    const auto is_reader = [&](const Op* user) { return user == reader; };
    for (const Value result : sweep.results)
      all &= std::all_of(users_[result.id].begin(), users_[result.id].end(), is_reader);
    for (const Op* op : sweep.regions[0].ops)
      all &= op->facts().has(Pure) || op->kind == OpKind::Load || op->facts().is(Family::Ends);
    if (!all)
      fail(sweep,
           "rule L2: a tile that is read later than by the next op has a buffer, and one "
           "without is all that its sweep is for");
  }

  const Kernel& kernel_;
  std::vector<std::vector<const Op*>> users_;
};

}  // namespace

void verify_buffers(const Kernel& kernel) { BufferRules(kernel).check(kernel.body); }

}  // namespace tilewright::ir
