// SPDX-License-Identifier: Apache-2.0
// base/hash_test.cpp — different contents have different hashes, and the hash does not change
// between versions by accident.
#include "base/hash.h"

#include <set>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Hash, FieldBoundariesCount) {
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
  EXPECT_NE(Hasher().add("").finish(), Hasher().finish());
  EXPECT_NE(Hasher().add("a").add("").finish(), Hasher().add("a").finish());
}

TEST(Hash, SingleBitChangesAreSeen) {
  std::string text(100, 'x');
  std::set<std::string> seen = {Hasher().add(text).finish().hex()};
  for (char& c : text)
    for (int bit = 0; bit < 8; ++bit) {
      c = static_cast<char>(c ^ (1 << bit));
      EXPECT_TRUE(seen.insert(Hasher().add(text).finish().hex()).second);
      c = static_cast<char>(c ^ (1 << bit));
    }
}

TEST(Hash, IsThirtyTwoDigits) { EXPECT_EQ(Hasher().add("x").finish().hex().size(), 32u); }

}  // namespace
}  // namespace tilewright
