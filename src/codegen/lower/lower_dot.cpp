// SPDX-License-Identifier: Apache-2.0
// codegen/lower/lower_dot.cpp — products of tiles: a call of the device library per product, with
// operands where they are, as an array or a pointer and strides.
#include <utility>

#include "base/check.h"
#include "codegen/lower/lowering.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// ---- Operands that stay in memory

ir::Value LoopLowering::wholeness_test(const WholenessTest& test) {
  const ir::Value value = scalar(test.value);
  const Type condition = Type::scalar(DType::Bool);
  const auto compared = [&](const char* is) {
    return make(OpKind::Compare, {value, number(test.number, type_of(value).dtype)}, condition,
                {{"is", std::string(is)}});
  };
  switch (test.kind) {
    case WholenessTest::Kind::Multiple:
      return make(OpKind::Call, {value}, condition,
                  {{"function", std::string(name_of(LibraryKind::IsAligned))},
                   {"numbers", std::vector<std::int64_t>{test.number}}});
    case WholenessTest::Kind::AtMost:
      return compared("le");
    case WholenessTest::Kind::AtLeast:
      return compared("ge");
  }
  TW_UNREACHABLE("a test without a kind");
}

// Whether all elements of the step's loads are inside of their bounds; none: they surely are.
ir::Value LoopLowering::wholeness(const Step& step) {
  std::vector<ir::Value> tests;
  for (const WholenessTest& test : tests_of_wholeness(step)) tests.push_back(wholeness_test(test));
  if (tests.empty()) return {};
  const ir::Value all =
      tests.size() == 1 ? tests[0] : make(OpKind::All, tests, Type::scalar(DType::Bool));
  const std::string& own = kernel_.name_of(step.kept.front());
  return named(all, names_.make(own.empty() ? "is_whole" : own + "_is_whole"), *list_);
}

// The arrays of such loads are filled only where they are not whole.
void LoopLowering::fill_operands(const Step& step) {
  const ir::Value is_whole = wholeness(step);
  for (const ir::Value value : step.kept) is_whole_[schedule_.result_of(value).id] = is_whole;
  if (!is_whole) return;
  ir::Op* chosen = out_.make_op(OpKind::If, {is_whole}, {}, {});
  chosen->regions.resize(2);
  insert(chosen, *list_);
  region(chosen->regions[1], [&] { element_loops(step); });
  for (ir::Region& side : chosen->regions) statement(OpKind::Yield, {}, side.ops);
}

std::optional<LoopLowering::DotOperand> LoopLowering::operand_in_place(ir::Value value) {
  const std::optional<OperandInMemory> operand = operand_in_memory(value);
  const auto found = operand ? is_whole_.find(operand->loaded.id) : is_whole_.end();
  if (found == is_whole_.end()) return std::nullopt;
  DotOperand out{scalar(operand->base), {scalar(operand->stride), number(1)}};
  if (const ir::Value is_whole = found->second) {
    const ir::Value copy = array(operand->loaded);
    const Type stride = type_of(out.strides[0]);
    out.base = call(LibraryKind::InPlace, {is_whole, out.base, copy}, type_of(copy));
    out.strides[0] = make(
        OpKind::Select,
        {is_whole, out.strides[0], number(kernel_.type(operand->loaded).size(1), stride.dtype)},
        stride);
  }
  if (operand->is_transposed) std::swap(out.strides[0], out.strides[1]);
  return out;
}

// ---- Products

// The operand where it is; what is in no array is written to one first.
LoopLowering::DotOperand LoopLowering::operand_of_dot(const Step& step, ir::Value value) {
  if (std::optional<DotOperand> found = operand_in_place(value)) return std::move(*found);
  const auto with_numbers = [&](ir::Value base, const std::vector<std::int64_t>& strides) {
    DotOperand out{base, {}};
    for (const std::int64_t stride : strides) out.strides.push_back(number(stride));
    return out;
  };
  if (const std::optional<StridedTile> found = strided(value))
    return with_numbers(array(found->placed), found->strides);
  const Type& type = kernel_.type(value);
  const ir::Value own = operand_arrays_.at({step.op, value.id});
  LoweredNest nest = make_nest(step, type);
  lower_nest(nest, {.simd = true}, [&] {
    const PlacedValue made = element(nest, value, nest.own);
    statement(OpKind::Write, {own, linear(type, nest.own).value, copied(made.value)},
              nest.lines.back());
  });
  return with_numbers(own, row_major(type));
}

// The first dimension of three counts independent products.
void LoopLowering::dot(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& result = kernel_.type(op.result());
  const Type& left = kernel_.type(op.operands[0]);
  if (!schedule_.is_in_array(op.operands[2], step) ||
      schedule_.storage(op.operands[2]) != schedule_.storage(op.result()))
    copy(step, {{op.result(), op.operands[2]}});
  const DotOperand a = operand_of_dot(step, op.operands[0]);
  const DotOperand b = operand_of_dot(step, op.operands[1]);
  const int m = result.rank == 3 ? 1 : 0, n = m + 1;
  const auto multiply = [&](ir::Value c, ir::Value first, ir::Value second, Statements& list) {
    const auto row = static_cast<std::size_t>(m), column = row + 1;
    statement(
        OpKind::Call,
        {c, first, a.strides[row], a.strides[column], second, b.strides[row], b.strides[column]},
        list,
        {{"function", std::string(name_of(LibraryKind::Dot))},
         {"numbers", std::vector<std::int64_t>{result.size(m), result.size(n), left.size(n)}}},
        op.location);
  };
  if (m == 0) return multiply(array(op.result()), a.base, b.base, *list_);
  const ir::Value batch =
      out_.make_value(Type::scalar(DType::Int32), names_.make("batch"), nullptr);
  ir::Op* loop = loop_over(batch, {number(0), number(result.size(0)), {}}, 1, "elements", *list_);
  const auto place = [&](ir::Value base, std::int64_t stride) {
    const Term term = stride == 0 ? Term{batch, 0, number(0)} : Term{batch, stride};
    return make(OpKind::ArrayView, {base, sum({term})}, type_of(base));
  };
  const auto stride_of = [&](const DotOperand& operand) { return *number_of(operand.strides[0]); };
  Statements& inside = loop->regions[0].ops;
  multiply(place(array(op.result()), row_major(result)[0]), place(a.base, stride_of(a)),
           place(b.base, stride_of(b)), inside);
  statement(OpKind::Yield, {}, inside);
}

}  // namespace tilewright
