// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_reductions.cpp — sums of a loop: variables when the innermost loop runs along
// the axis, else the result's own array.
#include "codegen/lower/loop_reductions.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "codegen/lower/loop_lowering.h"
#include "codegen/lower/reduction_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// A largest or smallest of floats that is no call.
bool is_extreme(const LoweredNest& nest, const LoweredReduction& reduction) {
  return !nest.is_largest && reduction.is_inner && reduction.clause.starts_with("tw_");
}

}  // namespace

std::vector<LoweredReduction> LoopReductions::plan_reductions(const Step& step, LoweredNest& nest) {
  std::vector<LoweredReduction> out;
  for (const ReductionShape& shape : facts_.reductions_of(step, nest)) out.push_back({shape});
  const bool is_ordered =
      std::any_of(out.begin(), out.end(),
                  [](const LoweredReduction& reduction) { return !reduction.has_identity; });
  if (!is_ordered) facts_.find_split(step, nest);
  for (LoweredReduction& reduction : out) facts_.widen_sum(nest, reduction);
  nest.is_largest = facts_.is_plain_largest(nest, alone(out));
  nest.largest_keeps_nan = nest.is_largest && out[0].only->text("nan") == "propagate";
  return out;
}

ir::Value LoopReductions::variable(const Type& type, ir::Value initial, const std::string& name,
                                   Statements& list) {
  std::vector<ir::Value> operands;
  if (initial) operands.push_back(initial);
  return named(make(OpKind::Array, operands, Type::array(type, ir::Space::Registers),
                    {{"count", std::int64_t{1}}}),
               name, list);
}

void LoopReductions::begin_reductions(LoweredNest& nest,
                                      std::vector<LoweredReduction>& reductions) {
  for (LoweredReduction& reduction : reductions) {
    for (const ir::Value result : reduction.op->results) begin_reduction(nest, reduction, result);
    Statements& list = kernel_.type(reduction.op->result()).is_scalar()
                           ? *list_
                           : nest.lines[static_cast<std::size_t>(std::max(reduction.axis_loop, 0))];
    if (is_extreme(nest, reduction)) begin_extreme(nest, reduction, list);
  }
}

void LoopReductions::begin_reduction(LoweredNest& nest, LoweredReduction& reduction,
                                     ir::Value result) {
  const Type type = reduction.wide.value_or(kernel_.type(result).element());
  const std::string& own = kernel_.name_of(result);
  const std::string wanted =
      (own.empty() ? "sum" : own) +
      (reduction.wide ? "_" + std::string(ir::short_name_of(type.dtype)) : "");
  ir::Value initial;
  if (is_extreme(nest, reduction))
    initial = constant_of(type, (reduction.only->kind == OpKind::Maximum ? -1 : 1) *
                                    std::numeric_limits<double>::infinity());
  else if (reduction.has_identity && reduction.only && identity_of(*reduction.only, type))
    initial = constant_of(type, *identity_of(*reduction.only, type));
  const bool is_scalar = kernel_.type(result).is_scalar();
  if (is_scalar || reduction.is_inner) {
    const std::string name = is_scalar ? names_.make(wanted) : nest.names.make(wanted);
    if (is_scalar) nest.names.reserve(name);
    else if (reduction.axis_loop == 0) names_.reserve(name);
    Statements& list =
        is_scalar ? *list_ : nest.lines[static_cast<std::size_t>(reduction.axis_loop)];
    reduction.sums.push_back(variable(type, initial, name, list));
    return;
  }
  reduction.sums.push_back(reduction.wide ? state_.wide_arrays.at(result.id) : array(result));
  if (reduction.axis_loop < 0 || !reduction.has_identity) return;
  const ir::Value index = new_index("i");
  count_to(kernel_.type(result).numel(), index, *list_, [&](Statements& inside) {
    statement(OpKind::Write, {reduction.sums.back(), index, initial}, inside);
  });
}

// The largest and the smallest of floats without NaN are one instruction per vector; whether there
// were numbers, or NaN, is seen beside it.
void LoopReductions::begin_extreme(LoweredNest& nest, LoweredReduction& reduction,
                                   Statements& list) {
  reduction.keeps_nan = reduction.only->text("nan") == "propagate";
  const std::string name =
      nest.names.make(out_.name_of(reduction.sums[0]) + (reduction.keeps_nan ? "_nan" : "_seen"));
  names_.reserve(name);
  const DType dtype =
      kernel_.type(reduction.op->result()).dtype == DType::Float64 ? DType::Int64 : DType::Int32;
  reduction.seen = variable(Type::scalar(dtype), number(0, dtype), name, list);
}

// The statements that take one more value in.
void LoopReductions::take_extreme(const LoweredReduction& reduction, ir::Value value,
                                  Statements& list) {
  const Type type = type_of(value);
  const bool is_max = reduction.only->kind == OpKind::Maximum;
  const ir::Value is_better = compare(is_max ? "lt" : "gt", current(reduction.sums[0]), value);
  const ir::Value best = make(OpKind::Select, {is_better, value, current(reduction.sums[0])}, type);
  statement(OpKind::Write, {reduction.sums[0], number(0), best}, list);
  const ir::Value counts = compare(reduction.keeps_nan ? "ne" : "eq", value, value);
  const DType dtype = type_of(reduction.seen).dtype;
  const ir::Value seen =
      make(OpKind::Or, {current(reduction.seen), cast(counts, dtype)}, Type::scalar(dtype));
  statement(OpKind::Write, {reduction.seen, number(0), seen}, list);
}

void LoopReductions::finish_extreme(const LoweredReduction& reduction, Statements& list) {
  const Type type = type_of(reduction.sums[0]).element();
  const ir::Value was_seen = compare(reduction.keeps_nan ? "ne" : "eq", current(reduction.seen),
                                     number(0, type_of(reduction.seen).dtype));
  statement(OpKind::Write,
            {reduction.sums[0], number(0),
             constant_of(type, std::numeric_limits<double>::quiet_NaN()), was_seen},
            list);
}

// Behind the mask's end every element is often the same: it counts once, or times their number.
bool LoopReductions::accumulate_once(LoweredNest& nest, const LoweredReduction& reduction,
                                     const PlacedValue& value) {
  if (!reduction.only || !reduction.is_inner || nest.split_holds != false ||
      value.depth >= nest.depth())
    return false;
  const Type own = kernel_.type(reduction.op->operands[0]).element();
  const Type type = reduction.wide.value_or(own);
  const bool is_sum =
      reduction.only->kind == OpKind::Add && (type.is_int() || size_of(type.dtype) >= 4);
  if (!is_sum && !reduction.only->facts().has(ir::Idempotent)) return false;
  ir::Value term = cast(value.value, type.dtype);
  const LoopRange& range = nest.range;
  const ir::Value is_there = compare("lt", range.begin, range.end);
  if (is_sum) {
    const ir::Value count =
        make(OpKind::Subtract, {range.end, range.begin}, Type::scalar(DType::Int32));
    term = make(OpKind::Multiply, {term, cast(count, type.dtype)}, type);
  }
  if (reduction.seen) {
    choose(is_there, nest.once, [&](Statements& inside) {
      const bool is_name = out_.maker(term) == nullptr || !out_.name_of(term).empty() ||
                           out_.maker(term)->kind == OpKind::Constant;
      if (!is_name) term = named(term, nest.names.make("candidate"), inside);
      take_extreme(reduction, term, inside);
    });
    return true;
  }
  const ir::Value next = make(reduction.only->kind, {current(reduction.sums[0]), term}, type,
                              reduction.only->attributes);
  statement(OpKind::Write, {reduction.sums[0], number(0), next, is_there}, nest.once);
  return true;
}

ir::Value LoopReductions::reduced_place(const LoweredNest& nest, const ir::Op& op) {
  ElementIndex index{nest.own.at, {}};
  index.at.erase(index.at.begin() + op.integer("axis"));
  return linear(kernel_.type(op.result()), index).value;
}

void LoopReductions::accumulate(LoweredNest& nest, const LoweredReduction& reduction) {
  const ir::Op& op = *reduction.op;
  std::vector<ir::Value> values;
  for (const ir::Value operand : op.operands) {
    const PlacedValue value = element(nest, operand, nest.own);
    if (accumulate_once(nest, reduction, value)) return;
    values.push_back(value.value);
  }
  Statements& lines = nest.lines.back();
  const auto place = [&](std::size_t k) {
    const bool is_variable = type_of(reduction.sums[k]).space == ir::Space::Registers;
    return is_variable ? number(0) : reduced_place(nest, op);
  };
  const auto set_all = [&](Statements& list) {
    for (std::size_t k = 0; k < values.size(); ++k)
      statement(OpKind::Write, {reduction.sums[k], place(k), values[k]}, list);
  };
  if (reduction.axis_loop < 0) return set_all(lines);
  if (nest.sum) {
    nest.result = cast(values[0], type_of(nest.sum).dtype);
    return;
  }
  if (reduction.seen) {
    return take_extreme(reduction,
                        written_.is_plain(values[0])
                            ? values[0]
                            : named(values[0], nest.names.make("candidate"), lines),
                        lines);
  }
  const auto take_all = [&](Statements& list) {
    std::vector<ir::Value> before, next;
    for (std::size_t k = 0; k < values.size(); ++k)
      before.push_back(
          make(OpKind::Read, {reduction.sums[k], place(k)}, type_of(reduction.sums[k]).element()));
    next = combined(nest, reduction, before, values, list);
    for (std::size_t k = 0; k < next.size(); ++k)
      statement(OpKind::Write, {reduction.sums[k], place(k), next[k]}, list);
  };
  if (reduction.has_identity) return take_all(lines);
  // The first element is where the others are combined with.
  const ir::Value at = nest.own.at[static_cast<std::size_t>(op.integer("axis"))].value;
  choose(compare("eq", at, number(0, type_of(at).dtype)), lines, set_all, take_all);
}

// region(a.., b..): what its values are, all read before any sum changes.
std::vector<ir::Value> LoopReductions::combined(LoweredNest& nest,
                                                const LoweredReduction& reduction,
                                                const std::vector<ir::Value>& a,
                                                const std::vector<ir::Value>& b, Statements& list) {
  if (reduction.only) {
    const Type type = type_of(a[0]);
    return {make(reduction.only->kind, {a[0], cast(b[0], type.dtype)}, type,
                 reduction.only->attributes)};
  }
  const ir::Region& body = reduction.op->regions[0];
  for (std::size_t k = 0; k < a.size(); ++k) {
    scalars_[body.arguments[k].id] = a[k];
    scalars_[body.arguments[a.size() + k].id] = b[k];
  }
  // The region's names must differ from those of the nest, which it stands in.
  std::swap(names_, nest.names);
  Statements* const outside = std::exchange(list_, &list);
  families().program.steps(steps_of(body));
  std::vector<ir::Value> out;
  for (const ir::Value value : body.ops.back()->operands)
    out.push_back(named(scalar(value), names_.make("", "combined"), list));
  list_ = outside;
  std::swap(names_, nest.names);
  return out;
}

// Behind the innermost loop: rows of sums go to the results' arrays.
void LoopReductions::finish_reductions(LoweredNest& nest,
                                       const std::vector<LoweredReduction>& reductions) {
  for (const LoweredReduction& reduction : reductions) {
    const std::vector<ir::Value>& results = reduction.op->results;
    if (!reduction.is_inner || kernel_.type(results[0]).is_scalar()) continue;
    Statements& list = nest.after[static_cast<std::size_t>(reduction.axis_loop)];
    if (reduction.seen) finish_extreme(reduction, list);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const ir::Value sum = current(reduction.sums[k]);
      statement(OpKind::Write,
                {array(results[k]), reduced_place(nest, *reduction.op),
                 reduction.wide ? cast(sum, kernel_.type(results[k]).dtype) : sum},
                list);
    }
  }
}

// From the array of wide sums to the result's.
void LoopReductions::round_sums(ir::Value result) {
  const Type& type = kernel_.type(result);
  const ir::Value wide = state_.wide_arrays.at(result.id);
  const ir::Value index = new_index("i");
  ir::Op* loop = count_to(type.numel(), index, *list_, [&](Statements& inside) {
    const ir::Value sum = make(OpKind::Read, {wide, index}, type_of(wide).element());
    statement(OpKind::Write, {array(result), index, cast(sum, type.dtype)}, inside);
  });
  loop->set("simd", std::int64_t{1});
}

// Behind the loops: scalar results are variables of the function, wide sums are rounded.
void LoopReductions::publish(const LoweredReduction& reduction) {
  const std::vector<ir::Value>& results = reduction.op->results;
  const Type& type = kernel_.type(results[0]);
  if (!type.is_scalar() && reduction.wide && !reduction.is_inner) return round_sums(results[0]);
  if (!type.is_scalar()) return;
  if (reduction.seen) finish_extreme(reduction, *list_);
  if (reduction.wide) return define(results[0], cast(current(reduction.sums[0]), type.dtype));
  for (std::size_t k = 0; k < results.size(); ++k)
    write_at_uses(results[k], current(reduction.sums[k]));
}

// What the lanes of a loop combine, as `reduces` says it.
std::vector<std::string> LoopReductions::clauses_of(
    const std::vector<LoweredReduction>& reductions) const {
  std::vector<std::string> out;
  for (const LoweredReduction& reduction : reductions) {
    if (!reduction.is_inner || !reduction.only) continue;
    const bool is_sum_of_floats =
        reduction.only->kind == OpKind::Add && type_of(reduction.sums[0]).element().is_float();
    const std::string op(is_sum_of_floats ? "sum" : reduction.only->facts().name);
    out.push_back(op + " " + out_.name_of(reduction.sums[0]));
    if (reduction.seen) out.push_back("or " + out_.name_of(reduction.seen));
  }
  return out;
}

}  // namespace tilewright
