// SPDX-License-Identifier: Apache-2.0
// ir/op_test.cpp — the op table keeps its promises.
#include "ir/op.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

TEST(Ops, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const OpFacts& facts = all_ops()[i];
    EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
    EXPECT_EQ(op_named(facts.name), static_cast<OpKind>(i));
  }
  EXPECT_EQ(op_named("no_such_op"), std::nullopt);
}

TEST(Ops, StayUnderSeventyBeforeLayouts) {
  int count = 0;
  for (const OpFacts& facts : all_ops())
    count += facts.is_legal_at(Stage::Source) || facts.is_legal_at(Stage::Tile);
  EXPECT_LT(count, 70);
}

TEST(Ops, EveryOneHasASentence) {
  for (const OpFacts& facts : all_ops()) EXPECT_TRUE(facts.meaning.ends_with('.')) << facts.name;
}

// ---- Facts that follow from each other

TEST(Ops, WhatIsPureHasNoEffect) {
  for (const OpFacts& facts : all_ops()) {
    const bool acts = facts.has(Writes) || facts.has(Effect) || facts.has(Nested);
    EXPECT_FALSE(facts.has(Pure) && (acts || facts.has(Reads))) << facts.name;
    EXPECT_TRUE(!facts.has(Repeatable) || (facts.has(Pure) && facts.regions == 0)) << facts.name;
  }
}

TEST(Ops, FamiliesHaveTheirFacts) {
  for (const OpFacts& facts : all_ops()) {
    const bool is_computed = facts.is(Family::Elementwise) || facts.maps(Same);
    EXPECT_EQ(facts.has(Elementwise), is_computed) << facts.name;
    const bool may_nest = facts.is(Family::Control) || facts.is(Family::Final);
    EXPECT_EQ(facts.has(Nested), may_nest && facts.regions > 0) << facts.name;
    EXPECT_EQ(facts.regions > 0, facts.has(Nested) || facts.has(Combines)) << facts.name;
    const bool may_map = facts.is(Family::View) || facts.is(Family::Source);
    EXPECT_TRUE(may_map || facts.map == NoMap) << facts.name;
    EXPECT_TRUE(!facts.is(Family::View) || facts.map != NoMap) << facts.name;
    EXPECT_TRUE(facts.operands < 0 || facts.mask < facts.operands) << facts.name;
    const bool touches_memory = facts.has(Reads) || facts.has(Writes);
    EXPECT_TRUE(!facts.is(Family::Access) || touches_memory) << facts.name;
  }
}

TEST(Ops, KindsOfAFamilyAreThoseOfTheTable) {
  EXPECT_EQ(elementwise_op(OpKind::Xor), ElementwiseOp::Xor);
  EXPECT_EQ(across_op(OpKind::Print), AcrossOp::Print);
  EXPECT_THROW(elementwise_op(OpKind::Load), InternalError);
  EXPECT_THROW(control_op(OpKind::Yield), InternalError);
}

TEST(Ops, MathFunctionsAreFound) {
  EXPECT_EQ(math_function("atan2")->operands, 2);
  EXPECT_EQ(math_function("nothing"), nullptr);
}

}  // namespace
}  // namespace tilewright::ir
