// SPDX-License-Identifier: Apache-2.0
// ir/analysis/memory_rounds.cpp — rows of a length that only the launch knows, one per round of a
// loop: a mask that keeps the elements of a round within its row keeps rounds apart.
//
//   for t: store out + t * D + i, x, mask = i < D        rounds never meet, whatever D is
#include <algorithm>

#include "ir/analysis/exact_integers.h"
#include "ir/analysis/memory_order.h"
#include "ir/analysis/same_value.h"
#include "ir/behind.h"
#include "ir/constant.h"

namespace tilewright::ir {

// The integer that casts without loss and hints hand on.
Value MemoryOrder::plain(Value value) const {
  for (const Op* maker = kernel_.maker(value); maker; maker = kernel_.maker(value)) {
    const Value same = handed_on(*maker);
    if (!same) break;
    value = same;
  }
  return value;
}

// Integers of addresses do not overflow, if they have 32 bits and more.
bool MemoryOrder::is_non_negative(Value value) const {
  const bool may_be_negative = any_behind(kernel_, value, [&](Value part) {
    if (const auto number = integer_constant(kernel_, part))
      return *number >= 0 ? Ask::NoFurther : Ask::Found;
    const Op* maker = kernel_.maker(part);
    if (maker && handed_on(*maker)) return Ask::Further;
    if (!maker || !has_exact_sums(kernel_.type(part))) return Ask::Found;
    if (maker->kind == OpKind::ProgramId) return Ask::NoFurther;
    const bool is_made_of = maker->kind == OpKind::Add || maker->kind == OpKind::Multiply;
    return is_made_of ? Ask::Further : Ask::Found;
  });
  return !may_be_negative;
}

// The value of which the scalar grows by some multiple, not 0 and the same in every round; none
// where that is not known.
Value MemoryOrder::unit_of(const Op& loop, Value scalar) const {
  const auto stays = [&](Value value) { return !is_defined_in(loop, value); };
  const Region& body = loop.regions[0];
  if (const Op* cast = kernel_.maker(scalar); cast && !stays(scalar))
    if (const Value same = handed_on(*cast)) return unit_of(loop, same);
  if (!has_exact_sums(kernel_.type(scalar))) return {};
  for (std::size_t k = 1; k < body.arguments.size(); ++k) {
    if (body.arguments[k] != scalar) continue;
    const Op* next = kernel_.maker(body.ops.back()->operands[k - 1]);
    const bool is_sum = next && (next->kind == OpKind::Offset || next->kind == OpKind::Add);
    return is_sum && next->operands[0] == scalar && stays(next->operands[1])
               ? plain(next->operands[1])
               : Value{};
  }
  const Op* maker = kernel_.maker(scalar);
  if (!maker || stays(scalar)) return {};
  const auto of_other = [&](auto&& ask) {
    if (stays(maker->operands[1])) return ask(maker->operands[0], maker->operands[1]);
    if (stays(maker->operands[0])) return ask(maker->operands[1], maker->operands[0]);
    return Value{};
  };
  if (maker->kind == OpKind::Offset || maker->kind == OpKind::Add)
    return of_other([&](Value changes, Value) { return unit_of(loop, changes); });
  if (maker->kind != OpKind::Multiply) return {};
  return of_other([&](Value changes, Value unit) {
    return step_of(loop, changes) != 0 ? plain(unit) : Value{};
  });
}

// Whether `high` is at most `unit`: the unit itself, or that less something.
bool MemoryOrder::is_at_most(Value high, Value unit) const {
  high = plain(high);
  if (high == unit) return true;
  const Op* maker = kernel_.maker(high);
  const Type& type = kernel_.type(high);
  if (!maker || !has_exact_sums(type) || !is_signed(type.dtype)) return false;
  if (maker->kind == OpKind::Subtract)
    return is_at_most(maker->operands[0], unit) && is_non_negative(maker->operands[1]);
  if (maker->kind != OpKind::Add) return false;
  const auto is_taken_away = [&](Value value) {
    const Op* negate = kernel_.maker(plain(value));
    return negate && negate->kind == OpKind::Negate && is_non_negative(negate->operands[0]);
  };
  return (is_at_most(maker->operands[0], unit) && is_taken_away(maker->operands[1])) ||
         (is_at_most(maker->operands[1], unit) && is_taken_away(maker->operands[0]));
}

bool MemoryOrder::is_apart_in_rounds(const Op& loop, const Op& access, const Op& other) const {
  const Value pointer = access.operands[0];
  if (is_apart_in_rounds(loop, pointer, other.operands[0])) return true;
  const Op* affine = kernel_.maker(pointer);
  const Value mask = access.mask();
  const Op* bounds = mask ? kernel_.maker(mask) : nullptr;
  if (loop.kind != OpKind::For || !is_same_value(kernel_, pointer, other.operands[0]) || !mask ||
      !other.mask() || !is_same_value(kernel_, mask, other.mask()) || !bounds ||
      bounds->kind != OpKind::Bounds || !affine || affine->kind != OpKind::Affine)
    return false;
  const Value unit = unit_of(loop, affine->operands[0]);
  if (!unit) return false;
  const Type& type = kernel_.type(pointer);
  int rows = 0;
  for (int d = 0; d < type.rank; ++d) {
    if (type.size(d) == 1) continue;
    const auto at = static_cast<std::size_t>(d);
    const Value high = bounds->operands[2 * at + 1];
    if (++rows > 1 || integer_constant(kernel_, affine->operands[at + 1]) != 1 ||
        is_defined_in(loop, high) || !is_at_most(high, unit))
      return false;
  }
  return rows == 1;
}

}  // namespace tilewright::ir
