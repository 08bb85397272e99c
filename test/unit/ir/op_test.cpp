// SPDX-License-Identifier: Apache-2.0
// ir/op_test.cpp — the op table keeps its promises.
#include "ir/op.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

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

TEST(Ops, MathFunctionsAreFound) {
  EXPECT_EQ(math_function("atan2")->operands, 2);
  EXPECT_EQ(math_function("nothing"), nullptr);
}

}  // namespace
}  // namespace tilewright::ir
