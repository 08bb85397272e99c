// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_across.cpp — ops that move data between elements: scan, sort, gather,
// concatenate, histogram, print (dot has its own file).
#include "codegen/lower/loop_across.h"

#include "base/check.h"
#include "codegen/lower/loop_lowering.h"
#include "codegen/lower/reduction_facts.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

void LoopAcross::across(const Step& step) {
  note_lines({step.op});
  switch (ir::across_op(step.op->kind)) {
    case ir::AcrossOp::Scan:
      return scan(step);
    case ir::AcrossOp::Dot:
      return families().dots.dot(step);
    case ir::AcrossOp::Gather:
      return gather(step);
    case ir::AcrossOp::Concatenate:
      return concatenate(step);
    case ir::AcrossOp::Sort:
      return sort(step);
    case ir::AcrossOp::Histogram:
      return histogram(step);
    case ir::AcrossOp::Print:
      return print(step);
    case ir::AcrossOp::ReadBuffer:
    case ir::AcrossOp::StoreMap:
      break;
  }
  TW_UNREACHABLE("'{}' is for machines that copy asynchronously", step.op->facts().name);
}

// ---- Scans: in the result's array, one slice after the other along the axis

namespace {

struct Series {
  std::int64_t outer = 1, length = 1, inner = 1;
  Series(const Type& type, std::int64_t axis) {
    for (int d = 0; d < type.rank; ++d)
      (d < axis ? outer : d == axis ? length : inner) *= type.size(d);
  }
};

}  // namespace

void LoopAcross::scan(const Step& step) {
  const ir::Op& op = *step.op;
  std::vector<std::pair<ir::Value, ir::Value>> copies;
  for (std::size_t k = 0; k < op.results.size(); ++k)
    copies.emplace_back(op.results[k], op.operands[k]);
  copy(step, copies);
  // Sums of neighbours have a function of their own.
  const Type& type = kernel_.type(op.result());
  const ir::Op* const only = only_op(op);
  const bool is_wide = (type.is_float() || type.is_int()) && size_of(type.dtype) >= 4;
  const Series series(type, op.integer("axis"));
  if (only && only->kind == OpKind::Add && series.inner == 1 && is_wide) running_sum(op);
  else combine_slices(op);
}

void LoopAcross::running_sum(const ir::Op& op) {
  const Series series(kernel_.type(op.result()), op.integer("axis"));
  const ir::Value row = array(op.result());
  const auto put = [&](ir::Value from, Statements& list) {
    call(LibraryKind::RunningSum, {from, number(series.length)}, list,
         {op.integer("reverse") != 0 ? 1 : 0}, op.location);
  };
  if (series.outer == 1) return put(row, *list_);
  Names names = names_;
  const ir::Value o = new_index(names.make("o"));
  count_to(series.outer, o, *list_, [&](Statements& inside) {
    put(make(OpKind::ArrayView, {row, sum({{o, series.length}})}, type_of(row)), inside);
  });
}

// Loops over what lies before the axis, along it, and behind it.
void LoopAcross::combine_slices(const ir::Op& op) {
  const Series series(kernel_.type(op.result()), op.integer("axis"));
  const bool is_reverse = op.integer("reverse") != 0;
  LoweredNest nest;
  nest.names = names_;
  const auto index = [&](const char* name) { return new_index(nest.names.make(name)); };
  const ir::Value o = index("o"), k = index("k"), n = index("n");
  ir::Op* outer = loop_over(o, {number(0), number(series.outer), {}}, 1, "elements", *list_);
  const LoopRange along = is_reverse ? LoopRange{number(series.length - 2), number(-1), {}}
                                     : LoopRange{number(1), number(series.length), {}};
  ir::Op* slices = loop_over(k, along, is_reverse ? -1 : 1, "elements", outer->regions[0].ops);
  ir::Op* inner =
      loop_over(n, {number(0), number(series.inner), {}}, 1, "elements", slices->regions[0].ops);
  const LoweredReduction combination{{.op = &op, .only = only_op(op)}};
  if (series.inner > 1 && combination.only) inner->set("simd", std::int64_t{1});
  Statements& list = inner->regions[0].ops;
  const ir::Value number_of_row = sum({{o, series.length}, {k}}, DType::Int32);
  const ir::Value at =
      named(sum({{number_of_row, series.inner}, {n}}, DType::Int32), nest.names.make("at"), list);
  const std::int64_t distance = is_reverse ? series.inner : -series.inner;
  std::vector<ir::Value> before, here;
  for (const ir::Value result : op.results) {
    const Type element = kernel_.type(result).element();
    const ir::Value neighbour = sum({{at}, {number(distance)}}, DType::Int32);
    before.push_back(make(OpKind::Read, {array(result), neighbour}, element));
    here.push_back(make(OpKind::Read, {array(result), at}, element));
  }
  const std::vector<ir::Value> next =
      families().reductions.combined(nest, combination, before, here, list);
  for (std::size_t r = 0; r < next.size(); ++r)
    statement(OpKind::Write, {array(op.results[r]), at, next[r]}, list);
  for (ir::Op* loop : {inner, slices, outer}) statement(OpKind::Yield, {}, loop->regions[0].ops);
}

// ---- Elements from other places

void LoopAcross::gather(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& type = kernel_.type(op.result());
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  // An index outside the tile is the user's mistake; it must not read outside the array.
  const std::int64_t last = kernel_.type(op.operands[0]).size(static_cast<int>(axis)) - 1;
  LoweredNest nest = make_nest(step, type);
  lower_nest(nest, {.simd = true}, [&] {
    const ir::Value wanted = element(nest, op.operands[1], nest.own).value;
    const Type index = type_of(wanted);
    ElementIndex from{nest.own.at, {}};
    from.at[axis] = {make(OpKind::And, {wanted, number(last, index.dtype)}, index), nest.depth()};
    const PlacedValue value = element(nest, op.operands[0], from);
    statement(OpKind::Write, {array(op.result()), linear(type, nest.own).value, value.value},
              nest.lines.back());
  });
}

void LoopAcross::concatenate(const Step& step) {
  const ir::Op& op = *step.op;
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  const Type& half = kernel_.type(op.operands[0]);
  for (const std::size_t side : {0, 1}) {
    LoweredNest nest = make_nest(step, half);
    lower_nest(nest, {.simd = true}, [&] {
      ElementIndex to{nest.own.at, {}};
      ir::Value& at = to.at[axis].value;
      if (side == 1)
        at = make(OpKind::Add, {at, number(half.size(static_cast<int>(axis)))}, type_of(at));
      const PlacedValue value = element(nest, op.operands[side], nest.own);
      statement(OpKind::Write,
                {array(op.result()), linear(kernel_.type(op.result()), to).value, value.value},
                nest.lines.back());
    });
  }
}

// In the result's array.
void LoopAcross::sort(const Step& step) {
  const ir::Op& op = *step.op;
  copy(step, {{op.result(), op.operands[0]}});
  std::int64_t order = 0;
  while (sort_orders[order] != op.text("order")) ++order;
  call(LibraryKind::MergeRuns, {array(op.result()), number(kernel_.type(op.result()).numel())},
       *list_, {op.integer("first"), op.integer("last"), order}, op.location);
}

// Bins are emptied, and then counted up.
void LoopAcross::histogram(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& type = kernel_.type(op.result());
  const ir::Value bins = array(op.result());
  const ir::Value i = new_index("i");
  count_to(type.numel(), i, *list_, [&](Statements& inside) {
    statement(OpKind::Write, {bins, i, number(0, type.dtype)}, inside);
  });
  LoweredNest nest = make_nest(step, kernel_.type(op.operands[0]));
  lower_nest(nest, {}, [&] {
    const ir::Value bin = element(nest, op.operands[0], nest.own).value;
    // One comparison for both ends.
    ir::Value counts = compare("lt", cast(cast(bin, DType::Int64), DType::UInt64),
                               number(type.numel(), DType::UInt64));
    if (op.mask()) counts = all({element(nest, op.mask(), nest.own).value, counts});
    choose(counts, nest.lines.back(), [&](Statements& inside) {
      const ir::Value before = make(OpKind::Read, {bins, bin}, type.element());
      const ir::Value next = make(OpKind::Add, {before, number(1, type.dtype)}, type.element());
      statement(OpKind::Write, {bins, bin, next}, inside);
    });
  });
}

// ---- Prints: one line per element, as the interpreter prints it

void LoopAcross::print(const Step& step) {
  const ir::Op& op = *step.op;
  if (op.operands.empty()) {
    statement(OpKind::Print, {}, *list_, op.attributes, op.location);
    return;
  }
  for (const ir::Value value : op.operands) {
    const Type& type = kernel_.type(value);
    LoweredNest nest = make_nest(step, type);
    lower_nest(nest, {}, [&] {
      std::vector<ir::Value> operands = {element(nest, value, nest.own).value};
      if (type.is_tile()) operands.push_back(linear(type, nest.own).value);
      statement(OpKind::Print, operands, nest.lines.back(), op.attributes, op.location);
    });
  }
}

}  // namespace tilewright
