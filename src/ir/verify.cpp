// SPDX-License-Identifier: Apache-2.0
// ir/verify.cpp — structure (arity, attributes, scope); ir/verify_types.cpp has the type rules.
#include "ir/verify.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/map_dimensions.h"
#include "ir/verify_final.h"
#include "ir/verify_laid.h"
#include "ir/verify_types.h"

namespace tilewright::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), is_defined_(kernel.value_count(), false) {}

  void run() {
    for (const KernelArgument& argument : kernel_.arguments) define(nullptr, argument.value);
    check_buffers();
    check_tables();
    check_region(kernel_.body, nullptr);
    if (kernel_.stage == Stage::Laid) verify_laid(kernel_);
    if (kernel_.stage == Stage::Final) verify_final(kernel_);
  }

 private:
  [[noreturn]] void fail(const Op* op, const std::string& rule) const {
    fail_verification(kernel_, op, rule);
  }
  template <class... Arguments>
  void require(const Op& op, bool holds, fmt::format_string<Arguments...> rule,
               Arguments&&... arguments) const {
    if (!holds) fail(&op, fmt::format(rule, std::forward<Arguments>(arguments)...));
  }

  // Maps are of pointer arguments; a ring's buffers have as many slots each and belong to it alone.
  void check_tables() const {
    for (const KernelMap& map : kernel_.maps) {
      const auto is_argument = [&](int i) {
        return i >= 0 && i < static_cast<int>(kernel_.arguments.size());
      };
      const auto is_number = [&](const LaunchNumber& n) {
        return std::all_of(n.arguments.begin(), n.arguments.end(), [&](int i) {
          return is_argument(i) &&
                 kernel_.type(kernel_.arguments[static_cast<std::size_t>(i)].value).is_int();
        });
      };
      bool is_good = is_argument(map.argument) &&
                     kernel_.type(kernel_.arguments[static_cast<std::size_t>(map.argument)].value)
                         .is_pointer &&
                     !map.dimensions.empty() && map.dimensions.size() <= 5 &&
                     map.dimensions[0].stride == LaunchNumber{};
      for (const KernelMap::Dimension& d : map.dimensions)
        is_good = is_good && is_number(d.size) && is_number(d.stride) &&
                  d.of_tile >= no_dimension && d.of_tile < Type::max_rank;
      if (is_good && map.rounds_to_tf32 &&
          kernel_.type(kernel_.arguments[static_cast<std::size_t>(map.argument)].value).dtype !=
              DType::Float32)
        fail(nullptr,
             fmt::format("map '{}' rounds to tf32, but its elements are no float32", map.name));
      if (!is_good)
        fail(
            nullptr,
            fmt::format(
                "map '{}' must be of a pointer argument, by integer arguments, with stride 1 first",
                map.name));
    }
    std::vector<std::string> taken;
    for (const KernelRing& ring : kernel_.rings) {
      if (ring.buffers.empty()) fail(nullptr, fmt::format("ring '{}' has no buffers", ring.name));
      for (const std::string& name : ring.buffers) {
        const KernelBuffer& buffer = kernel_.buffers[kernel_.buffer_named(name)];
        if (!buffer.has_slots() || buffer.slots != kernel_.slots_of(ring))
          fail(nullptr, fmt::format("the buffers of ring '{}' must have the same number of slots",
                                    ring.name));
        if (std::find(taken.begin(), taken.end(), name) != taken.end())
          fail(nullptr, fmt::format("buffer '{}' is in a ring twice", name));
        taken.push_back(name);
      }
    }
  }

  void check_buffers() const {
    if (kernel_.stage < Stage::Laid && !kernel_.layouts.empty())
      fail(nullptr, "layouts belong to a kernel of stage laid");
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const KernelBuffer& buffer = kernel_.buffers[i];
      if (!buffer.has_slots() && (!buffer.type.is_tile() || kernel_.stage < Stage::Laid))
        fail(nullptr,
             fmt::format("buffer '{}' must hold tiles and belong to a kernel of stage laid, "
                         "or have slots",
                         buffer.name));
      if (buffer.has_slots() && (!buffer.type.is_tile() || buffer.type.is_pointer))
        fail(nullptr, fmt::format("buffer '{}' must have at least one slot for a tile of numbers",
                                  buffer.name));
      if (kernel_.stage < Stage::Laid && buffer.space != BufferSpace::Undecided)
        fail(nullptr,
             fmt::format("buffer '{}' has a space, which belongs to stage laid", buffer.name));
      for (std::size_t j = 0; j < i; ++j)
        if (kernel_.buffers[j].name == buffer.name)
          fail(nullptr, fmt::format("there are two buffers '{}'", buffer.name));
    }
  }

  void define(const Op* op, Value value) {
    if (value.id >= is_defined_.size()) fail(op, "a value that the kernel does not know");
    if (is_defined_[value.id]) fail(op, "a value is defined twice");
    is_defined_[value.id] = true;
  }

  void check_region(const Region& region, const Op* owner) {
    for (const Value argument : region.arguments) define(owner, argument);
    for (std::size_t i = 0; i < region.ops.size(); ++i) {
      const Op& op = *region.ops[i];
      check_structure(op);
      require(op, !op.facts().is(Family::Ends) || i + 1 == region.ops.size(),
              "only the last op of a region may end it");
      for (const Region& inner : op.regions) check_region(inner, &op);
      verify_types(kernel_, op);
      if (op.kind == OpKind::Dot && op.integer("pending", 0) != 0) check_pending(op, region, owner);
      for (const Value value : op.results) define(&op, value);
    }
    if (owner && (region.ops.empty() || !region.ops.back()->facts().is(Family::Ends)))
      fail(owner, "a region must end in yield or condition");
    // Out of scope again: values of a region are not visible after it.
    if (!owner) return;
    for (const Value argument : region.arguments) is_defined_[argument.id] = false;
    for (const Op* op : region.ops)
      for (const Value value : op->results) is_defined_[value.id] = false;
  }

  // Who looks at the sums of a product that goes on waits for it, at the latest the end of the
  // round. A loop with `drains` waits at its own end for those that nobody looks at, whose sums it
  // carries from each product to itself.
  void check_pending(const Op& dot, const Region& region, const Op* owner) const {
    require(dot, dot.integer("pending") > 0, "pending must not be negative");
    require(dot, owner && owner->kind == OpKind::For,
            "a product with pending must stand in a 'for', not deeper");
    if (owner->integer("drains", 0) == 0) return;
    const auto uses = [&](Value value) {
      int count = 0;
      walk(region, [&](const Op& op) {
        count += static_cast<int>(std::count(op.operands.begin(), op.operands.end(), value));
      });
      return count;
    };
    const auto& carried = region.arguments;
    const auto found = std::find(carried.begin() + 1, carried.end(), dot.operands[2]);
    const auto number = static_cast<std::size_t>(found - carried.begin());
    const Op& end = *region.ops.back();
    const bool only_adds = found != carried.end() && number <= end.operands.size() &&
                           end.operands[number - 1] == dot.result() && uses(dot.operands[2]) == 1 &&
                           uses(dot.result()) == 1;
    const auto yields = std::count(end.operands.begin(), end.operands.end(), dot.result());
    const bool is_read = uses(dot.result()) > static_cast<int>(yields);
    require(dot, only_adds || is_read,
            "a product with pending must be read in its round, or add to a carried tile that "
            "nothing else "
            "of the loop reads");
  }

  void check_structure(const Op& op) const {
    const OpFacts& facts = op.facts();
    require(op, facts.is_legal_at(kernel_.stage), "the op is not legal at this stage");
    require(op,
            facts.operands < 0 || op.operands.size() == static_cast<std::size_t>(facts.operands),
            "needs {} operands, has {}", facts.operands, op.operands.size());
    require(op, facts.results < 0 || op.results.size() == static_cast<std::size_t>(facts.results),
            "needs {} results, has {}", facts.results, op.results.size());
    for (const Value value : op.operands)
      require(op, value.id < is_defined_.size() && is_defined_[value.id],
              "an operand is used before its definition or outside its region");
    require(op, facts.regions < 0 || op.regions.size() == static_cast<std::size_t>(facts.regions),
            "needs {} regions, has {}", facts.regions, op.regions.size());
    check_attributes(op);
  }

  void check_attributes(const Op& op) const {
    for (const Attribute& attribute : op.attributes) {
      const auto rules = op.facts().attributes;
      const auto rule = std::find_if(rules.begin(), rules.end(),
                                     [&](const auto& r) { return r.name == attribute.name; });
      require(op, rule != rules.end(), "has no attribute '{}'", attribute.name);
      require(op, has_kind(attribute.value, rule->kind),
              "attribute '{}' has the wrong kind of value", attribute.name);
    }
    for (const AttributeRule& rule : op.facts().attributes)
      require(op, rule.is_optional || op.find(rule.name), "attribute '{}' is missing", rule.name);
  }

  static bool has_kind(const AttributeValue& value, AttributeRule::Kind kind) {
    switch (kind) {
      case AttributeRule::Kind::Int:
        return std::holds_alternative<std::int64_t>(value);
      case AttributeRule::Kind::Float:
        return std::holds_alternative<double>(value);
      case AttributeRule::Kind::Text:
        return std::holds_alternative<std::string>(value);
      case AttributeRule::Kind::Ints:
        return std::holds_alternative<std::vector<std::int64_t>>(value);
      case AttributeRule::Kind::Texts:
        return std::holds_alternative<std::vector<std::string>>(value);
      case AttributeRule::Kind::Value:
        return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
    }
    return false;
  }

  const Kernel& kernel_;
  std::vector<bool> is_defined_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace tilewright::ir
