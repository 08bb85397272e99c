// SPDX-License-Identifier: Apache-2.0
// machine/units_test.cpp — units of products are rows that a machine has by their feature.
#include "machine/units.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Units, ShapesAreThoseOfTheirOperands) {
  for (const ProductUnit& unit : product_units())
    EXPECT_EQ(unit.shape, MmaShape::of_bytes(static_cast<int>(size_of(unit.left)))) << unit.name;
}

TEST(Units, AMachineHasThoseOfItsFeatures) {
  const Target old = Target::parse("sm_75"), ampere = Target::parse("sm_80");
  for (const ProductUnit& unit : product_units()) {
    EXPECT_EQ(find_unit(old, unit.left, unit.right, unit.precision), nullptr) << unit.name;
    const bool has = find_unit(ampere, unit.left, unit.right, unit.precision) != nullptr;
    EXPECT_EQ(has, unit.feature != Feature::MmaF8) << unit.name;
  }
}

TEST(Units, AWarpOfOtherLanesHasNone) {
  Target target = Target::parse("sm_80");
  target.warp_size = 64;
  EXPECT_EQ(find_unit(target, DType::Float16, DType::Float16, ""), nullptr);
}

TEST(Units, ExactFloatsHaveNone) {
  EXPECT_EQ(find_unit(Target::parse("sm_90a"), DType::Float32, DType::Float32, "ieee"), nullptr);
}

}  // namespace
}  // namespace tilewright
