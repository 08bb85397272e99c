// SPDX-License-Identifier: Apache-2.0
// ir/op_facts_test.cpp — what the op table says of arithmetic is true: the interpreter is asked.
#include <gtest/gtest.h>

#include "ir/interpret/elementwise.h"
#include "ir/kernel.h"

namespace tilewright::ir {
namespace {

constexpr std::int64_t tried_numbers[] = {0,   1,  -1,      2,           7,
                                          -12, 31, 1000003, -2147483647, 2147483647};

std::int64_t of_two_integers(OpKind kind, std::int64_t a, std::int64_t b) {
  const Type type = Type::scalar(i32);
  Kernel kernel;
  const Value x = kernel.make_value(type, "", nullptr), y = kernel.make_value(type, "", nullptr);
  const Op* op = kernel.make_op(kind, {x, y}, {type}, {});
  const Tile left{type, {Element{.i = a}}}, right{type, {Element{.i = b}}};
  const Tile* operands[] = {&left, &right};
  return interpret_elementwise(*op, type, operands, false).elements[0].i;
}

// Calls `check` with every op of two integers.
template <class Check>
void for_each_binary(const Check& check) {
  int count = 0;
  for (const OpFacts& facts : all_ops()) {
    const bool is_binary = facts.is(Family::Elementwise) && facts.operands == 2 &&
                           facts.kind != OpKind::Compare && facts.kind != OpKind::Offset;
    if (!is_binary) continue;
    ++count;
    check(facts);
  }
  EXPECT_GE(count, 13);
}

TEST(OpFactsOfIntegers, CommutativeOpsMaySwap) {
  for_each_binary([](const OpFacts& facts) {
    bool differs = false;
    for (const std::int64_t a : tried_numbers)
      for (const std::int64_t b : tried_numbers)
        if (a != 0 && b != 0)
          differs |= of_two_integers(facts.kind, a, b) != of_two_integers(facts.kind, b, a);
    EXPECT_EQ(facts.has(Commutative), !differs) << facts.name;
  });
}

TEST(OpFactsOfIntegers, IdempotentOpsGiveTheirOperand) {
  for_each_binary([](const OpFacts& facts) {
    bool differs = false;
    for (const std::int64_t a : tried_numbers)
      if (a != 0) differs |= of_two_integers(facts.kind, a, a) != a;
    EXPECT_EQ(facts.has(Idempotent), !differs) << facts.name;
  });
}

TEST(OpFactsOfIntegers, NeutralOperandsChangeNothing) {
  for_each_binary([](const OpFacts& facts) {
    if (facts.neutral == Neutral::NoNumber) return;
    const std::int64_t right = facts.neutral == Neutral::Zero  ? 0
                               : facts.neutral == Neutral::One ? 1
                                                               : -1;
    for (const std::int64_t a : tried_numbers)
      EXPECT_EQ(of_two_integers(facts.kind, a, right), a) << facts.name;
  });
}

}  // namespace
}  // namespace tilewright::ir
