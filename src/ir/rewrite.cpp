// SPDX-License-Identifier: Apache-2.0
// ir/rewrite.cpp — the driver of local rewrites: passes over the regions until nothing changes.
#include "ir/rewrite.h"

#include "base/check.h"

namespace tilewright::ir {

void Substitution::add(Value from, Value to) {
  if (from.id >= to_.size()) to_.resize(from.id + 1);
  to_[from.id] = to;
  ++count_;
}

Value Substitution::operator()(Value value) const {
  while (value.id < to_.size() && to_[value.id]) value = to_[value.id];
  return value;
}

bool Substitution::apply(std::vector<Value>& values) const {
  bool has_changed = false;
  for (Value& value : values) {
    const Value replacement = (*this)(value);
    has_changed |= replacement != value;
    value = replacement;
  }
  return has_changed;
}

const Op* Rewriter::made_by(Value value, OpKind kind) const {
  const Op* op = kernel().maker(value);
  return op && op->kind == kind ? op : nullptr;
}

std::optional<AttributeValue> Rewriter::constant_of(Value value) const {
  const Op* op = kernel().maker(value);
  while (op && op->facts().maps(Spread | Repeated | Reshaped)) op = kernel().maker(op->operands[0]);
  if (!op || op->kind != OpKind::Constant) return std::nullopt;
  return *op->find("value");
}

bool Rewriter::is_constant(Value value, std::int64_t number) const {
  const std::optional<AttributeValue> found = constant_of(value);
  if (!found) return false;
  if (const auto* integer = std::get_if<std::int64_t>(&*found)) return *integer == number;
  return std::get<double>(*found) == static_cast<double>(number);
}

Value Rewriter::constant_like(const Type& type, const AttributeValue& value) {
  return create_one(OpKind::Constant, {}, type, {{"value", value}});
}

void Rewriter::inline_region(const Op& op, const Region& region) {
  for (Op* inner : region.ops) {
    if (!inner->facts().is(Family::Ends)) {
      insert(inner);
      continue;
    }
    for (std::size_t i = 0; i < op.results.size(); ++i)
      replaced_.emplace_back(op.results[i], inner->operands[i]);
  }
  erase(op);
}

// One pass over a kernel: every op once, new ops placed before the op that a rule looked at.
class RewriteRun {
 public:
  RewriteRun(Kernel& kernel, std::span<const Rule> rules)
      : kernel_(kernel), rules_(rules), substitution_(kernel.value_count()) {}

  bool run() {
    visit(kernel_.body);
    return has_changed_;
  }

 private:
  void visit(Region& region) {
    Region out;
    for (Op* op : region.ops) {
      substitution_.apply(op->operands);
      for (Region& inner : op->regions) visit(inner);
      if (!replace(*op, out)) out.ops.push_back(op);
    }
    region.ops = std::move(out.ops);
  }

  // True when the op is gone.
  bool replace(Op& op, Region& out) {
    for (const Rule rule : rules_) {
      Rewriter rewriter(kernel_);
      const Builder::Into into(rewriter, out);
      rewriter.set_location(op.location);
      const Value replacement = rule(rewriter, op);
      if (!replacement && rewriter.erased_.empty()) continue;
      has_changed_ = true;
      if (replacement) record(op.result(), replacement);
      for (const auto& [from, to] : rewriter.replaced_) record(from, to);
      return true;
    }
    return false;
  }

  void record(Value from, Value to) {
    TW_CHECK(kernel_.type(from) == kernel_.type(to), "a rule replaced {} by {}",
             kernel_.type(from).to_string(), kernel_.type(to).to_string());
    if (kernel_.name_of(to).empty() && kernel_.maker(to))
      kernel_.set_name(to, kernel_.name_of(from));
    substitution_.add(from, to);
  }

  Kernel& kernel_;
  std::span<const Rule> rules_;
  Substitution substitution_;
  bool has_changed_ = false;
};

bool rewrite(Kernel& kernel, std::span<const Rule> rules) {
  // Each pass simplifies; a cycle of rules that undo each other is our bug.
  constexpr int most_passes = 100;
  for (int pass = 0; pass < most_passes; ++pass)
    if (!RewriteRun(kernel, rules).run()) return pass > 0;
  TW_UNREACHABLE("kernel '{}' still changes after {} passes of rewriting", kernel.name,
                 most_passes);
}

}  // namespace tilewright::ir
