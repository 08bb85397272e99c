// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_reductions.cpp — sums of a loop: variables when the innermost loop runs along
// the axis, else the result's own array.
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "codegen/lower/lowering.h"
#include "codegen/lower/reduction_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Rows from this length on may be calls of the library, or be read ahead; sums of them may be taken
// block by block.
constexpr std::int64_t shortest_long_row = 32;
constexpr std::int64_t shortest_called_row = 256;

bool is_extreme(const LoweredReduction& reduction) {
  return reduction.is_inner && reduction.clause.starts_with("tw_");
}

}  // namespace

// What has a lowering: one op with a number that changes nothing, along rows that are no calls.
std::vector<LoweredReduction> LoopLowering::plan_reductions(const Step& step,
                                                            const LoweredNest& nest) const {
  std::vector<LoweredReduction> out;
  for (const ir::Op* op : step.reductions) {
    LoweredReduction reduction{.op = op, .only = only_op(*op)};
    const Type type = kernel_.type(op->operands[0]).element();
    const auto axis = static_cast<int>(op->integer("axis"));
    for (int k = 0; k < nest.depth(); ++k) {
      const Loop& loop = nest.loops[static_cast<std::size_t>(k)];
      if (loop.first <= axis && axis < loop.last) reduction.axis_loop = k;
    }
    reduction.is_inner = reduction.axis_loop >= 0 && reduction.axis_loop == nest.depth() - 1;
    if (!reduction.only || !identity_of(*reduction.only, type)) throw NotLowered{};
    reduction.clause = clause_of(*reduction.only, type);
    const bool is_sum = reduction.only->kind == OpKind::Add && type.is_float();
    const std::int64_t length = nest.loops.empty() ? 1 : nest.loops.back().size;
    if (nest.loops.size() == 1 && length >= shortest_long_row) throw NotLowered{};
    if (reduction.is_inner && is_sum && length >= shortest_called_row) throw NotLowered{};
    out.push_back(reduction);
  }
  return out;
}

// Small floats add up as f32 and are rounded once. Sums of f32 along a loop that may stay scalar
// would be added one after another, while those of a vector loop have a partial sum per lane: there
// f64 costs nothing and loses nothing.
void LoopLowering::widen_sums(const LoweredNest& nest,
                              std::vector<LoweredReduction>& reductions) const {
  for (LoweredReduction& reduction : reductions) {
    const Type type = kernel_.type(reduction.op->operands[0]).element();
    if (reduction.only->kind != OpKind::Add || !type.is_float() || reduction.axis_loop < 0)
      continue;
    if (size_of(type.dtype) < 4) reduction.wide = Type::scalar(DType::Float32);
    else if (type.dtype == DType::Float32 && reduction.is_inner && !surely_vectorises(nest))
      reduction.wide = Type::scalar(DType::Float64);
    if (reduction.wide) reduction.clause = clause_of(*reduction.only, *reduction.wide);
    // The sums would need an array beside the result's.
    if (reduction.wide && !reduction.is_inner) throw NotLowered{};
  }
}

ir::Value LoopLowering::variable(const Type& type, ir::Value initial, const std::string& name,
                                 Statements& list) {
  std::vector<ir::Value> operands;
  if (initial) operands.push_back(initial);
  return named(make(OpKind::Array, operands, Type::array(type, ir::Space::Registers),
                    {{"count", std::int64_t{1}}}),
               name, list);
}

ir::Value LoopLowering::current(ir::Value variable) {
  return make(OpKind::Read, {variable, number(0)}, type_of(variable).element());
}

void LoopLowering::begin_reductions(LoweredNest& nest, std::vector<LoweredReduction>& reductions) {
  for (LoweredReduction& reduction : reductions) {
    const ir::Value result = reduction.op->result();
    const Type type = reduction.wide.value_or(kernel_.type(result).element());
    const std::string& own = kernel_.name_of(result);
    const std::string wanted =
        (own.empty() ? "sum" : own) +
        (reduction.wide ? "_" + std::string(ir::short_name_of(type.dtype)) : "");
    ir::AttributeValue start = *identity_of(*reduction.only, type);
    if (is_extreme(reduction))
      start = (reduction.only->kind == OpKind::Maximum ? -1 : 1) *
              std::numeric_limits<double>::infinity();
    const ir::Value initial = constant_of(type, start);
    const bool is_scalar = kernel_.type(result).is_scalar();
    if (!is_scalar && !reduction.is_inner) {
      reduction.sum = array(result);
      if (reduction.axis_loop < 0) continue;
      const ir::Value index = out_.make_value(Type::scalar(DType::Int32), "i", nullptr);
      const LoopRange all{number(0), number(kernel_.type(result).numel()), {}};
      ir::Op* loop = loop_over(index, all, 1, "elements", *list_);
      statement(OpKind::Write, {reduction.sum, index, initial}, loop->regions[0].ops);
      statement(OpKind::Yield, {}, loop->regions[0].ops);
      continue;
    }
    const std::string name = is_scalar ? names_.make(wanted) : nest.names.make(wanted);
    if (is_scalar) nest.names.reserve(name);
    else if (reduction.axis_loop == 0) names_.reserve(name);
    Statements& list =
        is_scalar ? *list_ : nest.lines[static_cast<std::size_t>(reduction.axis_loop)];
    reduction.sum = variable(type, initial, name, list);
    if (is_extreme(reduction)) begin_extreme(nest, reduction, list);
  }
}

// The largest and the smallest of floats without NaN are one instruction per vector; whether there
// were numbers, or NaN, is seen beside it.
void LoopLowering::begin_extreme(LoweredNest& nest, LoweredReduction& reduction, Statements& list) {
  reduction.keeps_nan = reduction.only->text("nan") == "propagate";
  const std::string name =
      nest.names.make(out_.name_of(reduction.sum) + (reduction.keeps_nan ? "_nan" : "_seen"));
  names_.reserve(name);
  const DType dtype =
      kernel_.type(reduction.op->result()).dtype == DType::Float64 ? DType::Int64 : DType::Int32;
  reduction.seen = variable(Type::scalar(dtype), number(0, dtype), name, list);
}

// The statements that take one more value in.
void LoopLowering::take_extreme(const LoweredReduction& reduction, ir::Value value,
                                Statements& list) {
  const Type condition = Type::scalar(DType::Bool);
  const Type type = type_of(value);
  const bool is_max = reduction.only->kind == OpKind::Maximum;
  const ir::Value is_better = make(OpKind::Compare, {current(reduction.sum), value}, condition,
                                   {{"is", std::string(is_max ? "lt" : "gt")}});
  const ir::Value best = make(OpKind::Select, {is_better, value, current(reduction.sum)}, type);
  statement(OpKind::Write, {reduction.sum, number(0), best}, list);
  const ir::Value counts = make(OpKind::Compare, {value, value}, condition,
                                {{"is", std::string(reduction.keeps_nan ? "ne" : "eq")}});
  const DType dtype = type_of(reduction.seen).dtype;
  const ir::Value seen =
      make(OpKind::Or, {current(reduction.seen), cast(counts, dtype)}, Type::scalar(dtype));
  statement(OpKind::Write, {reduction.seen, number(0), seen}, list);
}

void LoopLowering::finish_extreme(const LoweredReduction& reduction, Statements& list) {
  const Type type = type_of(reduction.sum).element();
  const ir::Value was_seen =
      make(OpKind::Compare, {current(reduction.seen), number(0, type_of(reduction.seen).dtype)},
           Type::scalar(DType::Bool), {{"is", std::string(reduction.keeps_nan ? "ne" : "eq")}});
  statement(OpKind::Write,
            {reduction.sum, number(0), constant_of(type, std::numeric_limits<double>::quiet_NaN()),
             was_seen},
            list);
}

// Behind the mask's end every element is often the same: it counts once, or times their number.
bool LoopLowering::accumulate_once(LoweredNest& nest, const LoweredReduction& reduction,
                                   const PlacedValue& value) {
  if (!reduction.is_inner || nest.split_holds != false || value.depth >= nest.depth()) return false;
  const Type own = kernel_.type(reduction.op->operands[0]).element();
  const Type type = reduction.wide.value_or(own);
  const bool is_sum =
      reduction.only->kind == OpKind::Add && (type.is_int() || size_of(type.dtype) >= 4);
  if (!is_sum && !reduction.only->facts().has(ir::Idempotent)) return false;
  ir::Value term = cast(value.value, type.dtype);
  const LoopRange& range = nest.range;
  const ir::Value is_there = make(OpKind::Compare, {range.begin, range.end},
                                  Type::scalar(DType::Bool), {{"is", std::string("lt")}});
  if (is_sum) {
    const ir::Value count =
        make(OpKind::Subtract, {range.end, range.begin}, Type::scalar(DType::Int32));
    term = make(OpKind::Multiply, {term, cast(count, type.dtype)}, type);
  }
  if (reduction.seen) {
    ir::Op* chosen = out_.make_op(OpKind::If, {is_there}, {}, {});
    chosen->regions.resize(2);
    insert(chosen, nest.once);
    Statements& inside = chosen->regions[0].ops;
    const bool is_name = out_.maker(term) == nullptr || !out_.name_of(term).empty() ||
                         out_.maker(term)->kind == OpKind::Constant;
    if (!is_name) term = named(term, nest.names.make("candidate"), inside);
    take_extreme(reduction, term, inside);
    for (ir::Region& side : chosen->regions) statement(OpKind::Yield, {}, side.ops);
    return true;
  }
  const ir::Value next =
      make(reduction.only->kind, {current(reduction.sum), term}, type, reduction.only->attributes);
  statement(OpKind::Write, {reduction.sum, number(0), next, is_there}, nest.once);
  return true;
}

ir::Value LoopLowering::reduced_place(const LoweredNest& nest, const ir::Op& op) {
  ElementIndex index{nest.own.at, {}};
  index.at.erase(index.at.begin() + op.integer("axis"));
  return linear(kernel_.type(op.result()), index).value;
}

void LoopLowering::accumulate(LoweredNest& nest, const LoweredReduction& reduction) {
  const ir::Op& op = *reduction.op;
  const PlacedValue value = element(nest, op.operands[0], nest.own);
  if (accumulate_once(nest, reduction, value)) return;
  Statements& lines = nest.lines.back();
  const bool is_variable = type_of(reduction.sum).space == ir::Space::Registers;
  const ir::Value place = is_variable ? number(0) : reduced_place(nest, op);
  if (reduction.axis_loop < 0) {
    statement(OpKind::Write, {reduction.sum, place, value.value}, lines);
    return;
  }
  if (reduction.seen) {
    const bool is_name = text_.operand(value.value).find_first_of("([ ") == std::string::npos;
    return take_extreme(
        reduction, is_name ? value.value : named(value.value, nest.names.make("candidate"), lines),
        lines);
  }
  const Type type = type_of(reduction.sum).element();
  const ir::Value before = make(OpKind::Read, {reduction.sum, place}, type);
  const ir::Value next = make(reduction.only->kind, {before, cast(value.value, type.dtype)}, type,
                              reduction.only->attributes);
  statement(OpKind::Write, {reduction.sum, place, next}, lines);
}

// Behind the innermost loop: rows of sums go to the result's array.
void LoopLowering::finish_reductions(LoweredNest& nest,
                                     const std::vector<LoweredReduction>& reductions) {
  for (const LoweredReduction& reduction : reductions) {
    const ir::Value result = reduction.op->result();
    if (!reduction.is_inner || kernel_.type(result).is_scalar()) continue;
    Statements& list = nest.after[static_cast<std::size_t>(reduction.axis_loop)];
    if (reduction.seen) finish_extreme(reduction, list);
    statement(OpKind::Write,
              {array(result), reduced_place(nest, *reduction.op),
               cast(current(reduction.sum), kernel_.type(result).dtype)},
              list);
  }
}

// Behind the loops: scalar results are variables of the function, wide sums are rounded.
void LoopLowering::publish(const LoweredReduction& reduction) {
  const ir::Value result = reduction.op->result();
  const Type& type = kernel_.type(result);
  if (!type.is_scalar()) return;
  if (reduction.seen) finish_extreme(reduction, *list_);
  if (reduction.wide) return define(result, cast(current(reduction.sum), type.dtype));
  scalars_[result.id] = current(reduction.sum);
}

// What the lanes of a loop combine, as `reduces` says it.
std::vector<std::string> LoopLowering::clauses_of(
    const std::vector<LoweredReduction>& reductions) const {
  std::vector<std::string> out;
  for (const LoweredReduction& reduction : reductions) {
    if (!reduction.is_inner) continue;
    out.push_back(std::string(reduction.only->facts().name) + " " + out_.name_of(reduction.sum));
    if (reduction.seen) out.push_back("or " + out_.name_of(reduction.seen));
  }
  return out;
}

}  // namespace tilewright
