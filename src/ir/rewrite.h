// SPDX-License-Identifier: Apache-2.0
// ir/rewrite.h — local rewrites: rules that replace one op, applied until nothing changes.
//
// A rule is a named function that looks at one op and either gives the value that replaces its only
// result (making new ops before it where it must) or declines:
//
//   // x + 0 => x
//   Value add_zero(Rewriter& rewriter, const Op& op) {
//     return rewriter.is_constant(op.operands[1], 0) ? op.operands[0] : Value{};
//   }
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/kernel.h"

namespace tilewright::ir {

class Rewriter : public Builder {
 public:
  using Builder::Builder;

  // The op that makes a value when it is of this kind, else null.
  const Op* made_by(Value value, OpKind kind) const;
  // The constant that fills the value, through splats and reshapes; none when it is not constant.
  std::optional<AttributeValue> constant_of(Value value) const;
  bool is_constant(Value value,
                   std::int64_t number) const;  // an integer, bool or float constant of that value
  // A constant of `type` holding `value` (an int64 for integers and bools, a double for floats).
  Value constant_like(const Type& type, const AttributeValue& value);

  // For rules about ops without a replaceable result (a store that stores nothing): the op is
  // removed.
  void erase(const Op& op) { erased_.push_back(&op); }
  // For ops with regions whose taken region is known: its ops go where the op stands, its yielded
  // values replace the results.
  void inline_region(const Op& op, const Region& region);

 private:
  friend class RewriteRun;
  std::vector<const Op*> erased_;
  std::vector<std::pair<Value, Value>> replaced_;
};

using Rule = Value (*)(Rewriter&, const Op&);

// Applies the rules everywhere until nothing changes; true when anything did. Rules see ops whose
// operands are already rewritten; the first rule that does not decline wins.
bool rewrite(Kernel& kernel, std::span<const Rule> rules);

// Replaces every use of the values on the left; chains are followed.
class Substitution {
 public:
  explicit Substitution(std::size_t values) : to_(values) {}
  void add(Value from, Value to);
  Value operator()(Value value) const;
  bool apply(std::vector<Value>& values) const;  // true when one changed
  bool is_empty() const { return count_ == 0; }

 private:
  std::vector<Value> to_;
  std::size_t count_ = 0;
};

}  // namespace tilewright::ir
