// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_dots.cpp — products of tiles: a call of the device library per product, with
// operands where they are, as an array or a pointer and strides.
#include "codegen/lower/loop_dots.h"

#include <utility>

#include "base/check.h"
#include "codegen/lower/loop_lowering.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// ---- Operands that stay in memory

ir::Value LoopDots::wholeness_test(const WholenessTest& test) {
  const ir::Value value = scalar(test.value);
  const auto compared = [&](const char* is) {
    return compare(is, value, number(test.number, type_of(value).dtype));
  };
  switch (test.kind) {
    case WholenessTest::Kind::Multiple:
      return make(OpKind::Call, {value}, Type::scalar(DType::Bool),
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
ir::Value LoopDots::wholeness(const Step& step) {
  std::vector<ir::Value> tests;
  for (const WholenessTest& test : facts_.tests_of_wholeness(step))
    tests.push_back(wholeness_test(test));
  if (tests.empty()) return {};
  const std::string& own = kernel_.name_of(step.kept.front());
  return named(all(tests), names_.make(own.empty() ? "is_whole" : own + "_is_whole"), *list_);
}

// The arrays of such loads are filled only where they are not whole.
void LoopDots::fill_operands(const Step& step) {
  const ir::Value is_whole = wholeness(step);
  for (const ir::Value value : step.kept) is_whole_[schedule_.result_of(value).id] = is_whole;
  if (!is_whole) return;
  choose(is_whole, *list_, {}, [&](Statements& inside) {
    put_into(inside, [&] { families().sweeps.element_loops(step); });
  });
}

std::optional<LoopDots::DotOperand> LoopDots::operand_in_place(ir::Value value) {
  const std::optional<OperandInMemory> operand = facts_.operand_in_memory(value);
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
LoopDots::DotOperand LoopDots::operand_of_dot(const Step& step, ir::Value value) {
  if (std::optional<DotOperand> found = operand_in_place(value)) return std::move(*found);
  const auto with_numbers = [&](ir::Value base, const std::vector<std::int64_t>& strides) {
    DotOperand out{base, {}};
    for (const std::int64_t stride : strides) out.strides.push_back(number(stride));
    return out;
  };
  if (const std::optional<StridedTile> found = facts_.strided(value))
    return with_numbers(array(found->placed), found->strides);
  const Type& type = kernel_.type(value);
  const ir::Value own = state_.operand_arrays.at({step.op, value.id});
  LoweredNest nest = make_nest(step, type);
  lower_nest(nest, {.simd = true}, [&] {
    const PlacedValue made = element(nest, value, nest.own);
    statement(OpKind::Write, {own, linear(type, nest.own).value, copied(made.value)},
              nest.lines.back());
  });
  return with_numbers(own, row_major(type));
}

// The first dimension of three counts independent products.
void LoopDots::dot(const Step& step) {
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
    call(LibraryKind::Dot,
         {c, first, a.strides[row], a.strides[column], second, b.strides[row], b.strides[column]},
         list, {result.size(m), result.size(n), left.size(n)}, op.location);
  };
  if (m == 0) return multiply(array(op.result()), a.base, b.base, *list_);
  const ir::Value batch = new_index(names_.make("batch"));
  const auto place = [&](ir::Value base, std::int64_t stride) {
    const Term term = stride == 0 ? Term{batch, 0, number(0)} : Term{batch, stride};
    return make(OpKind::ArrayView, {base, sum({term})}, type_of(base));
  };
  const auto stride_of = [&](const DotOperand& operand) { return *number_of(operand.strides[0]); };
  count_to(result.size(0), batch, *list_, [&](Statements& inside) {
    multiply(place(array(op.result()), row_major(result)[0]), place(a.base, stride_of(a)),
             place(b.base, stride_of(b)), inside);
  });
}

}  // namespace tilewright
