// SPDX-License-Identifier: Apache-2.0
// compiler/overlap_test.cpp — which pointers of a launch are said to lie in the same memory.
#include "compiler/overlap.h"

#include <gtest/gtest.h>

#include "tilewright/tensor.h"

namespace tilewright {
namespace {

TEST(Overlaps, PointersApartHaveNoNumber) {
  float one[4], two[4];
  const Argument arguments[] = {one, two};
  const Overlaps overlaps(arguments);
  EXPECT_EQ(overlaps.word(), 0u);
  EXPECT_EQ(overlaps.pointers()[0].memory, -1);
}

// A pointer is known by its address alone; a tensor that begins there reaches further, and meets
// what the pointer does not.
TEST(Overlaps, ATensorMeetsWhatAPointerToItsBeginDoesNot) {
  float memory[64];
  const Tensor whole = from_blob(memory, {64}, {f32, Device::cpu()});
  const Argument arguments[] = {memory, memory + 32, whole};
  const Overlaps overlaps(arguments);
  EXPECT_GE(overlaps.pointers()[1].memory, 0);
  EXPECT_EQ(overlaps.pointers()[1].memory, overlaps.pointers()[2].memory);
  EXPECT_EQ(overlaps.pointers()[0].memory, overlaps.pointers()[2].memory);
}

}  // namespace
}  // namespace tilewright
